"""Augmented assignments that do something else in TorchScript: nothing at all, or the remainder of C.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``getAugOp``, ``emitAugAssignmentToSubscript``): ``|=``, ``&=``, ``^=``
and ``**=`` have no operator that works in place, and ``%=`` is ``fmod``.
"""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.language import types as t

_SIGNS = {ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.Pow: "**"}
_NUMBERS = (t.INT, t.FLOAT, t.NUMBER, t.TENSOR)


def of_part(fc: FunctionCompiler, node: ast.AugAssign, target: ast.Subscript) -> None:
    """``mask[1:] |= other`` of a Tensor: what is computed is put nowhere.  By a Tensor of indices it is."""
    sign = _SIGNS.get(type(node.op))
    if sign is None or fc.raising or not _is_view(fc, target.slice):
        return
    facts = {
        "target": text_of(target),
        "expression": text_of(node),
        "plain": f"{text_of(target)} {sign} {text_of(node.value)}",
    }
    fc.compiler.report(Refusal("lost-change", node, **facts), fc.module)


def remainder(fc: FunctionCompiler, node: ast.AugAssign, before: Value) -> None:
    """``n %= 2``: a float, which has the sign of ``n``."""
    if isinstance(node.op, ast.Mod) and before.type in _NUMBERS and not fc.raising:
        facts = {
            "target": text_of(node.target),
            "expression": text_of(node),
            "value": text_of(node.value),
            "plain": "%",
        }
        fc.compiler.report(Refusal("lost-change/remainder", node, **facts), fc.module)


def _is_view(fc: FunctionCompiler, index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(_is_plain(fc, part) for part in parts)


def _is_plain(fc: FunctionCompiler, part: ast.expr) -> bool:
    if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)):
        return True
    return fc.expression(part).type is t.INT
