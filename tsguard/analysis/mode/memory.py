"""Modules that were followed before: what follows from one holds for all that are like it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from tsguard.analysis.mode.choices import ByMode, Either, Mode
from tsguard.analysis.python.following import Place
from tsguard.analysis.python.library import descendants
from tsguard.analysis.python.structural_keys import StructuralKeys, structural_key
from tsguard.analysis.values import ModuleValue, TensorValue, Value
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Followed:
    """A module that was followed: what it returned, and where below it the mode matters."""

    result: Value
    layers: tuple[int, ...]


@dataclass(slots=True)
class Memory:
    """What was followed, by the structural key of modules and arguments, the mode and where findings go."""

    structural_keys: StructuralKeys
    followed: dict[Hashable, Followed] = field(default_factory=dict)

    def key(
        self, module: ModuleValue, args: Sequence[Value], mode: Mode, ways: Iterable[Place | None]
    ) -> Hashable:
        """What two calls have in common that show the same; ``ways`` are the places findings may go to."""
        return (
            self.structural_keys.of(module),
            tuple(structural_key(arg, _kind) for arg in args),
            mode,
            *ways,
        )

    def put(self, key: Hashable, module: ModuleValue, result: Value, layers: Iterable[ModuleValue]) -> None:
        """Remember what a module showed, unless it concerns modules that are not below it."""
        touched = dict.fromkeys(layers)
        parts = descendants(module) if touched else ()
        below = {part: index for index, (_, part) in enumerate(parts)}
        if all(layer in below for layer in touched):
            self.followed[key] = Followed(result, tuple(below[layer] for layer in touched))

    def get(self, key: Hashable, module: ModuleValue) -> tuple[Value, list[ModuleValue]] | None:
        """What a module like this one showed: its result, and this one's layers that depend on the mode."""
        known = self.followed.get(key)
        if known is None:
            return None
        below = [part for _, part in descendants(module)] if known.layers else []
        return known.result, [below[index] for index in known.layers]


def _kind(value: Value, below: Callable[[Value], Hashable]) -> Hashable | None:
    if isinstance(value, TensorValue):
        return value if value.role else TensorValue
    if isinstance(value, ByMode):
        return (ByMode, value.known, below(value.train), below(value.eval))
    if isinstance(value, Either):
        return (Either, *map(below, value.options))
    return None
