"""What the statements of a module bind, and how certain it is that they run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tsguard.report.records import dataclass
from tsguard.source.walking import walked

TRIES = (ast.Try, ast.TryStar) if sys.version_info >= (3, 11) else (ast.Try,)


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


def bindings(body: list[ast.stmt]) -> dict[str, list[Binding]]:
    """The names of a module's or class's body, each with the statements that bind it in source order."""
    found: dict[str, list[Binding]] = {}
    _collect(body, found, "", None, True, ())
    return found


def _collect(
    statements: list[ast.stmt],
    found: dict[str, list[Binding]],
    guard: str,
    test: ast.expr | None,
    holds: bool,
    attempts: tuple[Attempt, ...],
) -> None:
    for node in statements:
        for name in _bound(node):
            found.setdefault(name, []).append(Binding(name, node, guard, test, holds, attempts))
        if isinstance(node, ast.If):
            typing_only = is_for_typing(node)
            inner = "typing" if typing_only else guard or "if"
            _collect(node.body, found, inner, node.test, True, attempts)
            inner = guard if typing_only else guard or "else"
            _collect(node.orelse, found, inner, node.test, False, attempts)
        for body, inner, attempt in _blocks(node, guard):
            _collect(body, found, inner, test, holds, (*attempts, *attempt))


def is_for_typing(node: ast.If) -> bool:
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
    if isinstance(node, TRIES):
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
