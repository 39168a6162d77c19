"""Enums whose members are also strings or numbers, as tables of layers are looked up by them."""

from enum import Enum, IntEnum

from torch import Tensor, nn


class Kind(str, Enum):
    CONV = "conv"
    POOL = "pool"

    def layer(self) -> nn.Module:
        return TABLE[self.value.upper()](1, stride=1)


class Depth(IntEnum):
    SHALLOW = 1
    DEEP = 3


TABLE = {"CONV": nn.LazyConv1d, "POOL": nn.MaxPool1d}


class LooksUpByAMember(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kind = Kind.POOL
        if Kind.POOL.upper() in TABLE:
            self.layer = TABLE[Kind.POOL.upper()](1, stride=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class CallsAMethodOfAMember(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = Kind("pool").layer()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class CountsByAMember(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        if Depth.DEEP.bit_length() == 2:
            self.layers = nn.ModuleList([nn.ReLU() for _ in range(Depth.DEEP.real)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class HasNoLayerForTheMember(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        if Kind.POOL.upper() == "CONV":
            self.layer = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)
