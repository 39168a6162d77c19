"""What a call puts into dicts that were there before it: what it takes of them then is its own."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from tsguard.analysis import values as py
from tsguard.analysis.trace.taken_keys import keys_taken

Cell = tuple[int, str]


@dataclass(slots=True)
class Filled:
    """The keys under which this call has put something, each with the branches around it.

    ``wholes`` are the statements that have taken the whole of a dict when all that changes in it was this call's.
    """

    keys: dict[Cell, dict[object, tuple[int, ...]]] = field(default_factory=dict)
    wholes: dict[Cell, set[int]] = field(default_factory=dict)

    def put(self, cell: Cell, key: object, around: tuple[int, ...]) -> set[int]:
        """Note a key, and return the statements that have taken the whole without it."""
        keys = self.keys.setdefault(cell, {})
        readers = set() if key in keys else self.wholes.get(cell, set())
        keys.setdefault(key, around)
        return readers

    def covers(
        self, cell: Cell, container: py.Value | None, statement: ast.AST, around: tuple[int, ...]
    ) -> bool:
        """Whether a statement takes only what this call has put there on every way to it, maybe nothing."""
        filled = self.keys.get(cell, {})
        taken = keys_taken(statement, cell[1])
        if taken is None:
            if not filled or not isinstance(container, py.DictValue) or container.open:
                return False
            taken = list(filled)
            is_told = all(self._is_certain(cell, key, around) for key in taken)
            if is_told:
                self.wholes.setdefault(cell, set()).add(id(statement))
            return is_told
        return all(self._is_certain(cell, key, around) for key in taken)

    def _is_certain(self, cell: Cell, key: object, around: tuple[int, ...]) -> bool:
        ways = self.keys.get(cell, {})
        return key in ways and around[: len(ways[key])] == ways[key]
