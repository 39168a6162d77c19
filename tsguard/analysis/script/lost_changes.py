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

_OUT_OF_PLACE = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Pow)
_NUMBERS = (t.INT, t.FLOAT, t.NUMBER, t.TENSOR)


def of_part(fc: FunctionCompiler, node: ast.AugAssign, target: ast.Subscript) -> None:
    """``mask[1:] |= other`` of a Tensor: what is computed is put nowhere.  By a Tensor of indices it is."""
    if isinstance(node.op, _OUT_OF_PLACE) and _is_view(fc, target.slice):
        fc.note(Refusal("lost-change", node, **_written_out(node)))


def remainder(fc: FunctionCompiler, node: ast.AugAssign, before: Value) -> None:
    """``n %= 2``: a float, which has the sign of ``n``."""
    if isinstance(node.op, ast.Mod) and before.type in _NUMBERS:
        given = "a Tensor" if before.type is t.TENSOR else "a float"
        fc.note(Refusal("lost-change/remainder", node, **_written_out(node), given=given))


def _written_out(node: ast.AugAssign) -> dict[str, str]:
    """``target op= value`` as it reads, and as an assignment of what is computed, in parentheses where they are needed."""
    target = text_of(node.target)
    computed = ast.BinOp(ast.Name(ast.unparse(node.target)), node.op, node.value)
    return {"target": target, "expression": text_of(node), "computed": text_of(computed)}


def _is_view(fc: FunctionCompiler, index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(_is_plain(fc, part) for part in parts)


def _is_plain(fc: FunctionCompiler, part: ast.expr) -> bool:
    if isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...)):
        return True
    return fc.expression(part).type is t.INT
