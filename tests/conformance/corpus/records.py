"""Configurations: dataclasses however they are made, and what a module takes from them."""

from contextlib import ContextDecorator
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import ClassVar, List, Optional

import torch
from torch import nn


@dataclass
class Base:
    kind: ClassVar[str] = "base"
    width: int = 4
    scales: List[float] = field(default_factory=lambda: [1.0])
    bias: Optional[float] = None


class Registered:
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        dataclass(cls)


class Made(Registered):
    width: int = 4
    gated: bool = False


class Checked:
    """A constructor that is put around the one made from the fields."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = "__init__" in cls.__dict__
        made = dataclass(cls, repr=False)
        if own:
            return

        @wraps(made.__init__)
        def __init__(self, **given):
            for known in fields(made):
                setattr(self, known.name, given.pop(known.name, known.default))
            self.rest = len(given)

        made.__init__ = __init__


class Strict(Checked):
    width: int = 4
    gated: bool = False


class Child(Base):
    """No dataclass by itself: its constructor is inherited, its annotation is no field."""

    extra: int = 3


class A(nn.Module):
    def __init__(self):
        super().__init__()
        config = Base(8, bias=0.5)
        self.fc = nn.Linear(config.width, config.width)
        self.scales = config.scales
        self.bias = config.bias

    def forward(self, x):
        return x + self.bias * self.scales[0]


class A2(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = Base(8).bias

    def forward(self, x):
        return x + self.bias


class B(nn.Module):
    def __init__(self):
        super().__init__()
        config = Made(gated=True)
        if config.gated:
            self.gate = nn.Linear(config.width, 4)

    def forward(self, x):
        return self.gate(x)


class B2(nn.Module):
    def __init__(self):
        super().__init__()
        config = Made(width=2)
        if config.gated:
            self.gate = nn.Linear(config.width, 4)

    def forward(self, x):
        return self.gate(x)


class C(nn.Module):
    def __init__(self):
        super().__init__()
        config = Strict(gated=True, other=1)
        if config.gated and config.rest == 1:
            self.gate = nn.Linear(config.width, 4)

    def forward(self, x):
        return self.gate(x)


class C2(nn.Module):
    def __init__(self):
        super().__init__()
        config = Strict(width=2)
        if config.gated:
            self.gate = nn.Linear(config.width, 4)

    def forward(self, x):
        return self.gate(x)


class D(nn.Module):
    def __init__(self):
        super().__init__()
        config = Child(2)
        self.scale = config.width * config.extra

    def forward(self, x):
        return x * self.scale


class E(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = len(fields(Base))

    def forward(self, x):
        return x * self.scale


class F(nn.Module):
    """A method that is only read is compiled where it is read."""

    def __init__(self):
        super().__init__()
        self.first = True

    def plain(self, x):
        return x

    def starred(self, *xs):
        return xs[0]

    def forward(self, x):
        chosen = self.starred if self.first else self.plain
        return chosen(x)


class Quiet(ContextDecorator):
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return False


class G(nn.Module):
    @Quiet()
    def forward(self, x):
        return torch.relu(x)


class H(nn.Module):
    @Quiet()
    def forward(self, x):
        return x + 1


def documented(text):
    """A decorator that takes very many steps to do nothing to what it decorates."""

    def decorate(function):
        count = 0
        for _ in range(60):
            for _ in range(60):
                count = count + 1
        function.__doc__ = text * count
        return function

    return decorate


class I(nn.Module):
    @documented("of no consequence")
    def forward(self, x, scale: float = 1.0):
        return x * scale


class I2(nn.Module):
    @documented("of no consequence")
    def forward(self, x, *, scale: float = 1.0):
        return x * scale
