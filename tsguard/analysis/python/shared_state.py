"""The state that modules share, as they define it: what the code of one target does to it is seen by no other."""

from __future__ import annotations

from typing import Any

from tsguard.analysis.values import DictValue, ListValue, ObjectValue, SetValue, Value

_ABSENT = object()


class SharedState:
    """What is put back before a target is made."""

    def __init__(self) -> None:
        self._bound: dict[tuple[int, str], tuple[dict[str, Value], str, object]] = {}
        self._dicts: list[tuple[dict[Any, Value], dict[Any, Value]]] = []
        self._sequences: list[tuple[ListValue | SetValue, list[Value]]] = []
        self._closed: list[ListValue | SetValue | DictValue | ObjectValue] = []

    def changing(self, owner: dict[str, Value], name: str) -> None:
        """Remember a global name, or an attribute of a class or function, that is about to be bound anew."""
        self._bound.setdefault((id(owner), name), (owner, name, owner.get(name, _ABSENT)))

    def hold(self, value: ListValue | SetValue | DictValue | ObjectValue) -> None:
        """Remember what a container or an object holds at the end of its definition."""
        if isinstance(value, ObjectValue):
            self._dicts.append((value.attributes, dict(value.attributes)))
            if value.contents is not None:
                self.hold(value.contents)
        elif isinstance(value, DictValue):
            self._dicts += [(items, dict(items)) for items in (value.items, value.untold)]
        else:
            self._sequences.append((value, list(value.items)))
        if not value.open:
            self._closed.append(value)

    def put_back(self) -> bool:
        """Make it again what the modules have defined: whether names or attributes had been bound anew."""
        is_bound = bool(self._bound)
        for owner, name, value in self._bound.values():
            if isinstance(value, Value):
                owner[name] = value
            else:
                owner.pop(name, None)
        self._bound.clear()
        for items, before in self._dicts:
            if len(items) != len(before) or any(item is not before.get(key) for key, item in items.items()):
                items.clear()
                items.update(before)
        for sequence, order in self._sequences:
            if len(sequence.items) != len(order) or any(map(_differ, sequence.items, order)):
                sequence.items = list(order)
        for held in self._closed:
            held.open = False
        return is_bound


def _differ(one: Value, other: Value) -> bool:
    return one is not other
