"""Numbers of Tensors that an int cuts: a variable that starts as an int stays one, and loses the fraction.

Torch converts what ``.item()`` gives without a word.  Only what computes floats for certain is told: the numbers
of most Tensors that are counted with are whole.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import text_of
from tsguard.analysis.script import spelled_out
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.language import types as t
from tsguard.source.walking import walked

_MAKING_FLOATS = frozenset(
    {
        "cos", "cosine_similarity", "cross_entropy", "dist", "double", "erf", "exp", "float", "half", "kl_div", "log",
        "log10", "log1p", "log2", "log_softmax", "logsumexp", "mean", "nanmean", "norm", "rand", "randn", "reciprocal",
        "rsqrt", "sigmoid", "sin", "softmax", "softplus", "sqrt", "std", "tan", "tanh", "uniform_", "var",
    }
)  # fmt: skip
_KEEPING_TYPES = frozenset(
    {
        "abs", "amax", "amin", "clamp", "cpu", "detach", "flatten", "max", "median", "min", "prod", "reshape", "squeeze",
        "sum", "view",
    }
)  # fmt: skip


def kept_as_int(fc: FunctionCompiler, name: str, value: Value, outer: Value, node: ast.AST) -> None:
    """Note an assignment of a number that is a float for certain to a variable that is an int outside its block."""
    if value.type is not t.NUMBER or outer.type is not t.INT:
        return
    for read in _items(fc.node, node):
        if _makes_floats(fc.node, read):
            start = spelled_out.as_float(spelled_out.start_of(fc.node, name))
            facts = {"name": name, "expression": f"{text_of(read)}.item()", "start": start}
            fc.note(Refusal("number-accumulates-tensor/cut", node, **facts))
            return


def _items(function: ast.FunctionDef, target: ast.AST) -> Iterator[ast.expr]:
    """The Tensors whose ``.item()`` the statement that assigns to a target reads."""
    for statement in walked(function):
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or target not in targets:
            continue
        for call in walked(statement.value):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "item"
            ):
                yield call.func.value


def _makes_floats(function: ast.FunctionDef, node: ast.expr, named: frozenset[str] = frozenset()) -> bool:
    if isinstance(node, ast.Call):
        owner, _, word = text_of(node.func).rpartition(".")
        if not owner or owner == "self":
            return False  # a function of the user's own, whatever it is called
        if word in _KEEPING_TYPES and isinstance(node.func, ast.Attribute):
            return _makes_floats(function, node.func.value, named)
        return word in _MAKING_FLOATS or word.endswith("_loss")
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, ast.Div) or any(_makes_floats(function, side, named) for side in sides)
    if isinstance(node, ast.Subscript):
        return _makes_floats(function, node.value, named)
    if not isinstance(node, ast.Name) or node.id in named:
        return False
    assigned = [n for n in walked(function) if isinstance(n, ast.Assign) and text_of(n.targets[0]) == node.id]
    return bool(assigned) and all(_makes_floats(function, n.value, named | {node.id}) for n in assigned)
