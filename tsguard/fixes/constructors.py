"""Constructors that are given one thing more to hold: where they can take it, and whether all that reads it finds it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from tsguard.fixes.blocks import inserted_after, inserted_before, receiver
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import descendants
from tsguard.report import Edit
from tsguard.source import SourceFile
from tsguard.source.walking import walked


def constructor_of(owner: ast.ClassDef) -> Function | None:
    """The ``__init__`` that a class itself has."""
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    return inits[0] if len(inits) == 1 and receiver(inits[0]) is not None else None


def held_first(file: SourceFile, owner: ast.ClassDef, line: str) -> Edit | None:
    """The edit that puts a line below ``super().__init__()``, or first where that is not called."""
    init = constructor_of(owner)
    if init is None or _is_left_out(file, owner):
        return None
    called = _calls_of_super(init)
    if called:
        return inserted_after(file, called[0], line)
    first = init.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return inserted_after(file, first, line) if is_text else inserted_before(file, first, line)


def held_last(
    file: SourceFile, owner: ast.ClassDef, readers: Collection[Function], *lines: str
) -> Edit | None:
    """The edit that puts lines at the end of a constructor; None where it is left earlier, or calls what reads them."""
    init = constructor_of(owner)
    if init is None or not _calls_of_super(init) or _is_left_out(file, owner):
        return None
    leaves = any(isinstance(n, ast.Return) for n in walked(init)) or isinstance(init.body[-1], ast.Raise)
    if leaves or any(method in readers for method in _reached(owner, init)):
        return None
    return inserted_after(file, init.body[-1], *lines)


def _calls_of_super(init: Function) -> list[ast.stmt]:
    """The statements of a constructor that call that of its parent."""
    texts = [(n, ast.unparse(n)) for n in init.body if isinstance(n, ast.Expr)]
    return [n for n, text in texts if ".__init__(" in text and not text.startswith("self.")]


def _is_left_out(file: SourceFile, owner: ast.ClassDef) -> bool:
    """Whether a class that derives from one has a constructor of its own that does not call that one."""
    for child in descendants(file, owner):
        init = constructor_of(child)
        if init is not None and not any(
            text.startswith(("super(", f"{owner.name}.")) for text in map(ast.unparse, _calls_of_super(init))
        ):
            return True
    return False


def _reached(owner: ast.ClassDef, init: Function) -> list[Function]:
    """The methods and properties of a class that its constructor may run."""
    found = [init]
    for method in found:
        self_ = receiver(method)
        read = {
            n.attr for n in walked(method) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == self_
        }
        found += [n for n in owner.body if isinstance(n, Function) and n.name in read and n not in found]
    return found
