"""Overloads of functions and methods: each declaration compiles the implementation with its own types."""

from typing import List, Optional, Tuple, Union

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(3, 3),)


class Sparse:
    def __init__(self, value: Tensor):
        self.value = value

    def size(self, dim: int) -> int:
        return self.value.size(dim)


@torch.jit._overload
def normed(edge, weight, k):
    # type: (Tensor, Optional[Tensor], int) -> Tuple[Tensor, Optional[Tensor]]
    pass


@torch.jit._overload
def normed(edge, weight, k):  # noqa: F811
    # type: (Sparse, Optional[Tensor], int) -> Sparse
    pass


def normed(edge: Union[Tensor, Sparse], weight: Optional[Tensor], k: int = 1):  # noqa: F811
    if isinstance(edge, Sparse):
        edge.size(0)
        return edge
    return edge, weight


@torch.jit._overload
def doubled(x: Tensor, k: int = 2) -> Tensor:
    pass


@torch.jit._overload
def doubled(x: int, k: int = 2) -> int:  # noqa: F811
    pass


def doubled(x, k: int = 2):  # noqa: F811
    return x * k


@torch.jit._overload
def cosine(x: Tensor) -> Tensor:
    pass


@torch.jit._overload
def cosine(x: int) -> int:  # noqa: F811
    pass


def cosine(x):  # noqa: F811
    return x.cos()


class TensorOverload(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        edge, weight = normed(x, None, 1)
        return edge


class DefaultOfTheImplementation(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        edge, weight = normed(x, None)
        return edge


class BothOverloads(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return doubled(x) * doubled(3) + doubled(x, 4)


class OneOverloadDoesNotCompile(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return cosine(x)


class NoOverloadFits(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return normed([x], None, 1)


class UnionFitsNoOverload(nn.Module):
    def forward(self, x: Union[Tensor, Sparse]):
        return normed(x, None, 1)


class MethodOverloads(nn.Module):
    @torch.jit._overload_method
    def forward(self, x: Tensor, flag: bool = None) -> Tensor:
        pass

    @torch.jit._overload_method
    def forward(self, x: List[Tensor], flag: bool = None) -> Tensor:  # noqa: F811
        pass

    def forward(self, x, flag: Optional[bool] = None):  # noqa: F811
        return x if isinstance(x, Tensor) else x[0]


class MethodOverloadDoesNotCompile(nn.Module):
    inputs = X

    @torch.jit._overload_method
    def forward(self, x: Tensor) -> Tensor:
        pass

    @torch.jit._overload_method
    def forward(self, x: List[int]) -> Tensor:  # noqa: F811
        pass

    def forward(self, x):  # noqa: F811
        return x.abs()


class UncalledOverloadedMethod(nn.Module):
    inputs = X

    @torch.jit._overload_method
    def run(self, x: Tensor) -> Tensor:
        pass

    @torch.jit._overload_method
    def run(self, x: int) -> int:  # noqa: F811
        pass

    def run(self, x):  # noqa: F811
        return x.nothing()

    def forward(self, x: Tensor):
        return x


class InheritedOverloads(UncalledOverloadedMethod):
    def forward(self, x: Tensor):
        return x + 1


class CallsMethodOverloads(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.first = MethodOverloads()

    def forward(self, x: Tensor):
        return self.first(x) + self.first([x], True)
