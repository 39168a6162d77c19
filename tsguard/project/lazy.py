"""Names that a module gives only when asked: it has a ``__getattr__``, or puts an object in its place.

What such code does for a name is told by the tables that it is handed: from a submodule to its
names, or from a name to the place where it is defined.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tsguard.report.records import dataclass
from tsguard.source.statements import module_level
from tsguard.source.walking import walked

_HOOK = "__getattr__"


@dataclass(frozen=True, slots=True)
class Lazy:
    """Where a module that gives names only when asked has them from.

    ``sources`` are the possible places of a name: a module as it is written, and the name there.
    ``scans`` tells that its files are looked through for what they offer.
    """

    sources: dict[str, list[tuple[str, str]]]
    scans: bool


def lazy(tree: ast.Module) -> Lazy | None:
    """What a module gives only when asked; None where it is a plain module."""
    body = list(module_level(tree.body))
    roots = [root for node in body for root in _roots(node)]
    if not roots:
        return None
    reached = list(_reached(roots, body))
    sources: dict[str, list[tuple[str, str]]] = {}
    for part in reached:
        for name, place in (*_imports(part), *_tables(part)):
            sources.setdefault(name, []).append(place)
    return Lazy(sources, any(_mentions_file(part) for part in reached))


def _roots(node: ast.stmt) -> Iterator[ast.AST]:
    """What decides which names a module gives, where a statement puts that in place."""
    if isinstance(node, ast.FunctionDef) and node.name == _HOOK:
        yield node
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            hooks = any(isinstance(name, ast.Name) and name.id == _HOOK for name in names)
            if hooks or ast.unparse(target).startswith("sys.modules[__name__]"):
                yield node.value


def _reached(roots: list[ast.AST], body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The roots, and the statements that make what they name."""
    makers: dict[str, list[ast.stmt]] = {}
    for node in body:
        for name in _made(node):
            makers.setdefault(name, []).append(node)
    seen: set[str] = set()
    todo = list(roots)
    while todo:
        part = todo.pop(0)
        yield part
        new = {node.id for node in walked(part) if isinstance(node, ast.Name)} - seen
        seen |= new
        todo += [maker for name in sorted(new) for maker in makers.get(name, ())]


def _made(node: ast.stmt) -> Iterator[str]:
    """The names whose value a statement makes or adds to."""
    changed: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        changed = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        changed = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        changed = [node.value.func]
    for target in changed:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def _imports(part: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    """What the imports inside a hook bind."""
    for node in walked(part):
        if isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for alias in node.names:
                yield alias.asname or alias.name, (source, alias.name)


def _tables(part: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    if isinstance(part, (ast.Assign, ast.AugAssign)):
        target = part.targets[0] if isinstance(part, ast.Assign) else part.target
        if isinstance(target, ast.Subscript):
            yield from _entry(target.slice, part.value)
    elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
        function = part.value.func  # table["module"].extend(["name"])
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Subscript):
            for argument in part.value.args:
                yield from _entry(function.value.slice, argument)
    for node in walked(part):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                yield from _entry(key, value)


def _entry(key: ast.expr | None, value: ast.expr) -> Iterator[tuple[str, tuple[str, str]]]:
    """What one item of a table says, whichever way round the table is."""
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return
    texts = list(_texts([value]))
    for text in texts:
        yield text, (key.value, text)
        yield key.value, (text.partition(":")[0], text.partition(":")[2] or key.value)
        if "." in text.lstrip("."):
            owner, _, name = text.rpartition(".")
            yield key.value, (owner, name)
    if len(texts) == 2:
        yield key.value, (texts[0], texts[1])


def _texts(values: Iterable[ast.expr]) -> Iterator[str]:
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value
        elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
            yield from _texts(value.elts)


def _mentions_file(part: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "__file__")
        or (isinstance(node, ast.Constant) and node.value == "__file__")
        for node in walked(part)
    )
