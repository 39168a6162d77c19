"""Whether a loop over numbers takes every module of a container: told from where the class fills it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.fixes.places import Function


def takes_all(owner: ast.ClassDef, function: Function, container: str, stop: ast.expr) -> bool:
    """Whether ``self.layers`` has as many modules as ``range(stop)`` has numbers, as far as the class says."""
    wanted = _meanings(owner, function, stop)
    return f"len({container})" in wanted or any(wanted & length for length in _lengths(owner, container))


def _meanings(owner: ast.ClassDef, function: Function, value: ast.expr) -> set[str]:
    """How else a number may be written: what its variable or attribute is assigned, and where."""
    found = {ast.unparse(value)}
    for scope in (function, owner):
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and {ast.unparse(t) for t in node.targets} & found:
                found.add(ast.unparse(node.value))
    return found


def _lengths(owner: ast.ClassDef, container: str) -> Iterator[set[str]]:
    """The lengths that the class gives a container, each with what it is called."""
    for function in (n for n in owner.body if isinstance(n, Function)):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == [container]:
                yield from (_meanings(owner, function, length) for length in _length(node.value))
            if isinstance(node, ast.For) and _grows(node, container):
                yield from (_meanings(owner, function, length) for length in _rounds(node.iter))


def _length(value: ast.expr) -> Iterator[ast.expr]:
    """How many modules ``nn.ModuleList([...])`` holds."""
    inner = value.args[0] if isinstance(value, ast.Call) and value.args else value
    if isinstance(inner, ast.List) and inner.elts and not any(isinstance(e, ast.Starred) for e in inner.elts):
        yield ast.Constant(len(inner.elts))
    generators = inner.generators if isinstance(inner, (ast.ListComp, ast.GeneratorExp)) else []
    if len(generators) == 1 and not generators[0].ifs:
        yield from _rounds(generators[0].iter)


def _rounds(source: ast.expr) -> Iterator[ast.expr]:
    """How often a loop over something runs."""
    if isinstance(source, ast.Call) and ast.unparse(source.func) == "range" and len(source.args) == 1:
        yield source.args[0]
    else:
        yield ast.parse(f"len({ast.unparse(source)})", mode="eval").body


def _grows(loop: ast.For, container: str) -> bool:
    """Whether each round appends one module."""
    texts = [ast.unparse(n.value) for n in loop.body if isinstance(n, ast.Expr)]
    return sum(text.startswith(f"{container}.append(") for text in texts) == 1
