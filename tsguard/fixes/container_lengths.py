"""Whether a loop over numbers takes every module of a container: told from where the class fills it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.fixes.constructors import constructor_of
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import relatives, stores_of
from tsguard.source import SourceFile
from tsguard.source.walking import walked

_GROWING = frozenset({"append", "extend", "insert", "add_module", "pop", "__setitem__", "__delitem__"})


def takes_all(
    file: SourceFile, owner: ast.ClassDef, function: Function, container: str, stop: ast.expr
) -> bool:
    """Whether ``self.layers`` has as many modules as ``range(stop)`` has numbers, as far as the class says."""
    init, wanted = constructor_of(owner), _meanings(file, owner, function, stop)
    if f"len({container})" in wanted:
        return True
    length = _length(file, owner, init, container) if init is not None else None
    return init is not None and length is not None and bool(wanted & _meanings(file, owner, init, length))


def _meanings(file: SourceFile, owner: ast.ClassDef, function: Function, value: ast.expr) -> set[str]:
    """How else a number may be written: what its variable or attribute is assigned, where it is assigned once."""
    found: set[str] = set()
    pending = [(function, value)]
    for scope, number in pending:
        text = _told(scope, number)
        if text is None or text in found:
            continue
        found.add(text)
        init = constructor_of(owner)
        if isinstance(number, ast.Name):
            values = [n.value for n in walked(scope) if isinstance(n, ast.Assign) and _assigns(n, number.id)]
            pending += [(scope, made) for made in values]
        elif isinstance(number, ast.Attribute) and init is not None:
            stores = list(stores_of(file, owner, number.attr))
            made_by = [n for n in init.body if isinstance(n, ast.Assign) and stores == n.targets]
            pending += [(init, node.value) for node in made_by]
    return found


def _told(scope: Function, number: ast.expr) -> str | None:
    """A number as text that means the same all through the class; None where its variables change."""
    given = {n.arg for n in walked(scope.args) if isinstance(n, ast.arg)}
    stored = [n.id for n in walked(scope) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    names = {n.id for n in walked(number) if isinstance(n, ast.Name)} - {"self"}
    if any((name in given) + stored.count(name) > 1 for name in names):
        return None
    own = names & (given | set(stored))
    return f"{scope.name}: {ast.unparse(number)}" if own else ast.unparse(number)


def _assigns(node: ast.Assign, name: str) -> bool:
    return any(isinstance(t, ast.Name) and t.id == name for t in node.targets)


def _length(file: SourceFile, owner: ast.ClassDef, init: Function, container: str) -> ast.expr | None:
    """The number of modules that the constructor puts into a container, in one way and nowhere else."""
    stores = [ast.unparse(n) for n in stores_of(file, owner, container.rpartition(".")[2])]
    grown = sum(_grows(node, container) for c in relatives(file, owner) for node in walked(c))
    made = [
        n.value
        for n in init.body
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [container]
    ]
    if stores != [container] or len(made) != 1 or grown > 1:
        return None
    inner = made[0].args[0] if isinstance(made[0], ast.Call) and made[0].args else None
    if grown:
        empty = isinstance(made[0], ast.Call) and (inner is None or ast.unparse(inner) == "[]")
        return next(_appending(init, container), None) if empty else None
    if isinstance(inner, ast.List) and not any(isinstance(e, ast.Starred) for e in inner.elts):
        return ast.Constant(len(inner.elts))
    generators = inner.generators if isinstance(inner, (ast.ListComp, ast.GeneratorExp)) else []
    return _rounds(generators[0].iter) if len(generators) == 1 and not generators[0].ifs else None


def _grows(node: ast.AST, container: str) -> bool:
    """Whether a call changes how many modules a container holds."""
    called = node.func if isinstance(node, ast.Call) else None
    return (
        isinstance(called, ast.Attribute)
        and called.attr in _GROWING
        and ast.unparse(called.value) == container
    )


def _appending(init: Function, container: str) -> Iterator[ast.expr]:
    """How often a loop of the constructor runs that appends a module in each round."""
    for loop in (n for n in init.body if isinstance(n, ast.For)):
        left = any(isinstance(n, (ast.Break, ast.Continue)) for n in walked(loop))
        added = [n.value for n in loop.body if isinstance(n, ast.Expr) and _grows(n.value, container)]
        if not left and [ast.unparse(n).startswith(f"{container}.append(") for n in added] == [True]:
            yield _rounds(loop.iter)


def _rounds(source: ast.expr) -> ast.expr:
    """How often a loop over something runs."""
    if isinstance(source, ast.Call) and ast.unparse(source.func) == "range" and len(source.args) == 1:
        return source.args[0]
    return ast.parse(f"len({ast.unparse(source)})", mode="eval").body
