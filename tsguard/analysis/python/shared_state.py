"""The state that modules share, as they define it: what the code of one target does to it is seen by no other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tsguard.analysis.budgets import DEEPEST_KEY
from tsguard.analysis.values import (
    DictValue,
    ListValue,
    ObjectValue,
    SetValue,
    TensorValue,
    TupleValue,
    Value,
)

Holder = ListValue | SetValue | DictValue | ObjectValue

_ABSENT = object()
_AS_DEFINED = "as defined"
# What lies deeper in a structure is looked at only after it has been changed.
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Changes:
    """What code has bound anew (the names, their scope's or owner's table, the value) and put into containers."""

    bound: tuple[tuple[dict[str, Value], str, Value | None], ...]
    filled: tuple[tuple[Holder, bool, list[Any] | dict[Any, Value]], ...]

    def mapped(self, change: Callable[[Value], Value]) -> Changes:
        """The same of other values."""
        bound = [(owner, name, None if value is None else change(value)) for owner, name, value in self.bound]
        filled = [(held, is_open, _mapped(content, change)) for held, is_open, content in self.filled]
        return Changes(tuple(bound), tuple(filled))


class SharedState:
    """What is put back before a target is made.

    Of one ``version`` it is the same each time; None where nobody has seen what it is now.
    """

    def __init__(self) -> None:
        self._bound: dict[tuple[int, str], tuple[dict[str, Value], str, object]] = {}
        self._outer: list[dict[tuple[int, str], tuple[dict[str, Value], str, object]]] = []
        self._held: dict[int, tuple[Holder, bool, list[Any] | dict[Any, Value]]] = {}
        self._kept: dict[int, tuple[Holder, bool, list[Any] | dict[Any, Value]]] = {}
        self._defined: set[int] = set()
        self._refilled: set[int] = set()
        self.version: Hashable | None = _AS_DEFINED

    def holds(self, identity: int) -> bool:
        """Whether what has this identity is held."""
        return identity in self._held

    def defines(self, identity: int) -> bool:
        """Whether what has this identity is something changeable that modules define."""
        return identity in self._defined or identity in self._held or identity in self._kept

    def define(self, value: Value, deep: int = _DEEPEST) -> None:
        """Note what a module defines that can be changed, and what that holds."""
        if isinstance(value, (Holder, TensorValue)):
            self._defined.add(id(value))
        if not isinstance(value, Holder):
            return
        content = _content(value)
        for inner in content.values() if isinstance(content, dict) else content:
            if deep > 0 and id(inner) not in self._defined:
                self.define(inner, deep - 1)

    def used(self, value: Value, is_defining: bool = False) -> None:
        """Look at a container or object after what may have changed it: what a module has put into it, it defines."""
        held = self._held.get(id(value)) or self._kept.get(id(value))
        if held is None:
            return
        owner, is_open, before = held
        if is_defining:
            if id(owner) in self._held:
                self.hold(owner)
            else:
                del self._kept[id(owner)]
                self.keep(owner)
        elif owner.open is not is_open or not _is_same(_content(owner), before):
            self._held[id(value)] = held
            self._refilled.add(id(value))
            self.version = None

    def changes(self) -> Changes:
        """What is other than the modules define it."""
        bound = [(owner, name, owner.get(name)) for owner, name, _ in self._bound.values()]
        held = [self._held[identity][0] for identity in self._refilled]
        return Changes(tuple(bound), tuple((one, one.open, _copied(_content(one))) for one in held))

    def change(self, changes: Changes, version: Hashable) -> None:
        """Change again what has been changed, which leads from one version to another."""
        for owner, name, value in changes.bound:
            self.changing(owner, name)
            if value is None:
                owner.pop(name, None)
            else:
                owner[name] = value
        for held, is_open, content in changes.filled:
            self._refilled.add(id(held))
            held.open = is_open
            _refill(held, content)
        self.version = version

    def changing(self, owner: dict[str, Value], name: str) -> None:
        """Remember a global name, or an attribute of a class or function, that is about to be bound anew."""
        self._bound.setdefault((id(owner), name), (owner, name, owner.get(name, _ABSENT)))
        self.version = None

    def hold(self, value: Holder, deep: int = _DEEPEST) -> None:
        """Remember what a container or an object holds where its definition ends, and what that holds."""
        if isinstance(value, ObjectValue) and value.contents is not None:
            self.hold(value.contents, deep)
        content = _copied(_content(value))
        self._held[id(value)] = (value, value.open, content)
        for inner in content.values() if isinstance(content, dict) else content:
            if deep > 0 and isinstance(inner, Holder) and id(inner) not in self._held:
                self.hold(inner, deep - 1)

    def keep(self, value: Value, deep: int = DEEPEST_KEY) -> None:
        """Remember what lies in something that a module defines, should a target change that."""
        if isinstance(value, Holder):
            if id(value) in self._kept:
                return
            content = _copied(_content(value))
            self._kept[id(value)] = (value, value.open, content)
            inner = list(content.values() if isinstance(content, dict) else content)
            if isinstance(value, ObjectValue) and value.contents is not None:
                inner.append(value.contents)
        else:
            inner = list(value.items) if isinstance(value, TupleValue) else []
        for part in inner if deep > 0 else ():
            self.keep(part, deep - 1)

    @contextmanager
    def followed(self) -> Iterator[Callable[[], bool]]:
        """Undo what is bound anew meanwhile; what is given tells whether anything was."""
        bound: dict[tuple[int, str], tuple[dict[str, Value], str, object]] = {}
        self._outer.append(self._bound)
        self._bound = bound
        version, filled = self.version, len(self._refilled)
        try:
            yield lambda: bool(bound)
        finally:
            self._rebind()
            self._bound = self._outer.pop()
            self.version = version if len(self._refilled) == filled else None

    @property
    def is_as_defined(self) -> bool:
        """Whether no global name, and no attribute of a class or function, is bound anew."""
        return not self._bound and not any(self._outer)

    def _rebind(self) -> None:
        for owner, name, value in self._bound.values():
            if isinstance(value, Value):
                owner[name] = value
            else:
                owner.pop(name, None)

    def put_back(self) -> bool:
        """Make it again what the modules have defined: whether names or attributes had been bound anew."""
        self._rebind()
        for held, is_open, before in self._held.values():
            held.open = is_open
            if not _is_same(_content(held), before):
                _refill(held, before)
        is_bound = bool(self._bound)
        self._bound.clear()
        self._refilled.clear()
        self.version = _AS_DEFINED
        return is_bound


def _content(value: Holder) -> list[Value] | dict[Any, Value]:
    return value.attributes if isinstance(value, ObjectValue) else value.items


def _copied(content: list[Value] | dict[Any, Value]) -> list[Value] | dict[Any, Value]:
    return dict(content) if isinstance(content, dict) else list(content)


def _mapped(
    content: list[Any] | dict[Any, Value], change: Callable[[Value], Value]
) -> list[Any] | dict[Any, Value]:
    if isinstance(content, dict):
        return {key: change(value) for key, value in content.items()}
    return list(map(change, content))


def _is_same(content: list[Value] | dict[Any, Value], before: list[Value] | dict[Any, Value]) -> bool:
    if len(content) != len(before):
        return False
    if isinstance(content, dict):
        assert isinstance(before, dict)
        return all(item is before.get(key) for key, item in content.items())
    return all(map(operator.is_, content, before))


def _refill(held: Holder, before: list[Value] | dict[Any, Value]) -> None:
    if isinstance(held, (ListValue, SetValue)):
        held.items = list(before)
    else:
        content = _content(held)
        assert isinstance(content, dict)
        assert isinstance(before, dict)
        content.clear()
        content.update(before)
