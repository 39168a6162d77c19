"""What a guessed argument looks like, and the expression that makes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["float", "int", "bool"]

BATCH, LENGTH, IMAGE, FRAMES = 2, 16, 64, 8
"""The sizes that are tried first."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor of random values; integers lie below ``high``."""

    shape: tuple[int, ...]
    kind: Kind = "float"
    high: int = 8

    def expression(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        shape = f"({sizes}{',' if len(self.shape) == 1 else ''})"
        if self.kind == "int":
            return f"torch.randint(0, {self.high}, {shape})"
        if self.kind == "bool":
            return f"torch.ones({sizes or '()'}, dtype=torch.bool)"
        return f"torch.randn({sizes or '()'})"

    def resized(self, dim: int, size: int) -> TensorSpec:
        """The same with another size in one dimension (negative: from the end)."""
        shape = list(self.shape)
        shape[dim] = size
        return replace(self, shape=tuple(shape))

    def of(self, shape: tuple[int, ...]) -> TensorSpec:
        return replace(self, shape=shape)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A number, a string, None, a function: anything written as it is."""

    text: str

    def expression(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class SequenceSpec:
    """A list or a tuple."""

    items: tuple[Spec, ...]
    is_tuple: bool = False

    def expression(self) -> str:
        inner = ", ".join(item.expression() for item in self.items)
        if self.is_tuple:
            return f"({inner}{',' if len(self.items) == 1 else ''})"
        return f"[{inner}]"


@dataclass(frozen=True, slots=True)
class DictSpec:
    """A dict, mostly with string keys."""

    items: tuple[tuple[str | int, Spec], ...]

    def expression(self) -> str:
        return "{" + ", ".join(f"{key!r}: {item.expression()}" for key, item in self.items) + "}"


@dataclass(frozen=True, slots=True)
class MadeSpec:
    """An instance of a class: a named tuple, a dataclass."""

    name: str
    items: tuple[tuple[str, Spec], ...]

    def expression(self) -> str:
        return f"{self.name}({', '.join(f'{key}={item.expression()}' for key, item in self.items)})"


Spec = TensorSpec | Verbatim | SequenceSpec | DictSpec | MadeSpec


@dataclass(frozen=True, slots=True)
class Argument:
    """A value for one parameter; ``keyword`` when it cannot be passed by position."""

    name: str
    spec: Spec
    keyword: bool = False

    def expression(self) -> str:
        text = self.spec.expression()
        return f"{self.name}={text}" if self.keyword else text


@dataclass(frozen=True, slots=True)
class Guess:
    """Arguments for one call of ``forward``."""

    arguments: tuple[Argument, ...] = ()

    def expressions(self) -> tuple[str, ...]:
        return tuple(argument.expression() for argument in self.arguments)

    def get(self, name: str) -> Spec | None:
        return next((a.spec for a in self.arguments if a.name == name), None)

    def with_spec(self, name: str, spec: Spec) -> Guess:
        """The same with another value for one parameter."""
        return Guess(tuple(replace(a, spec=spec) if a.name == name else a for a in self.arguments))

    def tensors(self) -> dict[str, TensorSpec]:
        """The parameters whose value is a plain tensor."""
        return {a.name: a.spec for a in self.arguments if isinstance(a.spec, TensorSpec)}
