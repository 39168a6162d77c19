"""The sides of a branch: whether it matters which of them runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tsguard.analysis.mode import raising, twins
from tsguard.analysis.mode.choices import truths
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import Raised
from tsguard.analysis.values import External
from tsguard.source.layouts import lays_out

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

_REMARKS = re.compile(r"_?(check|validate|assert|verify|log|warn|print|debug|info|error|exception)\w*")
RECORDING = frozenset(
    [
        *(f"torch.{name}" for name in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")),
        "torch.autograd.grad_mode.set_grad_enabled",
        "contextlib.nullcontext",
    ]
)
"""Contexts that decide whether gradients are recorded, or nothing: no value hangs on them."""


def differ(walk: ModeInterpreter, body: list[ast.stmt], orelse: list[ast.stmt], scope: Scope) -> bool:
    """Whether it matters which side of a branch runs."""
    if not has_effect(body) and not has_effect(orelse):
        return walk.catching > 0 and raising.is_in([*body, *orelse])
    return not are_twins(walk, body, orelse, scope)


def are_twins(
    walk: ModeInterpreter, body: Sequence[ast.AST], orelse: Sequence[ast.AST], scope: Scope
) -> bool:
    """Whether both sides compute the same, each in its way."""
    return twins.compute_the_same(
        body,
        orelse,
        partial(_skipped, walk, scope),
        partial(_decided, walk, scope),
        lambda node: is_recording(walk, node, scope),
    )


def _decided(walk: ModeInterpreter, scope: Scope, test: ast.expr) -> bool | None:
    """The answer to a condition over attributes of the module alone, in either mode."""
    if any(isinstance(node, ast.Name) and node.id != "self" for node in ast.walk(test)):
        return None
    try:
        train, other = truths(walk, walk.plain.evaluate(test, scope))
    except Raised:
        return None
    return train if train == other else None


def _skipped(walk: ModeInterpreter, scope: Scope, called: ast.expr) -> int:
    try:
        value = walk.plain.evaluate(called, scope)
    except Raised:
        return 0
    return twins.CHECKPOINTS.get(value.name, 0) if isinstance(value, External) else 0


def has_effect(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do more than check, remark, and lay out anew what is there."""
    return any(not is_remark(statement) for statement in body)


def is_remark(node: ast.stmt) -> bool:
    """Whether a statement checks, says or lays out something, and does no more."""
    if isinstance(node, ast.If):
        return not has_effect(node.body) and not has_effect(node.orelse)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return bool(_REMARKS.fullmatch(name))
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_none = isinstance(node, (ast.Raise, ast.Assert, ast.Pass))
    return is_text or is_none or lays_out(node) or _is_of_gradients(node)


_OF_GRADIENTS = frozenset({"requires_grad_", "retain_grad"})


def _is_of_gradients(node: ast.stmt) -> bool:
    """``x = x.detach()``, ``x.retain_grad()``: what gradients flow, and no value, hangs on it."""
    if not isinstance(node, (ast.Assign, ast.Expr)) or not isinstance(node.value, ast.Call):
        return False
    method = node.value.func
    if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Name):
        return False
    if isinstance(node, ast.Expr):
        return method.attr in _OF_GRADIENTS
    (target, *more) = node.targets
    is_itself = isinstance(target, ast.Name) and target.id == method.value.id
    return is_itself and not more and method.attr == "detach"


def is_recording(walk: ModeInterpreter, node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a context that decides whether gradients are recorded, and no value."""
    try:
        value = walk.plain.evaluate(node.func, scope) if isinstance(node, ast.Call) else None
    except Raised:
        return False
    return isinstance(value, External) and value.name in RECORDING
