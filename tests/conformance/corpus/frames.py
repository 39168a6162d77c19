"""Constructors whose frames are looked into by what they call."""

import inspect
import sys

import torch
from torch import nn

X = lambda: (torch.rand(2, 3),)


def store():
    frame = sys._getframe(1)
    self = frame.f_locals["self"]
    for k, v in frame.f_locals.items():
        if k != "self":
            setattr(self, k, v)
def keep():
    frame = inspect.currentframe().f_back
    for k, v in frame.f_locals.items():
        if k not in ("self", "__class__"):
            setattr(frame.f_locals["self"], k, v)
class A(nn.Module):
    inputs = X

    def __init__(self, scale: float = 2.0):
        super().__init__()
        store()
    def forward(self, x):
        return x * self.scale
class B(nn.Module):
    inputs = X

    def __init__(self, scale: float = 2.0):
        super().__init__()
        keep()
    def forward(self, x):
        return x * self.scale
class C(nn.Module):
    inputs = X

    def __init__(self, scale: float = 2.0):
        super().__init__()
        self.b = B()
    def forward(self, x):
        return x * self.b.scale * self.scale
