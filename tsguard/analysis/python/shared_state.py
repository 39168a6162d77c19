"""The state that modules share, as they define it: what the code of one target does to it is seen by no other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tsguard.analysis.values import DictValue, ListValue, ObjectValue, SetValue, Value

Holder = ListValue | SetValue | DictValue | ObjectValue

_ABSENT = object()
# Of what lies deeper in a structure a target changes hardly anything.
_DEEPEST = 2


class SharedState:
    """What is put back before a target is made."""

    def __init__(self) -> None:
        self._bound: dict[tuple[int, str], tuple[dict[str, Value], str, object]] = {}
        self._outer: list[dict[tuple[int, str], tuple[dict[str, Value], str, object]]] = []
        self._held: dict[int, tuple[Holder, bool, list[Any] | dict[Any, Value]]] = {}

    def changing(self, owner: dict[str, Value], name: str) -> None:
        """Remember a global name, or an attribute of a class or function, that is about to be bound anew."""
        self._bound.setdefault((id(owner), name), (owner, name, owner.get(name, _ABSENT)))

    def hold(self, value: Holder, deep: int = _DEEPEST) -> None:
        """Remember what a container or an object holds where its definition ends, and what that holds."""
        if isinstance(value, ObjectValue) and value.contents is not None:
            self.hold(value.contents, deep)
        content = _copied(_content(value))
        self._held[id(value)] = (value, value.open, content)
        for inner in content.values() if isinstance(content, dict) else content:
            if deep > 0 and isinstance(inner, Holder) and id(inner) not in self._held:
                self.hold(inner, deep - 1)

    def defined(self, value: Value) -> None:
        """Remember what a module has put into a container of another, or its own, by a call."""
        if id(value) in self._held and isinstance(value, Holder):
            self.hold(value)

    @contextmanager
    def followed(self) -> Iterator[Callable[[], bool]]:
        """Undo what is bound anew meanwhile; what is given tells whether anything was."""
        bound: dict[tuple[int, str], tuple[dict[str, Value], str, object]] = {}
        self._outer.append(self._bound)
        self._bound = bound
        try:
            yield lambda: bool(bound)
        finally:
            self._rebind()
            self._bound = self._outer.pop()

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
        return is_bound


def _content(value: Holder) -> list[Value] | dict[Any, Value]:
    return value.attributes if isinstance(value, ObjectValue) else value.items


def _copied(content: list[Value] | dict[Any, Value]) -> list[Value] | dict[Any, Value]:
    return dict(content) if isinstance(content, dict) else list(content)


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
