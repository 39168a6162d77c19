"""Modules of the project and of installed packages: found on disk, read, never run."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.project.changes import Changes, changes
from tsguard.report.records import dataclass
from tsguard.source import SourceFile
from tsguard.source.statements import module_level
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.project.lazy import Lazy


@dataclass(frozen=True, slots=True)
class Attempt:
    """A ``try`` around a statement, which runs if nothing is raised there (``succeeds``) or if something is."""

    node: ast.Try
    succeeds: bool


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that gives a module-level name its value.

    ``node`` is the defining statement (class, function, import, assignment, ...).
    ``guard`` tells how certain it is that the statement runs: "" always, "try" in a
    try body, "except" in its handlers, "if"/"else" in a branch, "typing" only for
    type checkers.  ``test`` is the condition of the innermost ``if`` around it, ``holds``
    the truth that it must have.  ``attempts`` are the ``try`` statements around it, each with
    whether the statement runs if nothing is raised.
    """

    name: str
    node: ast.stmt
    guard: str = ""
    test: ast.expr | None = None
    holds: bool = True
    attempts: tuple[Attempt, ...] = ()


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
        return any(part in _INSTALLED for part in self.root.parts)

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Module-level names and the statements that bind them, in source order."""
        found: dict[str, list[Binding]] = {}
        for binding in _bindings(self.file.tree.body, ""):
            found.setdefault(binding.name, []).append(binding)
        return found

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
            if isinstance(node, ast.If) and _is_for_typing(node)
            for s in module_level(node.body)
        }
        handling = {id(s) for node in body if isinstance(node, _TRY) for s in module_level(node.handlers)}
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
        lists = [match[1] for match in _EXPORTED.finditer(self.file.text)]
        if not lists or len(lists) < len(_ALL.findall(self.file.text)):
            return None
        try:
            names = [name for text in lists for name in ast.literal_eval(text)]
        except (ValueError, SyntaxError, TypeError):
            return None
        return frozenset(name for name in names if isinstance(name, str))

    @property
    def offered(self) -> frozenset[str]:
        """The names that a package that looks through its files finds in this one, by its text alone.

        They are those in ``__all__``, and the decorated classes and functions.
        """
        return (self.exported or frozenset()) | frozenset(_DECORATED.findall(self.file.text))


_INSTALLED = ("site-packages", "dist-packages")
_DECORATED = re.compile(r"^@[^@]*?\n(?:class|def)[ \t]+(\w+)", re.MULTILINE)
# Begins with a letter, for which a text is looked through fast; "reimport *" is no Python.
_STAR = re.compile(r"import\s+\(?\s*\*")
# A text is looked through for words much faster than for where words end.
_LAZY_WORDS = ("__getattr__", "sys.modules[__name__]")
_LAZY = re.compile(r"\b__getattr__\b|\bsys\.modules\[__name__\]")
# Every statement that makes or changes __all__, and those that do so by a list.
_ALL = re.compile(r"^[ \t]*__all__\b", re.MULTILINE)
_EXPORTED = re.compile(r"^__all__\s*(?:(?::[^=\n]+)?\+?=|\.extend\()\s*(\[[^\]]*\]|\([^)]*\))", re.MULTILINE)
_TRY = (ast.Try, ast.TryStar) if sys.version_info >= (3, 11) else (ast.Try,)


def _bindings(
    statements: list[ast.stmt],
    guard: str,
    test: ast.expr | None = None,
    holds: bool = True,
    attempts: tuple[Attempt, ...] = (),
) -> Iterator[Binding]:
    for node in statements:
        yield from (Binding(name, node, guard, test, holds, attempts) for name in _bound(node))
        if isinstance(node, ast.If):
            typing_only = _is_for_typing(node)
            inner = "typing" if typing_only else guard or "if"
            yield from _bindings(node.body, inner, node.test, True, attempts)
            inner = guard if typing_only else guard or "else"
            yield from _bindings(node.orelse, inner, node.test, False, attempts)
        for body, inner, attempt in _blocks(node, guard):
            yield from _bindings(body, inner, test, holds, (*attempts, *attempt))


def _is_for_typing(node: ast.If) -> bool:
    return any(
        getattr(part, "id", getattr(part, "attr", "")) == "TYPE_CHECKING" for part in walked(node.test)
    )


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds by itself, its blocks aside."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.name
    elif isinstance(node, ast.Import):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from assigned_names(target)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        yield from assigned_names(node.target)


def _blocks(node: ast.stmt, guard: str) -> Iterator[tuple[list[ast.stmt], str, tuple[Attempt, ...]]]:
    """The blocks of a statement that is no ``if``, in order, each with what its names hang on."""
    if isinstance(node, _TRY):
        succeeds = (Attempt(node, True),) if isinstance(node, ast.Try) else ()
        fails = (Attempt(node, False),) if isinstance(node, ast.Try) else ()
        yield node.body, guard or "try", succeeds
        for handler in node.handlers:
            yield handler.body, "except", fails
        yield node.orelse, guard or "try", succeeds
        yield node.finalbody, guard, ()
    elif isinstance(node, ast.For):
        yield node.body, guard or "if", ()
    elif isinstance(node, (ast.With, ast.While)):
        yield node.body, guard, ()


def assigned_names(target: ast.expr) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from assigned_names(element)
    elif isinstance(target, ast.Starred):
        yield from assigned_names(target.value)
