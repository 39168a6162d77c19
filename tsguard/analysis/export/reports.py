"""Events for torch.export, recorded with whether the example reaches them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.events import Gap
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin
    from tsguard.analysis.trace.shapes.dims import Unbacked


# Rules of what raises where it stands, and of which a handler takes the error for one of eager's.
_RAISING = frozenset({"data-condition", "data-number", "outside-torch", "data-call", "given-attribute"})

_MAY_BE_MASK = "the source does not tell whether an index is a tensor of indices or a mask"

_CAUGHT: dict[RuleName, RuleName] = {"given-attribute": "held-value/given"}


def report(
    tracer: Tracer,
    rule: RuleName,
    node: ast.AST | None,
    origin: Origin | None = None,
    *,
    bare: str = "",
    sure: bool = False,
    **facts: str,
) -> None:
    """Record what torch.export makes of a place.

    ``bare`` names the input that has to be a tensor for it; ``sure`` tells that every example gets there.
    """
    record = tracer.exports
    if tracer.tries and (record.missing if rule == "given-attribute" else record.catching):
        if rule.partition("/")[0] not in _RAISING:
            return
        rule, bare = _CAUGHT.get(rule, "held-value/caught"), ""
    event = tracer.event(rule, node, origin, **facts)
    if event is not None:
        record.add(event, is_sure=sure or is_reached(tracer), input_=bare)


def is_reached(tracer: Tracer) -> bool:
    """Whether every example gets to what runs."""
    return not tracer.branches and not any(frame.returned for frame in tracer.frames)


def report_backed(
    tracer: Tracer, unbacked: Unbacked, rule: RuleName, node: ast.AST | None, origin: Origin
) -> None:
    """Record what torch.export makes of a number that it knows or has a symbol for, as ``unbacked`` tells."""
    if unbacked == "data" and _is_input_itself(origin):
        report(tracer, rule, node, origin, compile="unknown")
    elif unbacked == "data":
        report(tracer, rule, node, origin)
    elif unbacked == "maybe" and node is not None:
        not_known(tracer, node, _MAY_BE_MASK)


def _is_input_itself(origin: Origin) -> bool:
    """Whether a number is that of an input or a buffer as it is, ``n.item()``: torch.compile takes it if that has no dimensions."""
    first, step = None, origin
    while step.parent is not None:
        first, step = step.node, step.parent
    if not isinstance(first, ast.Call):
        return False
    is_method = isinstance(first.func, ast.Attribute) and first.func.attr == "item"
    if is_method and isinstance(first.func, ast.Attribute):
        return isinstance(first.func.value, (ast.Name, ast.Attribute))
    is_cast = isinstance(first.func, ast.Name) and first.func.id in ("int", "float")
    return is_cast and any(isinstance(arg, (ast.Name, ast.Attribute)) for arg in first.args)


def not_known(tracer: Tracer, node: ast.AST, why: str) -> None:
    """Note what the source does not tell of torch.export."""
    tracer.tellings += 1
    tracer.exports.gaps.append(Gap(tracer.module, getattr(node, "lineno", 1), why))
