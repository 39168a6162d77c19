"""What a constructor argument's annotation tells of the type that torch will infer for it."""

from __future__ import annotations

import ast
import sys

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.language import types as t
from tsguard.source.walking import walked

_PLAIN = frozenset(
    [
        "int",
        "float",
        "bool",
        "str",
        "complex",
        "Tensor",
        "List",
        "list",
        "Tuple",
        "tuple",
        "Dict",
        "dict",
        "Optional",
        "None",
        "torch",
        "typing",
    ]
)
# Modules of the standard library whose names stand for many classes.
_ABSTRACT = frozenset(
    {"abc", "builtins", "collections", "enum", "numbers", "os", "typing", "typing_extensions"}
)


def plain_type(compiler: Compiler, value: py.Unknown) -> t.Type | None:
    """The type that an annotation of numbers, texts, tensors and containers of them spells."""
    from tsguard.analysis.script.annotations import annotation_type

    annotation, scope = value.annotation, value.scope
    if annotation is None or scope is None or isinstance(annotation, ast.Constant):
        return None
    named = {
        n.id if isinstance(n, ast.Name) else n.attr
        for n in walked(annotation)
        if isinstance(n, (ast.Name, ast.Attribute))
    }
    if not named <= _PLAIN:
        return None
    try:
        declared = annotation_type(compiler, annotation, scope)
    except Refusal:
        return None
    return declared.element if isinstance(declared, t.OptionalType) else declared


def declared_class(compiler: Compiler, value: py.Unknown) -> py.Value | None:
    """The class of which an annotation says that the argument is an instance; None if it may be of many."""
    found = _annotated(compiler, value)
    if isinstance(found, py.ClassValue) and not _stands_for_many(compiler, found):
        return found
    if isinstance(found, py.External) and found.name.rpartition(".")[2][:1].isupper():
        head = found.name.partition(".")[0]
        return found if head in sys.stdlib_module_names and head not in _ABSTRACT else None
    return None


def is_module(compiler: Compiler, value: py.Unknown) -> bool:
    """Whether an annotation says that the argument is an nn.Module."""
    found = _annotated(compiler, value)
    return found is not None and ancestry.is_module_class(compiler.interp, found)


def allows_none(value: py.Unknown) -> bool:
    """Whether an annotation says that the argument may be None."""
    return _allows_none(value.annotation)


def _allows_none(annotation: ast.expr | None) -> bool:
    if isinstance(annotation, ast.Subscript):
        members = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        name = _name(annotation.value)
        return name == "Optional" or (name == "Union" and any(map(_allows_none, members)))
    if isinstance(annotation, ast.BinOp):
        return _allows_none(annotation.left) or _allows_none(annotation.right)
    return annotation is not None and _is_none(annotation)


def _annotated(compiler: Compiler, value: py.Unknown) -> py.Value | None:
    """What a simple annotation names, None among its alternatives aside."""
    node, scope = _without_none(value.annotation), value.scope
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        node = ast.Name(node.value)
    if scope is None or not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    return compiler.interp.evaluate(node, scope)


def _stands_for_many(compiler: Compiler, cls: py.ClassValue) -> bool:
    abstract = ("abc.ABC", "typing.Protocol", "typing_extensions.Protocol", "torch.nn.Module")
    return ancestry.has_unknown_base(compiler.interp, cls) or any(
        ancestry.derives_from(compiler.interp, cls, name) for name in abstract
    )


def _without_none(annotation: ast.expr | None) -> ast.expr | None:
    """``X`` of ``Optional[X]`` and of ``X | None``."""
    if isinstance(annotation, ast.Subscript):
        return annotation.slice if _name(annotation.value) == "Optional" else None
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [side for side in (annotation.left, annotation.right) if not _is_none(side)]
        return sides[0] if len(sides) == 1 else None
    return annotation


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
