"""Empty containers: the type that torch gives an empty literal, and where it does not fit.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitListLiteral``, ``prim::DictConstruct``).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis.script import spelled_out
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.source.walking import walked

_TAKES_ELEMENT = {
    "append": 1,
    "remove": 1,
    "index": 1,
    "count": 1,
    "__contains__": 1,
    "insert": 2,
    "_set_item": 2,
}
_TAKES_LIST = frozenset({"extend", "add", "add_"})


def misfit(fc: FunctionCompiler, value: Value, needed: t.Type, node: ast.AST) -> Refusal | None:
    """The refusal for a variable that starts empty and is used as another type; None for other values.

    The variable's type is left open, so that the one cause is reported once.
    """
    if not value.untyped or is_subtype(value.type, needed) or type(needed) is not type(value.type):
        return None
    if _holds_tensors(fc, value.untyped, node):
        return None
    literal = "[]" if isinstance(value.type, t.ListType) else "{}"
    fc.frame.leave_open(value.untyped)
    facts = {"name": value.untyped, "literal": literal, "before": value.type, "now": needed}
    facts["annotation"] = spelled_out.annotation(needed)
    return Refusal("empty-container-type", node, **facts)


def _holds_tensors(fc: FunctionCompiler, name: str, node: ast.AST) -> bool:
    """Whether a Tensor was put into a list before: another annotation would be refused there."""
    before = getattr(node, "lineno", 0)
    for put in walked(fc.node):
        if getattr(put, "lineno", before) >= before:
            continue
        elements: list[ast.expr] = []
        if isinstance(put, ast.Call) and isinstance(put.func, ast.Attribute) and put.func.attr == "append":
            elements = put.args if ast.unparse(put.func.value) == name else []
        elif isinstance(put, ast.AugAssign) and isinstance(put.value, ast.List):
            elements = put.value.elts if ast.unparse(put.target) == name else []
        if any(fc.attempt(element).type is t.TENSOR for element in elements):
            return True
    return False


def needed_for(operator: str, args: Sequence[Value]) -> t.Type | None:
    """The type that the first argument, a container, would need for an operator; None if it tells nothing."""
    if not args or not args[0].untyped:
        return None
    types = [value.type for value in args]
    if isinstance(types[0], t.DictType):
        return t.DictType(types[1], types[2]) if operator == "_set_item" and len(types) == 3 else None
    position = _TAKES_ELEMENT.get(operator, len(types))
    if position < len(types):
        return t.ListType(types[position])
    return types[1] if operator in _TAKES_LIST and len(types) == 2 else None
