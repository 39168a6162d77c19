"""Modules that cannot be told apart: many blocks of a network are one block many times."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import DEEPEST_KEY, KEYED_VALUES
from tsguard.analysis.values import Const, ListValue, ModuleValue, TensorValue, TupleValue, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    Kind = Callable[[Value, Callable[[Value], Hashable]], Hashable | None]


def structural_key(value: Value, kind: Kind) -> Hashable:
    """What stands for a value and all that nothing tells from it.

    ``kind`` gives that for values that a walk knows better, None for others; it is given the
    function to ask about what they hold.
    """
    return _structural_key(value, kind, count(), 0)


def _structural_key(value: Value, kind: Kind, looked_at: Iterator[int], depth: int) -> Hashable:
    if isinstance(value, Const):
        return (type(value.value), value.value)
    if depth >= DEEPEST_KEY:
        return value
    known = kind(value, lambda part: _structural_key(part, kind, looked_at, depth + 1))
    if known is not None:
        return known
    if isinstance(value, (ListValue, TupleValue)) and next(looked_at) < KEYED_VALUES:
        cls = value.cls if isinstance(value, TupleValue) else None
        items = [_structural_key(item, kind, looked_at, depth + 1) for item in value.items]
        return (type(value), cls, value.open, *items)
    return value  # itself, not its id(): a value that has gone may leave its id to another


def unknown_key(value: Unknown, default: Hashable) -> Hashable:
    """What stands for an unknown and all of equal terms, which mean equal values; ``default`` stands for its default."""
    if value.term is None:
        return value
    return (value.term, value.hint, default, value.unread, value.annotation, value.scope, value.guess)


class StructuralKeys:
    """Equal numbers for modules of one class, made at one place, that hold the same under the same names.

    What changes a module while they are in use must call ``forget``.
    """

    def __init__(self) -> None:
        self._known: dict[ModuleValue, Hashable] = {}
        self._numbers: dict[Hashable, int] = {}

    def forget(self) -> None:
        """Look at every module anew."""
        self._known.clear()

    def of(self, module: ModuleValue) -> Hashable:
        """What stands for a module and all like it."""
        known = self._known.get(module)
        if known is None:
            self._known[module] = module  # met again below itself, it is like no other
            known = self._known[module] = self._number(module)
        return known

    def _number(self, module: ModuleValue) -> int:
        held = (
            self._held(module.attributes),
            self._held(module.arguments),
            self._held(module.parameters),
            self._held(module.buffers),
            self._held(module.children),
        )
        compiled = (module.scripted, module.traced)
        state = (module.open, module.initialized, compiled, module.training, module.switched)
        hooked = module if module.hooks else module.backward_hooks
        key = (module.cls, module.place, held, state, hooked, *module.parametrized.items())
        return self._numbers.setdefault(key, len(self._numbers))

    def _held(self, registry: dict[str, Value]) -> tuple[Hashable, ...]:
        if not registry:
            return ()
        # Most of what a module holds are constants: they are not worth a call each.
        found: list[Hashable] = [
            (name, type(value.value), value.value)
            if isinstance(value, Const)
            else (name, structural_key(value, self._kind))
            for name, value in registry.items()
        ]
        return tuple(found)

    def _kind(self, value: Value, below: Callable[[Value], Hashable]) -> Hashable | None:
        if isinstance(value, ModuleValue):
            return (ModuleValue, self.of(value))
        if type(value) is Unknown:
            return unknown_key(value, below(value.default) if value.default is not None else ())
        if isinstance(value, TensorValue):
            return (
                TensorValue,
                value.role,
                value.dtype,
                value.rank,
                value.lazy,
                value.grad,
                value.sizes,
                value.filling,
            )
        return None
