"""What a guessed argument looks like, and the expression that makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["float", "int", "bool"]

BATCH, LENGTH, IMAGE, FRAMES = 2, 16, 64, 8
"""The sizes that are tried first."""

INVENTED_KEY = "x"
"""The key of a dictionary whose keys are not known."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor of random values; integers lie from ``low`` to below ``high``.

    Others are of the ``dtype`` where it is not the usual one.
    """

    shape: tuple[int, ...]
    kind: Kind = "float"
    high: int = 8
    dtype: str = ""
    low: int = 0

    def expression(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        shape = f"({sizes}{',' if len(self.shape) == 1 else ''})"
        if self.kind == "int" and self.high - self.low == 1:
            return (
                f"torch.full({shape}, {self.low})" if self.low else f"torch.zeros({shape}, dtype=torch.int64)"
            )
        if self.kind == "int":
            return f"torch.randint({self.low}, {self.high}, {shape})"
        if self.kind == "bool":
            return f"torch.ones({sizes or '()'}, dtype=torch.bool)"
        return f"torch.randn({sizes or '()'}{f', dtype={self.dtype}' if self.dtype else ''})"

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
        """The value of a parameter, or of a part of one: ``batch['image']``."""
        return next((spec for path, spec in self._parts() if path == name), None)

    def with_spec(self, name: str, spec: Spec) -> Guess:
        """The same with another value for one parameter, or part of one."""
        return self.mapped(lambda path, old: spec if path == name else old)

    def mapped(self, change: Callable[[str, Spec], Spec]) -> Guess:
        """The same with every value and part of one changed; parts of what is replaced are left alone."""
        return Guess(tuple(replace(a, spec=mapped(a.spec, a.name, change)) for a in self.arguments))

    def tensors(self) -> dict[str, TensorSpec]:
        """The parameters whose value is a tensor, and the parts that are; those of a list count as one."""
        return {path: spec for path, spec in self._parts() if isinstance(spec, TensorSpec)}

    def _parts(self) -> Iterator[tuple[str, Spec]]:
        for argument in self.arguments:
            yield from parts(argument.spec, argument.name)


def parts(spec: Spec, path: str) -> Iterator[tuple[str, Spec]]:
    """A value and all of its parts, with the paths that lead there."""
    yield path, spec
    for step, part in _inside(spec):
        yield from parts(part, path + step)


def _inside(spec: Spec) -> Iterator[tuple[str, Spec]]:
    if isinstance(spec, SequenceSpec):
        for index, item in enumerate(spec.items):
            yield (f"[{index}]" if spec.is_tuple else "[]"), item
    elif isinstance(spec, (DictSpec, MadeSpec)):
        for key, item in spec.items:
            yield (f"[{key!r}]" if isinstance(spec, DictSpec) else f".{key}"), item


def mapped(spec: Spec, path: str, change: Callable[[str, Spec], Spec]) -> Spec:
    """A value with its parts changed."""
    fresh = change(path, spec)
    if fresh is not spec:
        return fresh
    fresh_parts = tuple(mapped(item, path + step, change) for step, item in _inside(spec))
    if isinstance(spec, SequenceSpec):
        return replace(spec, items=fresh_parts)
    if isinstance(spec, DictSpec):
        return DictSpec(tuple(zip((key for key, _ in spec.items), fresh_parts, strict=True)))
    if isinstance(spec, MadeSpec):
        return replace(spec, items=tuple(zip((key for key, _ in spec.items), fresh_parts, strict=True)))
    return spec


def named(spec: Spec, value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The tensors in a value that was made from a spec, with their paths."""
    if isinstance(spec, TensorSpec):
        yield path, value
        return
    for index, (step, item) in enumerate(_inside(spec)):
        if isinstance(spec, MadeSpec):
            inner = getattr(value, spec.items[index][0], None)
        else:
            inner = value[spec.items[index][0]] if isinstance(spec, DictSpec) else value[index]
        yield from named(item, inner, path + step)
