"""Modules that were followed before: what follows from one holds for all that are like it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis.mode.choices import ByMode, Either, Mode
from tsguard.analysis.mode.frames import Place
from tsguard.analysis.python.library import descendants
from tsguard.analysis.python.likeness import Likenesses
from tsguard.analysis.values import Const, ListValue, ModuleValue, TensorValue, TupleValue, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

# A list may hold itself.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Followed:
    """A module that was followed: what it returned, and where below it the mode matters."""

    result: Value
    layers: tuple[int, ...]


@dataclass(slots=True)
class Memory:
    """What was followed, by the likeness of modules and arguments, the mode and where findings go."""

    likenesses: Likenesses
    followed: dict[Hashable, Followed] = field(default_factory=dict)

    def key(
        self, module: ModuleValue, args: Sequence[Value], mode: Mode, ways: Iterable[Place | None]
    ) -> Hashable:
        """What two calls have in common that show the same; ``ways`` are the places findings may go to."""
        return (self.likenesses.of(module), tuple(map(_argument, args)), mode, *ways)

    def keep(self, key: Hashable, module: ModuleValue, result: Value, layers: Iterable[ModuleValue]) -> None:
        """Remember what a module showed, unless it concerns modules that are not below it."""
        touched = dict.fromkeys(layers)
        parts = descendants(module) if touched else ()
        below = {part: index for index, (_, part) in enumerate(parts)}
        if all(layer in below for layer in touched):
            self.followed[key] = Followed(result, tuple(below[layer] for layer in touched))

    def recall(self, key: Hashable, module: ModuleValue) -> tuple[Value, list[ModuleValue]] | None:
        """What a module like this one showed: its result, and this one's layers that depend on the mode."""
        known = self.followed.get(key)
        if known is None:
            return None
        below = [part for _, part in descendants(module)] if known.layers else []
        return known.result, [below[index] for index in known.layers]


def _argument(value: Value, depth: int = 0) -> Hashable:
    if isinstance(value, Const):
        return (type(value.value), value.value)
    if isinstance(value, TensorValue) and not value.role:
        return TensorValue
    if isinstance(value, ByMode):
        return (ByMode, value.known, _argument(value.train, depth + 1), _argument(value.eval, depth + 1))
    if depth < _DEEPEST:
        if isinstance(value, Either):
            return (Either, *(_argument(option, depth + 1) for option in value.options))
        if isinstance(value, (ListValue, TupleValue)):
            return (type(value), value.open, *(_argument(item, depth + 1) for item in value.items))
    return value
