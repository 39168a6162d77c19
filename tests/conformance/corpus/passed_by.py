"""Branches that torch compiles and no call comes to: what would go wrong only when it runs does not."""

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)


def summed(x: Tensor) -> Tensor:
    total = 0
    for row in x:
        total = total + row.sum()
    return x * total


class Base(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.debug = False
        self.level = 0
        self.mode = "fast"


class Off(Base):
    def forward(self, x: Tensor) -> Tensor:
        total = 0
        if self.debug:
            total = total + x.mean()
        return x


class On(Base):
    def __init__(self):
        super().__init__()
        self.debug = True

    def forward(self, x: Tensor) -> Tensor:
        total = 0
        if self.debug:
            total = total + x.mean()
        return x * total


class Otherwise(Base):
    def forward(self, x: Tensor) -> Tensor:
        total = 0
        if not self.debug:
            total = total + x.mean()
        return x * total


class InLoop(Base):
    def forward(self, x: Tensor) -> Tensor:
        total = 0
        for row in x:
            if self.level and row.sum() > 0:
                total = total + row.mean()
        return x


class ByText(Base):
    def forward(self, x: Tensor) -> Tensor:
        if self.mode == "slow":
            return summed(x)
        return x


class ByTextTaken(Base):
    def forward(self, x: Tensor) -> Tensor:
        if self.mode != "slow":
            return summed(x)
        return x


class BothWays(Base):
    def forward(self, x: Tensor) -> Tensor:
        if self.debug:
            x = summed(x)
        return summed(x)


class Conditional(Base):
    def forward(self, x: Tensor) -> Tensor:
        return summed(x) if self.level == 3 else x


class Method(Base):
    def slow(self, x: Tensor) -> Tensor:
        return summed(x)

    def forward(self, x: Tensor) -> Tensor:
        if self.debug or self.level > 3:
            return x
        if self.debug:
            return self.slow(x)
        return x


class Refused(Base):
    def forward(self, x: Tensor) -> Tensor:
        if self.debug:
            return x.no_such_method()
        return x


class Counts(Base):
    def forward(self, x: Tensor) -> Tensor:
        self.level += 1
        if self.level == 1:
            return summed(x)
        return x


class Part(nn.Module):
    def __init__(self, debug: bool):
        super().__init__()
        self.debug = debug

    def forward(self, x: Tensor) -> Tensor:
        if self.debug:
            return summed(x)
        return x


class TwoParts(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.first = Part(False)
        self.second = Part(True)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


class SameParts(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.first = Part(False)
        self.second = Part(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x))


class SetsPart(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.first = Part(False)

    def forward(self, x: Tensor) -> Tensor:
        self.first.debug = True
        return self.first(x)
