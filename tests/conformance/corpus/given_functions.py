"""Constructors that ask whether they are given a name, a class, a module or a function of torch."""

from typing import Callable, Union

import torch
import torch.nn.functional as F
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)


class Named(nn.Module):
    def __init__(self, act: Union[str, Callable]):
        super().__init__()
        self.act = getattr(F, act) if isinstance(act, str) else act

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x)


class Any(nn.Module):
    def __init__(self, act):
        super().__init__()
        if isinstance(act, nn.Module):
            self.act = act
        elif isinstance(act, type):
            self.act = act()
        elif isinstance(act, (int, float, Tensor)):
            self.act = None
        else:
            self.act = getattr(torch, act) if isinstance(act, str) else act

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x)


class Holder(nn.Module):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x)


class NamedFunction(Holder):
    def __init__(self):
        super().__init__()
        self.part = Named(torch.sigmoid)


class NamedOther(Holder):
    def __init__(self):
        super().__init__()
        self.part = Named(F.gelu)


class NamedName(Holder):
    def __init__(self):
        super().__init__()
        self.part = Named("gelu")


class AnyFunction(Holder):
    def __init__(self):
        super().__init__()
        self.part = Any(F.silu)


class AnyClass(Holder):
    def __init__(self):
        super().__init__()
        self.part = Any(nn.ReLU)


class AnyModule(Holder):
    def __init__(self):
        super().__init__()
        self.part = Any(nn.ReLU())


class AnyNumber(Holder):
    def __init__(self):
        super().__init__()
        self.part = Any(3)


class AnyRefused(Holder):
    def __init__(self):
        super().__init__()
        self.part = Any(F.max_pool1d)
