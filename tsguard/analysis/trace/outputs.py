"""The outputs of a forward: types that torch.jit.trace refuses or changes.

A size comes back as a tensor without dimensions that holds the size of the input at hand.  ``safe`` promises
the number, as parity compares it, and not the type: ``changed-output/size`` tells of that.
"""

from __future__ import annotations

import ast
import sys

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import (
    Derived,
    Fixed,
    Number,
    Opaque,
    Pieces,
    Traced,
    Untraced,
    is_method,
    parts,
)
from tsguard.language.rule_names import RuleName
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked

# What stands for an object in Python, and for nothing that a trace holds.
_OBJECTS = (
    py.Atom,
    py.IteratorValue,
    py.RangeValue,
    py.SetValue,
    py.SliceValue,
    py.ModuleValue,
    py.ModuleReference,
    py.FunctionValue,
    py.Partial,
    py.ClassValue,
)


def check(tracer: Tracer, value: py.Value, node: ast.AST) -> None:
    """Report what of a returned value a trace cannot give."""
    rule = refused(tracer, value)
    if rule:
        tracer.report(rule, node)
    elif _is_state(tracer, value):
        tracer.report("untraceable-output/state", node)
    elif (pieces := _pieces(value)) is not None:
        tracer.report("pieces-count", node, pieces.origin)
    elif any(type(part) is py.Unknown for part in _parts(value)):
        tracer.gap(node, "the source does not tell what is returned")
    elif isinstance(value, py.ListValue):
        tracer.report("changed-output/list", node)
    elif any(isinstance(part, Number) for part in _parts(value)):
        tracer.report("changed-output/size", node)


def _pieces(value: py.Value) -> Pieces | None:
    """The pieces of a size that a result is or holds."""
    return next((part for part in (value, *_parts(value)) if isinstance(part, Pieces)), None)


def _is_state(tracer: Tracer, value: py.Value) -> bool:
    """Whether a tensor is returned as it was before the call, and no operation of the trace has taken it.

    Parameters and buffers are inputs of the traced graph, and may be part of a result.
    """
    if isinstance(value, py.TensorValue) and value.role:
        return not isinstance(value, Traced) or value.of == "state"
    tensors = (part for part in parts([value]) if isinstance(part, py.TensorValue))
    used = tracer.state.used
    return any(tensor.outside and not tensor.role and id(tensor) not in used for tensor in tensors)


def check_kind(tracer: Tracer, function: py.FunctionValue, result: py.Value) -> None:
    """Report a forward that returns nothing, or that is no ordinary function: its call cannot be traced."""
    if py.is_none(result) and not tracer.outputs:
        with tracer.running(Frame(function.name, function.module)):
            tracer.report("untraceable-output/nothing", _last(function.node))
    if tracer.program.is_generator(function):
        nodes = walked(function.node)
        node = next((n for n in nodes if isinstance(n, (ast.Yield, ast.YieldFrom))), function.node)
        with tracer.running(Frame(function.name, function.module)):
            tracer.report("untraceable-output/generator", node)


def _last(node: FunctionNode) -> ast.AST:
    """Where a function ends that ends without a return."""
    return node.body if isinstance(node, ast.Lambda) else node.body[-1]


def _parts(value: py.Value) -> list[py.Value]:
    return list(value.items) if isinstance(value, (py.TupleValue, py.ListValue)) else [value]


def refused(tracer: Tracer, value: py.Value) -> RuleName | None:
    """The rule that an output breaks; None where torch.jit.trace takes it."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if not isinstance(value, py.TupleValue):
            rule = _refused(tracer, value)
            if rule:
                return rule
        elif id(value) not in seen:  # what holds twice what holds twice what... is looked at once
            seen.add(id(value))
            pending += value.items[::-1]
    return None


def _refused(tracer: Tracer, value: py.Value) -> RuleName | None:
    if py.is_none(value):
        return "untraceable-output/none"
    if isinstance(value, (py.Const, Untraced, Fixed)) or (isinstance(value, Number) and not value.live):
        return "untraceable-output/number"
    if isinstance(value, Opaque) and value.is_object:
        return "untraceable-output/object"
    if isinstance(value, (Traced, Derived, py.TensorValue)):
        return None
    if isinstance(value, py.DictValue):
        return "untraceable-output/dict"
    if isinstance(value, py.ListValue) and not isinstance(value, py.IteratorValue):
        return _refused_list(value)
    is_code = isinstance(value, py.External) and tracer.tables.is_code(value.name)
    if is_code or is_method(value) or isinstance(value, _OBJECTS):
        return "untraceable-output/object"
    if isinstance(value, py.ObjectValue) and isinstance(value.cls, py.ClassValue):
        is_tensor = ancestry.derives_from(tracer, value.cls, "torch.Tensor")
        return None if is_tensor else "untraceable-output/object"
    if isinstance(value, py.ObjectValue) and isinstance(value.cls, py.External):
        return "untraceable-output/object" if _is_plain(value.cls.name) else None
    return (
        "untraceable-output/number"
        if isinstance(value, py.Unknown) and value.hint in ("int", "float", "bool", "str")
        else None
    )


def _is_plain(name: str) -> bool:
    """Whether a class is one of Python's or of torch's whose instances hold no tensor for a trace."""
    root = name.partition(".")[0]
    return root in sys.stdlib_module_names or (root == "torch" and not name.endswith(("Tensor", "Parameter")))


def _refused_list(value: py.ListValue) -> RuleName | None:
    if not value.items:
        return None if value.open else "untraceable-output/empty"
    if all(
        isinstance(item, (py.TensorValue, Opaque, Number)) or type(item) is py.Unknown for item in value.items
    ):
        return None
    return "untraceable-output/list"
