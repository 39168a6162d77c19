"""Classes that derive from torch's layers: what they inherit, and what of it they override."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

MODE = "strict"


class A(nn.SyncBatchNorm):
    def __init__(self):
        super().__init__(2)


class B(nn.BatchNorm2d):
    def __init__(self):
        super().__init__(2)

    def _check_input_dim(self, input):
        if MODE == "strict":
            raise ValueError("wrong size")


class B2(nn.BatchNorm2d):
    def __init__(self):
        super().__init__(2)

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError("wrong size")


class C(_BatchNorm):
    def __init__(self):
        super().__init__(2)

    def _check_input_dim(self, input):
        super()._check_input_dim(input)


class D(nn.Conv2d):
    def __init__(self):
        super().__init__(2, 2, 1)

    def _conv_forward(self, input, weight, bias):
        return MODE


class E(nn.InstanceNorm2d):
    def __init__(self):
        super().__init__(2)

    def _check_input_dim(self, input):
        return [i for i in range(3) if i > 1]


class E2(nn.InstanceNorm2d):
    def __init__(self):
        super().__init__(2)

    def forward(self, input):
        return torch.relu(input)

    def _get_no_batch_dim(self):
        return MODE


class Row:
    def first(self, a: int = 0, /):
        return a


class F(nn.Module):
    def __init__(self):
        super().__init__()
        self.row = Row()

    def forward(self, x):
        return x + self.row.first()


class F2(nn.Module):
    def part(self, x, scale: float = 2.0, /, shift: float = 0.0):
        return x + shift

    def forward(self, x):
        return self.part(x)


def activation(name: str) -> nn.Module:
    """The activation of torch of this name, whatever else its file holds."""
    found = vars(torch.nn.modules.activation).values()
    for cls in [c for c in found if isinstance(c, type) and issubclass(c, nn.Module)]:
        if cls.__name__.lower() == name:
            return cls()
    raise ValueError(name)


class TakesAnActivationByItsName(nn.Module):
    def __init__(self, name: str = "relu") -> None:
        super().__init__()
        self.act = activation(name)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(x)
