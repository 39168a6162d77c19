"""Modules of the project and of installed packages: found on disk, read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.project.bindings import TRIES, Binding, bindings, is_for_typing
from tsguard.project.changes import Changes, changes
from tsguard.report.records import dataclass
from tsguard.source import SourceFile
from tsguard.source.statements import module_level

if TYPE_CHECKING:
    from tsguard.project.lazy import Lazy


@dataclass(eq=False, repr=False)
class Module:
    """A Python module by its source.

    ``root`` is the folder from which ``name`` is importable; ``is_stub`` tells that only its
    declarations are at hand, a ``.pyi`` file.
    """

    name: str
    file: SourceFile
    root: Path
    is_package: bool = False
    is_stub: bool = False

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def is_installed(self) -> bool:
        """Whether it lies where packages are installed, side by side."""
        return is_installed(self.root)

    @cached_property
    def is_beside_torch(self) -> bool:
        """Whether it is installed and never speaks of torch: what it computes is no module or tensor."""
        return self.is_installed and "torch" not in self.file.text

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Module-level names and the statements that bind them, in source order."""
        return bindings(self.file.tree.body)

    @cached_property
    def may_yield(self) -> bool:
        """Whether there may be a generator function in it."""
        return "yield" in self.file.text

    @cached_property
    def changes(self) -> Changes:
        """What the module's code does to its global containers and classes."""
        return changes(self.file.tree)

    @cached_property
    def star_imports(self) -> list[ast.ImportFrom]:
        """The ``from x import *`` statements at module level, those that replace imports that fail last.

        Those for type checkers count where names are given only when asked.
        """
        if not _STAR.search(self.file.text):
            return []
        body = list(module_level(self.file.tree.body))
        typing = {
            id(s)
            for node in body
            if isinstance(node, ast.If) and is_for_typing(node)
            for s in module_level(node.body)
        }
        handling = {id(s) for node in body if isinstance(node, TRIES) for s in module_level(node.handlers)}
        found = [
            node
            for node in body
            if isinstance(node, ast.ImportFrom)
            and node.names[0].name == "*"
            and (self.lazy is not None or id(node) not in typing)
        ]
        return sorted(found, key=lambda node: id(node) in handling)

    @property
    def binds_unseen(self) -> bool:
        """Whether it may bind names that none of its statements shows: by star imports, or in a broken cell."""
        return bool(self.star_imports or self.file.broken_cells)

    @cached_property
    def binds_only_seen(self) -> bool:
        """Whether it binds nothing beside what its own statements do."""
        return self.lazy is None and not self.binds_unseen and not self.is_package

    @cached_property
    def lazy(self) -> Lazy | None:
        """What the module gives only when asked; None where it is a plain module."""
        text = self.file.text
        if not any(word in text for word in _LAZY_WORDS) or not _LAZY.search(text):
            return None
        from tsguard.project.lazy import lazy

        return lazy(self.file.tree)

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that a ``from`` import reads."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - (node.level - 1)]
        return ".".join([*kept, *([node.module] if node.module else [])])

    @cached_property
    def exported(self) -> frozenset[str] | None:
        """The names in ``__all__`` where it is made of literals, else None.

        They are read from the text: a package may import the names of a thousand modules that nobody asks for.
        """
        lists = list(_exported_lists(self.file.text))
        if not lists or None in lists:
            return None
        try:
            names = [name for text in lists if text for name in ast.literal_eval(text)]
        except (ValueError, SyntaxError, TypeError):
            return None
        return frozenset(name for name in names if isinstance(name, str))

    @property
    def offered(self) -> frozenset[str]:
        """The names that a package that looks through its files finds in this one, by its text alone.

        They are those in ``__all__``, and the decorated classes and functions.
        """
        return (self.exported or frozenset()) | frozenset(_DECORATED.findall(f"\n{self.file.text}"))


def is_installed(path: Path) -> bool:
    """Whether a place is among those in which packages are installed, side by side."""
    return any(part in _INSTALLED for part in path.parts)


_INSTALLED = ("site-packages", "dist-packages")
_DECORATED = re.compile(r"\n@[^@]*?\n(?:class|def)[ \t]+(\w+)")
# Begins with a letter, for which a text is looked through fast; "reimport *" is no Python.
_STAR = re.compile(r"import\s+\(?\s*\*")
# A text is looked through for words much faster than for where words end.
_LAZY_WORDS = ("__getattr__", "sys.modules[__name__]")
_LAZY = re.compile(r"\b__getattr__\b|\bsys\.modules\[__name__\]")
_ALL = "__all__"
_LISTED = re.compile(r"\s*(?:(?::[^=\n]+)?\+?=|\.extend\()\s*(\[[^\]]*\]|\([^)]*\))")


def _exported_lists(text: str) -> Iterator[str | None]:
    """The lists that make or extend ``__all__``; None for a statement that makes or changes it otherwise."""
    at = text.find(_ALL)
    while at >= 0:
        end = at + len(_ALL)
        before = text[text.rfind("\n", 0, at) + 1 : at]
        if not (before.strip(" \t") or _is_in_name(text[end : end + 1])):
            found = None if before else _LISTED.match(text, end)
            yield None if found is None else found[1]
        at = text.find(_ALL, end)


def _is_in_name(character: str) -> bool:
    return character.isalnum() or character == "_"
