"""Classes of a file that share attributes, as they derive from each other, and what sets such an attribute."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from tsguard.fixes.places import Function
from tsguard.report.records import dataclass
from tsguard.source import SourceFile
from tsguard.source.remembering import remembered
from tsguard.source.statements import statements
from tsguard.source.walking import walked


@remembered(64)
def class_definitions(tree: ast.Module) -> tuple[ast.ClassDef, ...]:
    """The classes of a module that nobody changes, wherever they are defined."""
    return tuple(node for node in statements(tree) if isinstance(node, ast.ClassDef))


def ancestry(file: SourceFile, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """A class and those of the file that it derives from."""
    named = {n.name: n for n in file.tree.body if isinstance(n, ast.ClassDef)}
    found = [owner]
    for child in found:
        above = (named.get(base.id) for base in child.bases if isinstance(base, ast.Name))
        found += [parent for parent in above if parent is not None and parent not in found]
    return found


def descendants(file: SourceFile, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of the file that derive from one."""
    classes = class_definitions(file.tree)
    return [cls for cls in classes if cls is not owner and owner in ancestry(file, cls)]


def relatives(file: SourceFile, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes whose methods may meet an object of a class as ``self``."""
    return [*ancestry(file, owner), *descendants(file, owner)]


def is_set_once(file: SourceFile, owner: ast.ClassDef, target: ast.expr) -> bool:
    """Whether the file sets an attribute of the objects of a class by one target only, and nothing within it."""
    name = target.attr if isinstance(target, ast.Attribute) else ""
    return [node for node in stores_of(file, owner, name) if node is not target] == []


def is_settled(file: SourceFile, owner: ast.ClassDef, name: str) -> bool:
    """Whether only constructors set an attribute of the objects of a class, and one of them does."""
    inits = [
        n for c in relatives(file, owner) for n in c.body if isinstance(n, Function) and n.name == "__init__"
    ]
    known = {id(node) for init in inits for node in walked(init)}
    stores = list(stores_of(file, owner, name))
    return bool(stores) and all(id(node) in known for node in stores)


def stores_of(file: SourceFile, owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    """What the file assigns that is an attribute of an object of the class, by its looks, or something within it."""
    attributes = _ATTRIBUTES.get(file)
    if attributes is None:
        attributes = _ATTRIBUTES[file] = _Attributes(_stores(file), _classes(file))
    stores = attributes.stores.get(name)
    kin = relatives(file, owner) if stores else []
    for node, inner in stores or ():
        if all(cls in kin for cls in attributes.classes.get(id(inner), ())):
            yield node


@dataclass(frozen=True, slots=True)
class _Attributes:
    """The attributes of a file: those that it sets, or sets something within, by name, and whose they are.

    ``stores`` are what is assigned and the attribute in it; ``classes`` those whose methods say ``self.act``, by the
    identity of the node.
    """

    stores: dict[str, list[tuple[ast.expr, ast.Attribute]]]
    classes: dict[int, list[ast.ClassDef]]


_ATTRIBUTES: WeakKeyDictionary[SourceFile, _Attributes] = WeakKeyDictionary()


def _stores(file: SourceFile) -> dict[str, list[tuple[ast.expr, ast.Attribute]]]:
    stores: dict[str, list[tuple[ast.expr, ast.Attribute]]] = {}
    for node in walked(file.tree):
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
            continue
        inner: ast.expr = node
        while isinstance(inner, (ast.Attribute, ast.Subscript)):
            if isinstance(inner, ast.Attribute):
                stores.setdefault(inner.attr, []).append((node, inner))
            inner = inner.value
    return stores


def _classes(file: SourceFile) -> dict[int, list[ast.ClassDef]]:
    classes: dict[int, list[ast.ClassDef]] = {}
    for cls in class_definitions(file.tree):
        for method in (n for n in cls.body if isinstance(n, Function) and n.args.args):
            self_ = method.args.args[0].arg
            for node in walked(method):
                if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == self_:
                    classes.setdefault(id(node), []).append(cls)
    return classes
