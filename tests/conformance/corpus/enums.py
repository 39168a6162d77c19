"""Enums whose members are also strings or numbers, as tables of layers are looked up by them."""

import enum
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


class Act(str, Enum):
    RELU = "relu"
    GELU = "gelu"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Step(Enum):
    FIRST = enum.auto()
    SECOND = enum.auto()


class Named(str, Enum):
    MAX = "max"

    def __str__(self) -> str:
        return self.value


LAYERS = {"relu": nn.ReLU, "gelu": nn.GELU}
LAYERS_BY_MEMBER = {Act.RELU: nn.ReLU, Act.GELU: nn.GELU}


class ChosenByMember(nn.Module):
    inputs = lambda: (torch.rand(2, 3),)

    def __init__(self, act: Act = Act.GELU, size=Size.LARGE):
        super().__init__()
        self.layers = nn.Sequential(LAYERS[act](), LAYERS_BY_MEMBER["relu"](), LAYERS[Act("gelu")]())
        self.factors = [1, 2, 4][size]
        self.count = size * 2 + len(Act)

    def forward(self, x):
        return self.layers(x) * self.factors + self.count


def chosen(*truths):
    """A layer if all is true, else what cannot be called."""
    for truth in truths:
        if not truth:
            return "nothing"
    return nn.ReLU()


class MembersAsTheirValues(nn.Module):
    inputs = lambda: (torch.rand(2, 3),)

    def __init__(self):
        super().__init__()
        self.texts = chosen(
            Act.RELU == "relu",
            Act.RELU in ("relu", "tanh"),
            "relu" in list(Act),
            "layer_" + Act.GELU == "layer_gelu",
            Act.RELU.upper() == "RELU",
            "|".join([Act.RELU, Act.GELU]) == "relu|gelu",
            sorted([Act.RELU, Act.GELU])[0] is Act.GELU,
            Act.RELU[0] == "r",
        )
        self.numbers = chosen(Size.LARGE > 1, Size.SMALL + Size.LARGE == 3, max(Size) == 2, int(Size.LARGE) == 2)
        self.kept = chosen(Step.SECOND.value == 2, Step.FIRST != 1, Act["GELU"] is Act.GELU, len(Step) == 2)

    def forward(self, x):
        return self.texts(x) + self.numbers(x) + self.kept(x)


class TextsOfMembers(nn.Module):
    inputs = lambda: (torch.rand(2, 3),)

    def __init__(self):
        super().__init__()
        self.texts = chosen(
            str(Act.RELU) == "Act.RELU",
            f"{Step.FIRST}" == "Step.FIRST",
            f"{Named.MAX}" == str(Named.MAX) == "max",
            "%s" % Step.FIRST == "Step.FIRST",
            "{}-{}".format(Step.FIRST, 2) == "Step.FIRST-2",
            Step.__members__["FIRST"] is Step.FIRST,
        )

    def forward(self, x):
        return self.texts(x)
