"""How elements lie in memory: what does not lie in order is copied by ``reshape``, which computes the size that is left.

For -1 it asks then whether the product of the others is 0, which a size that depends on data does not tell.
Asked of torch 2.13 with rows that a mask selects, turned and cut in several ways.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import not_known, report_backed
from tsguard.analysis.trace.values import Traced, parts, unbacked_of

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin

Args = list[py.Value]
Kwargs = dict[str, py.Value]

_TURNING = frozenset(["transpose", "permute", "t", "T", "mT", "swapaxes", "swapdims", "movedim", "moveaxis"])
_CUTTING = frozenset({"expand", "expand_as", "broadcast_to", "narrow", "select"})
_DIVIDING = frozenset({"chunk", "split", "unbind", "tensor_split"})
# What gives its result the order of its operand, where that has no gaps.
_FOLLOWING = frozenset(
    [
        "abs", "add", "clamp", "clone", "detach", "div", "dropout", "exp", "float", "gelu", "half", "log", "masked_fill",
        "mul", "neg", "pow", "relu", "sigmoid", "silu", "sqrt", "sub", "tanh", "to", "type_as",
    ]
)  # fmt: skip


def reshaped(tracer: Tracer, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """``x.reshape(n, -1)``."""
    sizes = parts([*args[1:], *kwargs.values()])
    unbacked = unbacked_of(sizes)
    if not unbacked or not any(py.constant(size) == -1 for size in sizes):
        return
    is_disordered = _is_disordered(tensor.origin)
    if is_disordered:
        report_backed(tracer, unbacked, "data-call/rest", node, tensor.origin)
    elif is_disordered is None:
        not_known(tracer, node, "the source does not tell whether the elements of a tensor lie in order")


def _is_disordered(origin: Origin) -> bool | None:
    """Whether a tensor was turned or cut since its elements lay in order; None where that may have come to nothing."""
    turned, is_widened, is_dense = 0, False, False
    step: Origin | None = origin
    while step is not None:
        node, step = step.node, step.parent
        name = _name(node)
        if name in _TURNING:
            turned += 1
        elif name == "unsqueeze":
            is_widened = True
        elif _is_of_each(node) or name in _FOLLOWING:
            is_dense = True
        elif not _cuts(node, name):
            break
        elif not is_dense:
            return True
        else:
            break
    return None if turned > 1 or (turned and is_widened) else bool(turned)


def _is_of_each(node: ast.AST | None) -> bool:
    """Whether an operator computes element by element."""
    return isinstance(node, ast.UnaryOp) or (
        isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult)
    )


def _name(node: ast.AST | None) -> str:
    """The operation of a step, where it has a name."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Attribute):
        return function.attr
    return ""


def _cuts(node: ast.AST | None, name: str) -> bool:
    """Whether a step leaves out a part of each row."""
    if isinstance(node, ast.Subscript):
        key = node.slice
        return (
            isinstance(key, ast.Tuple) and all(map(_is_plain, key.elts)) and any(map(_leaves, key.elts[1:]))
        )
    if name in _DIVIDING and isinstance(node, ast.Call):
        along = node.args[-1:] + [keyword.value for keyword in node.keywords if keyword.arg == "dim"]
        return len(node.args) + len(node.keywords) > 1 and getattr(along[-1], "value", None) != 0
    return name in _CUTTING


def _is_plain(key: ast.expr) -> bool:
    """Whether an index takes what lies beside each other, not by a list of places."""
    return isinstance(key, (ast.Slice, ast.Constant))


def _leaves(key: ast.expr) -> bool:
    if isinstance(key, ast.Slice):
        return key.lower is not None or key.upper is not None
    return isinstance(key, ast.Constant) and isinstance(key.value, int)
