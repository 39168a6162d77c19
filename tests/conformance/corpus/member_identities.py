"""``is`` between members of enumerations that an attribute holds: of plain ones, and of those that are numbers or texts."""

from enum import Enum, IntEnum

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)


class Plain(Enum):
    A = 1
    B = 2


class Text(str, Enum):
    A = "a"
    B = "b"


class Number(IntEnum):
    A = 1
    B = 2


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = Plain.A
        self.text = Text.A
        self.number = Number.A
        self.shown = str(Text.A.value)


class PlainIs(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.plain is Plain.A else -x


class PlainIsOther(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.plain is Plain.B else -x


class TextIs(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.text is Text.A else -x


class TextIsNot(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if Text.A is not self.text else -x


class TextIsOther(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.text is Text.B else -x


class NumberIs(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        if self.number is Number.A:
            return x
        return -x


class NumberIsNotOther(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.number is not Number.B else -x


class TextIsNoMember(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.shown is Text.A else -x


class ByValue(Base):
    inputs = X

    def forward(self, x: Tensor) -> Tensor:
        return x if self.text == Text.A.value and self.number == Number.A.value else -x
