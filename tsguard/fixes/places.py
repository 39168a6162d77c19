"""What lies at a line of a file, found by going down to it.

A fix is sought for each finding: looking through the whole file each time would take the
square of its length.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, TypeVar

from tsguard.source import SourceFile, Span
from tsguard.source.functions import first_line

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def nodes_around(file: SourceFile, line: int) -> Iterator[ast.AST]:
    """The nodes that a line runs through, outer ones first; what holds them has no line of its own."""
    pending: list[ast.AST] = [file.tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12 what is in a string does not know its place.
            pending += ast.iter_child_nodes(node)
        else:
            below = [child for child in _children(node, line) if _holds(child, line)]
            pending += reversed(below)


def nodes_at(file: SourceFile, span: Span, kind: type[Node]) -> Iterator[Node]:
    """The nodes of a kind that lie exactly there, outer ones first."""
    for node in nodes_around(file, span.line):
        if isinstance(node, kind) and getattr(node, "lineno", 0) == span.line and file.span(node) == span:
            yield node


def functions_around(file: SourceFile, span: Span) -> list[Function]:
    """The functions that a place lies in, the innermost first."""
    found = [
        node
        for node in nodes_around(file, span.line)
        if isinstance(node, Function) and node.lineno <= span.line
    ]
    return found[::-1]


def function_at(file: SourceFile, line: int, name: str) -> Function | None:
    """The function of a name whose first line, that of its first decorator if it has any, is this one."""
    for node in nodes_around(file, line):
        if not isinstance(node, Function) or node.name != name:
            continue
        if first_line(node) == line:
            return node
    return None


def _children(node: ast.AST, line: int) -> Iterator[ast.AST]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list) and value:
            yield from _near(value, line) if isinstance(value[0], ast.stmt) else _nodes(value)


def _nodes(values: list[Any]) -> Iterator[ast.AST]:
    return (value for value in values if isinstance(value, ast.AST))


def _near(block: list[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """The statements of a block that a line runs through."""
    for index in range(bisect_left(block, line, key=_last), len(block)):
        if first_line(block[index]) > line:
            return
        yield block[index]


def _holds(node: ast.AST, line: int) -> bool:
    return not hasattr(node, "lineno") or first_line(node) <= line <= _last(node)


def _last(node: ast.AST) -> int:
    line: int = getattr(node, "end_lineno", 0) or getattr(node, "lineno", 1)
    return line
