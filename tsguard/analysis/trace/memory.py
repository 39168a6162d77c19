"""Modules that were followed before, with arguments that trace alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python.likeness import Likenesses
from tsguard.analysis.trace.values import Fixed, Number, Traced

if TYPE_CHECKING:
    from collections.abc import Hashable

Args = list[py.Value]
Kwargs = dict[str, py.Value]

# A list may hold itself; or twice what holds twice what...
_DEEPEST = 16
_MOST_VALUES = 5_000


@dataclass(slots=True)
class Memory:
    """Results of modules by their likeness and that of the arguments."""

    likenesses: Likenesses
    results: dict[Hashable, py.Value] = field(default_factory=dict)

    def recall(self, module: py.ModuleValue, args: Args, kwargs: Kwargs) -> py.Value | None:
        """What a module like this one returned for arguments like these."""
        return self.results.get(self._key(module, args, kwargs))

    def keep(self, module: py.ModuleValue, args: Args, kwargs: Kwargs, result: py.Value) -> None:
        self.results[self._key(module, args, kwargs)] = result

    def _key(self, module: py.ModuleValue, args: Args, kwargs: Kwargs) -> Hashable:
        looked_at = count()
        named = tuple((name, _argument(value, looked_at)) for name, value in kwargs.items())
        return (self.likenesses.of(module), tuple(_argument(arg, looked_at) for arg in args), named)


def _argument(value: py.Value, looked_at: count[int], depth: int = 0) -> Hashable:
    if isinstance(value, py.Const):
        return (type(value.value), value.value)
    if isinstance(value, Traced):
        return (Traced, value.of, value.rank, value.dtype)
    if isinstance(value, Number):
        return (Number, value.kind, value.live, value.pending)
    if isinstance(value, Fixed):
        return (Fixed, value.about, value.default)
    if (
        isinstance(value, (py.ListValue, py.TupleValue))
        and depth < _DEEPEST
        and next(looked_at) < _MOST_VALUES
    ):
        items = tuple(_argument(item, looked_at, depth + 1) for item in value.items)
        return (type(value), value.open, items)
    return value  # itself, not its id(): a value that has gone may leave its id to another
