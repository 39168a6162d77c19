"""Modules that were followed before, with arguments that trace alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python.structural_keys import StructuralKeys, structural_key
from tsguard.analysis.trace.values import Fixed, Number, Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Args = list[py.Value]
Kwargs = dict[str, py.Value]


@dataclass(slots=True)
class Memory:
    """Results of modules by their structural key and that of the arguments."""

    structural_keys: StructuralKeys
    results: dict[Hashable, py.Value] = field(default_factory=dict)

    def get(self, key: Hashable) -> py.Value | None:
        """What a module like this one returned for arguments like these."""
        return self.results.get(key)

    def put(self, key: Hashable, result: py.Value) -> None:
        self.results[key] = result

    def key(self, module: py.ModuleValue, args: Args, kwargs: Kwargs) -> Hashable:
        """What stands for a call of a module, for as long as nothing is learned of its arguments."""
        named = tuple((name, structural_key(value, _kind)) for name, value in kwargs.items())
        return (self.structural_keys.of(module), tuple(structural_key(arg, _kind) for arg in args), named)


def _kind(value: py.Value, below: Callable[[py.Value], Hashable]) -> Hashable | None:
    if isinstance(value, Traced):
        return (Traced, value.of, value.rank, value.dtype, value.extent)
    if isinstance(value, Number):
        return (
            Number,
            value.kind,
            value.live,
            value.pending,
            value.debt,
            value.dim,
            value.known,
            value.unbacked,
        )
    if isinstance(value, Fixed):
        return (Fixed, value.about, value.default)
    return None
