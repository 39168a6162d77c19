"""Tables in which functions keep what they found out: empty at first, as in a new process.

What such a function finds in its table is what it put there itself when it was first asked.
"""

from __future__ import annotations

from tsguard.analysis import values as py


class Memos:
    """The tables of the functions that one walk follows, by the tables of their modules."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[py.DictValue, py.DictValue]] = {}
        self._names: dict[int, str] = {}

    def as_seen(self, name: str, value: py.Value, scope: py.Scope) -> py.Value:
        """A module's table as the function that fills it sees it; any other value as it is."""
        if not isinstance(value, py.DictValue) or value.filled_by is None:
            return value
        if value.items.keys() - value.untold.keys():  # what is told was there before anybody asked
            return value
        module, fillers = value.filled_by
        if scope.function is None or module is not scope.module or scope.function.name not in fillers:
            return value
        table = self._tables.setdefault(id(value), (value, py.DictValue({})))[1]
        self._names[id(table)] = name
        return table

    def name(self, table: py.Value) -> str:
        """What a module calls a table as a function sees it; "" for any other value."""
        return self._names.get(id(table), "")
