"""Values that a call is given and gives: which are alike, and the same again for another call."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from tsguard.analysis.budgets import DEEPEST_KEY, REPEATED_VALUES
from tsguard.analysis.mode.choices import Either
from tsguard.analysis.python.copies import is_closure
from tsguard.analysis.python.structural_keys import unknown_key
from tsguard.analysis.values import (
    Atom,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleReference,
    ObjectValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Untold,
    Value,
)
from tsguard.report.records import replace

K = TypeVar("K")

# Values of which there is one for all.
_ONE = (Atom, External, ClassValue, ModuleReference)
_UNKNOWNS = (Unknown, Untold)


class Given:
    """What a call is given: ``parts`` are the values that it may be told to be the same, in order."""

    def __init__(self) -> None:
        self.parts: list[Value] = []
        self._numbers: dict[int, int] = {}
        self._depth = 0

    def key(self, value: Value) -> Hashable | None:
        """What stands for a value and all that nothing tells from it; None for what may hold modules or more."""
        if isinstance(value, Const):
            return (type(value), type(value.value), value.value)
        if isinstance(value, _ONE):
            return value
        if isinstance(value, FunctionValue):
            return None if is_closure(value) else value
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        self._numbers[id(value)] = len(self.parts)
        self.parts.append(value)
        if len(self.parts) > REPEATED_VALUES or self._depth >= DEEPEST_KEY:
            return None
        self._depth += 1
        made = self._part(value)
        self._depth -= 1
        return made

    def _part(self, value: Value) -> Hashable | None:
        if isinstance(value, TensorValue):
            filling = () if value.filling is None else self.key(value.filling)
            made = (value.role, value.name, value.dtype, value.rank, value.lazy, value.sizes, filling)
            state = (value.several, value.outside, value.grad, value.given)
            return None if filling is None else (TensorValue, *made, *state)
        if type(value) in _UNKNOWNS:
            assert isinstance(value, Unknown)
            default = () if value.default is None else self.key(value.default)
            told = (value.term, value.hint, default, value.unread, value.annotation, value.scope, value.guess)
            return None if default is None else (type(value), *told)
        if isinstance(value, Either):
            return self._several((Either,), value.options)
        if isinstance(value, TupleValue):
            return self._several((TupleValue, value.open, value.cls), value.items)
        if type(value) is ListValue:
            return self._several((ListValue, value.open), value.items)
        if isinstance(value, DictValue) and _is_plain(value):
            kind = (DictValue, value.open, value.ordered, value.filled_by, *value.items, None, *value.untold)
            return self._several(kind, [*value.items.values(), *value.untold.values()])
        if type(value) is ObjectValue and value.contents is None:
            kind = (ObjectValue, value.cls, value.open, *value.attributes)
            return self._several(kind, [*value.attributes.values()])
        return None

    def _several(self, kind: tuple[object, ...], items: tuple[Value, ...] | list[Value]) -> Hashable | None:
        if len(items) > REPEATED_VALUES:
            return None
        keys = [self.key(item) for item in items]
        return None if None in keys else (*kind, *keys)


class Again:
    """A value once more for another call: ``twins`` are those that it is told to be the same as."""

    def __init__(self, twins: dict[int, Value]) -> None:
        self._twins = twins
        self._depth = 0

    def copy(self, value: Value) -> Value | None:
        """The value, of new parts where running again would make new ones; None for what is not made again."""
        if isinstance(value, (Const, *_ONE)):
            return value
        if isinstance(value, FunctionValue):
            return None if is_closure(value) else value
        twin = self._twins.get(id(value))
        if twin is None and self._depth < DEEPEST_KEY:
            self._depth += 1
            twin = self._made(value)
            self._depth -= 1
            if twin is not None:
                self._twins[id(value)] = twin
        return twin

    def _made(self, value: Value) -> Value | None:
        if isinstance(value, TensorValue):
            return replace(value)
        if type(value) in _UNKNOWNS:
            assert isinstance(value, Unknown)
            return replace(value)
        if isinstance(value, Either):
            options = self._copied(value.options)
            return None if options is None else Either(None, options=tuple(options))
        if isinstance(value, TupleValue):
            items = self._copied(value.items)
            return None if items is None else TupleValue(tuple(items), value.open, value.cls)
        if type(value) is ListValue:
            items = self._copied(value.items)
            return None if items is None else ListValue(items, value.open)
        if isinstance(value, DictValue) and _is_plain(value):
            held, untold = self._named(value.items), self._named(value.untold)
            return None if held is None or untold is None else replace(value, items=held, untold=untold)
        if type(value) is ObjectValue and value.contents is None:
            attributes = self._named(value.attributes)
            return None if attributes is None else replace(value, attributes=attributes)
        return None

    def _named(self, values: dict[K, Value]) -> dict[K, Value] | None:
        copies = self._copied([*values.values()])
        return None if copies is None else dict(zip(values, copies, strict=True))

    def _copied(self, values: tuple[Value, ...] | list[Value]) -> list[Value] | None:
        copies = [self.copy(value) for value in values]
        made = [copy for copy in copies if copy is not None]
        return made if len(made) == len(copies) else None


def _is_plain(value: DictValue) -> bool:
    """Whether nothing is behind a dict but what it holds."""
    return not (value.registry_of or value.names_of or value.factory or value.rest)


def content(holder: Value) -> Hashable | None:
    """What a container or an object holds, to tell whether it still does; None for one of parts that may change."""
    if isinstance(holder, DictValue):
        more = [value for value in (holder.factory, holder.rest) if value is not None]
        held = [*holder.items.values(), *holder.untold.values(), *more]
        return _held(holder.open, held, (*holder.items, None, *holder.untold))
    if isinstance(holder, (ListValue, SetValue)):
        return _held(holder.open, holder.items, ())
    if type(holder) is ObjectValue and holder.contents is None:
        return _held(holder.open, [*holder.attributes.values()], tuple(holder.attributes))
    return None


def _held(is_open: bool, items: list[Value], names: tuple[object, ...]) -> Hashable | None:
    if len(items) > REPEATED_VALUES:
        return None
    parts = [*map(_fixed, items)]
    return None if None in parts else (is_open, names, *parts)


def _fixed(value: Value) -> Hashable | None:
    """What stands for a value that cannot change."""
    if isinstance(value, Const):
        return (type(value.value), value)
    if isinstance(value, _ONE):
        return value
    if type(value) not in _UNKNOWNS:
        return None
    assert isinstance(value, Unknown)
    default = () if value.default is None else _fixed(value.default)
    return None if default is None else unknown_key(value, default)
