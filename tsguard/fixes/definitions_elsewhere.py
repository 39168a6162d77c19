"""Functions by the names that a file calls them by, in whichever file of the project they are defined."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tsguard.fixes.places import Function
from tsguard.project.finding import Finder
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.project.modules import Module

_FINDERS: WeakKeyDictionary[SourceFile, Finder] = WeakKeyDictionary()
# Names are handed on from file to file; who goes further is lost.
_FARTHEST = 4


def defined(module: Module, name: str) -> tuple[Module, Function] | None:
    """The one function that a name means at the top of a file, with the file that defines it."""
    finder = _FINDERS.setdefault(module.file, Finder())
    for _ in range(_FARTHEST):
        bindings = module.bindings.get(name, [])
        node = bindings[0].node if len(bindings) == 1 else None
        if isinstance(node, Function):
            return module, node
        if not isinstance(node, ast.ImportFrom):
            return None
        found = next((a.name for a in node.names if (a.asname or a.name) == name), None)
        there = finder.find(module.absolute(node), module)
        if found is None or there is None or there.root != module.root:
            return None
        module, name = there, found
    return None
