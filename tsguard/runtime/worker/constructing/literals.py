"""Calls of a class in its own file: somebody has already written working arguments."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator


def calls_of(name: str, source: str) -> list[str]:
    """The calls of ``name`` in a file, those outside functions first, each once.

    Names of local variables in them cannot be known here: evaluating such a call fails,
    and the next is tried.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    found: dict[str, int] = {}
    for depth, call in _calls(tree, 0):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        if called == name and isinstance(call.func, ast.Name):
            found.setdefault(ast.unparse(call), depth)
    for example in _examples(tree):
        for depth, call in _calls(example, 1):
            if getattr(call.func, "id", None) == name:
                found.setdefault(ast.unparse(call), depth)
    return sorted(found, key=lambda text: found[text])


def _calls(node: ast.AST, depth: int) -> Iterator[tuple[int, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(child, ast.Call):
            yield depth, child
        yield from _calls(child, depth + inside)


def _examples(tree: ast.Module) -> Iterator[ast.Module]:
    """The ``>>>`` lines of docstrings."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        text = ast.get_docstring(node)
        if text is None or ">>>" not in text:
            continue
        try:
            yield ast.parse("\n".join(e.source for e in doctest.DocTestParser().get_examples(text)))
        except (SyntaxError, ValueError):
            continue
