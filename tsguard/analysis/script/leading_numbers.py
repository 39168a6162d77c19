"""``x.add(2, y)``: Python takes the number for the factor of y, an order of arguments that TorchScript does not have."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis.events import text_of
from tsguard.analysis.script import spelled_out
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.language.matching import Match


def check(fc: FunctionCompiler, found: Match, args: Sequence[Value], node: ast.AST) -> None:
    """``x.add(2, y)``: for TorchScript y is the alpha of the sum of x and 2, which does as well if it is a single element."""
    if not (isinstance(node, ast.Call) and any(c.argument == "alpha" for c in found.conversions)):
        return
    is_method = len(args) > len(node.args)
    instead = spelled_out.numbers_by_name(node, is_method=is_method)
    if instead is not None and not _is_single(node.args[-1]):
        facts = {"place": text_of(node), "form": "method" if is_method else "function", "instead": instead}
        fc.note(Refusal("number-before-tensor/alpha", node, **facts))


def _is_single(node: ast.expr) -> bool:
    """Whether a Tensor is the sum, or the like, of all elements of one: ``y.sum()``."""
    match node:
        case ast.Call(
            ast.Attribute(_, "max" | "mean" | "min" | "norm" | "prod" | "std" | "sum" | "var"), [], []
        ):
            return True
    return False
