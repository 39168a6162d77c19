"""``isinstance`` of parameters that are not annotated: of the target's own, and of what compiled code calls."""

from typing import List

import torch
from torch import nn


def last(x):
    if isinstance(x, (list, tuple)):
        x = x[-1]
    return x


class OfAFunction(nn.Module):
    def forward(self, x: torch.Tensor):
        return last(x) * 2

    def inputs():
        return (torch.ones(2),)


class OfAListThatIsPassedOn(nn.Module):
    def forward(self, x: List[torch.Tensor]):
        return last(x) * 2

    def inputs():
        return ([torch.ones(2)],)


class OfAListThatAFunctionGets(nn.Module):
    def forward(self, features):
        return last(features) * 2

    def inputs():
        return ([torch.ones(2)],)


class OfItsOwn(nn.Module):
    def forward(self, x):
        if isinstance(x, tuple):
            return x[0]
        return x * 2

    def inputs():
        return ((torch.ones(2), torch.ones(2)),)


class OfAMethod(nn.Module):
    def first(self, x):
        return x[0] if isinstance(x, tuple) else x

    def forward(self, x: torch.Tensor):
        return self.first(x) + 1

    def inputs():
        return (torch.ones(2),)


class Unwrapping(nn.Module):
    def forward(self, x):
        if isinstance(x, dict):
            return x["out"]
        return x * 3

    def inputs():
        return ({"out": torch.ones(2)},)


class OfASubmodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Unwrapping()

    def forward(self, x: torch.Tensor):
        return self.part(x)

    def inputs():
        return (torch.ones(2),)


class OfASubmoduleGivenATuple(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = OfItsOwn()

    def forward(self, x: torch.Tensor):
        return self.part((x, x))

    def inputs():
        return (torch.ones(2),)
