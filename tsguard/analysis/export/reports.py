"""An event for torch.export, recorded with whether the example gets there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.events import Gap
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin


# Rules of what raises where it stands, and of which a handler takes the error for one of eager's.
_RAISING = frozenset({"data-condition", "data-number", "outside-torch", "data-call", "given-attribute"})

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
    """Record what torch.export makes of a place, unless only another kind of run gets there.

    ``bare`` names the input that has to be a tensor for it; ``sure`` tells that every example gets there.
    """
    record = tracer.exports
    if tracer.tries and (record.missing if rule == "given-attribute" else record.catching):
        if rule.partition("/")[0] not in _RAISING:
            return
        rule, bare = _CAUGHT.get(rule, "held-value/caught"), ""
    if tracer.is_elsewhere():
        return
    event = tracer.event(rule, node, origin, **facts)
    if event is not None:
        is_sure = sure or (not tracer.branches and not any(frame.returned for frame in tracer.frames))
        record.add(event, is_sure=is_sure, input_=bare)


def not_known(tracer: Tracer, node: ast.AST, why: str) -> None:
    """Note what the source does not tell of torch.export."""
    tracer.exports.gaps.append(Gap(tracer.module, getattr(node, "lineno", 1), why))


def decided_by_kind_of_run(tracer: Tracer) -> None:
    """A condition asks whether torch compiles or traces: what it decides is not what export does."""
    inner = next((outer for outer in _around(tracer) if isinstance(outer, ast.If)), tracer.statement)
    tracer.exports.elsewhere.add(id(inner))


def _around(tracer: Tracer) -> tuple[ast.AST | None, ...]:
    return (tracer.statement, *reversed(tracer.enclosing))
