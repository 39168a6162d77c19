"""Tensors passed to ``int`` parameters: TorchScript converts integer tensors, and raises for floats."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.results import OwnSchema
from tsguard.analysis.script.sugared import Args, Kwargs
from tsguard.language import types as t
from tsguard.language.matching import Match
from tsguard.source.walking import walked

_FLOATS = frozenset(
    [
        "mean", "std", "var", "norm", "softmax", "log_softmax", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt",
        "rand", "randn", "rand_like", "randn_like", "float", "half", "double", "linspace", "cos", "sin",
    ]
)  # fmt: skip
# Methods whose result has the dtype of the Tensor, if that is one of floats.
_KEPT = frozenset(
    ["sum", "prod", "max", "min", "amax", "amin", "abs", "clamp", "round", "floor", "ceil", "median"]
)


def passed(fc: FunctionCompiler, found: Match, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """Report Tensors of floats that an own function takes as ints."""
    wanted = {c.argument for c in found.conversions if c.given is t.TENSOR and c.wanted is t.INT}
    if not wanted or not isinstance(found.schema, OwnSchema):
        return
    given = dict(zip((argument.name for argument in found.schema.arguments), args, strict=False))
    for name, value in {**given, **kwargs}.items():
        if name in wanted and isinstance(value.node, ast.expr) and _is_float(fc, value.node, set()):
            facts = {"expression": text_of(value.node), "parameter": name, "function": found.schema.name}
            fc.note(Refusal("result-kind/argument", node, **facts))


def _is_float(fc: FunctionCompiler, node: ast.expr, asked: set[str]) -> bool:
    """Whether a Tensor evidently holds floats: it is made so."""
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, ast.Div) or any(_is_float(fc, side, asked) for side in sides)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_float(fc, node.operand, asked)
    if isinstance(node, ast.Subscript):
        return not isinstance(node.value, ast.Name) and _is_float(fc, node.value, asked)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not _has_dtype(node):
        name = node.func.attr
        return name in _FLOATS or (name in _KEPT and _is_float(fc, node.func.value, asked))
    return isinstance(node, ast.Name) and _is_float_name(fc, node.id, asked)


def _has_dtype(node: ast.Call) -> bool:
    return any(keyword.arg == "dtype" for keyword in node.keywords)


def _is_float_name(fc: FunctionCompiler, name: str, asked: set[str]) -> bool:
    """Whether all that a name is given are Tensors of floats; what a parameter is given is not told."""
    if name in asked:
        return True
    asked.add(name)
    stored = [
        n
        for n in walked(fc.node)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]
    given = [n for n in walked(fc.node) if isinstance(n, ast.Assign) and text_of(n.targets[0]) == name]
    if name in {argument.name for argument in fc.signature.arguments} or len(given) != len(stored):
        return False
    return bool(given) and all(_is_float(fc, each.value, asked) for each in given)
