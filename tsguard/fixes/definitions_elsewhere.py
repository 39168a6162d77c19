"""Functions and classes by the names that a file calls them by, in whichever file of the project they are defined."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.relatives import ancestry, stores_of
from tsguard.project.finding import Finder
from tsguard.source import SourceFile, Span
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.project.modules import Module


# Names are handed on from file to file; who goes further is lost.
_FARTHEST = 4


@remembered(8)
def _finder(file: SourceFile) -> Finder:
    """What a file imports, as it is while that text of it is judged."""
    return Finder()


def defined(module: Module, name: str) -> tuple[Module, Function] | None:
    """The one function that a name means at the top of a file, with the file that defines it."""
    found = _definition(module, name)
    return _function_of(found) if found is not None and isinstance(found[1], Function) else None


def called(module: Module, span: Span, function: ast.expr) -> tuple[Module, Function] | None:
    """The one function that a call at a place runs, with its file: a method, the ``forward`` of a submodule, a constructor."""
    inside = class_around(module.file, span)
    root = next((n.id for n in ast.walk(function) if isinstance(n, ast.Name)), "")
    if any(root in _bound(outer) - {"self"} for outer in functions_around(module.file, span)):
        return None
    if isinstance(function, ast.Name):
        return _function_of(_definition(module, function.id))
    if not isinstance(function, ast.Attribute):
        return None
    there = _imported(module, function.value.id) if isinstance(function.value, ast.Name) else None
    if there is not None or inside is None:
        return _function_of(_definition(there, function.attr)) if there is not None else None
    kin, owner = ancestry(module.file, inside), ast.unparse(function.value)
    if owner.startswith("super("):
        return _method(module, kin[1:], function.attr)
    if owner != "self":
        return None
    # What is assigned to the module comes before what its class has.
    assigned = any(True for _ in stores_of(module.file, inside, function.attr))
    return _of_submodule(module, inside, function.attr) if assigned else _method(module, kin, function.attr)


def _bound(function: Function) -> set[str]:
    """The names that a function gives a meaning of its own."""
    found = set()
    for node in walked(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node is not function:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def _function_of(found: tuple[Module, Function | ast.ClassDef] | None) -> tuple[Module, Function] | None:
    """What a call of a definition runs."""
    if found is None:
        return None
    there, node = found
    return (there, node) if isinstance(node, Function) else _method(there, [node], "__init__")


def _imported(module: Module, name: str) -> Module | None:
    """The module of the project that a name stands for."""
    bindings = module.bindings.get(name, [])
    node = bindings[0].node if len(bindings) == 1 else None
    alias = next((a for a in getattr(node, "names", ()) if (a.asname or a.name) == name), None)
    if alias is None or not isinstance(node, (ast.Import, ast.ImportFrom)):
        return None
    dotted = f"{module.absolute(node)}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
    found = _finder(module.file).find(dotted, module)
    return found if found is not None and found.root == module.root else None


def _definition(module: Module, name: str) -> tuple[Module, Function | ast.ClassDef] | None:
    finder = _finder(module.file)
    for _ in range(_FARTHEST):
        bindings = module.bindings.get(name, [])
        node = bindings[0].node if len(bindings) == 1 else None
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return module, node
        if not isinstance(node, ast.ImportFrom):
            return None
        found = next((a.name for a in node.names if (a.asname or a.name) == name), None)
        there = finder.find(module.absolute(node), module)
        if found is None or there is None or there.root != module.root:
            return None
        module, name = there, found
    return None


def _method(module: Module, classes: list[ast.ClassDef], name: str) -> tuple[Module, Function] | None:
    """The method that the first of the classes has which has one of that name."""
    for owner in classes:
        found = [n for n in owner.body if isinstance(n, Function) and n.name == name]
        if found:
            return (module, found[0]) if len(found) == 1 else None
    return None


def _of_submodule(module: Module, owner: ast.ClassDef, attribute: str) -> tuple[Module, Function] | None:
    """The ``forward`` of the class whose instance a module holds under a name, where only one is assigned."""
    values = [
        n.value
        for n in walked(owner)
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [f"self.{attribute}"]
    ]
    made = values[0].func if len(values) == 1 and isinstance(values[0], ast.Call) else None
    found = _definition(module, made.id) if isinstance(made, ast.Name) else None
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    return _method(found[0], ancestry(found[0].file, found[1]), "forward")
