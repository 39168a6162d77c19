"""Modules, and functions of other packages, that were followed before with arguments that trace alike."""

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
    """Results by what was called, a module by its structural key, and the keys of the arguments."""

    structural_keys: StructuralKeys
    results: dict[Hashable, py.Value] = field(default_factory=dict)

    def get(self, key: Hashable) -> py.Value | None:
        """What a call like this one returned for arguments like these."""
        return self.results.get(key)

    def put(self, key: Hashable, result: py.Value) -> None:
        self.results[key] = result

    def key(self, called: py.Value, args: Args, kwargs: Kwargs) -> Hashable:
        """What stands for a call of a module or function, for as long as nothing is learned of its arguments."""
        what = self.structural_keys.of(called) if isinstance(called, py.ModuleValue) else called
        named = tuple([(name, structural_key(value, _kind)) for name, value in kwargs.items()])
        return (what, tuple([structural_key(arg, _kind) for arg in args]), named)


def _kind(value: py.Value, below: Callable[[py.Value], Hashable]) -> Hashable | None:
    if isinstance(value, Traced):
        # Of what has no shape yet, each gets one of its own when it is first asked for.
        return (
            Traced,
            value.of,
            value.rank,
            value.dtype,
            value.extent or value,
            value.sizes_only,
            value.filling,
        )
    if isinstance(value, Number):
        if value.debt is not None:
            return value
        return (
            Number,
            value.kind,
            value.live,
            value.pending,
            value.dim,
            value.known,
            value.unbacked,
        )
    if isinstance(value, Fixed):
        return (Fixed, value.about, value.default)
    return None
