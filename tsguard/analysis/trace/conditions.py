"""The truth value of traced values in conditions."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import data, sizes
from tsguard.analysis.python import object_truths, operations
from tsguard.analysis.terms import rests_on_place
from tsguard.analysis.trace import captured
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import CONDITION_OF, FIXED_CONDITION, VARIED, asked, checked
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import Fixed, Number, Opaque, Shape, Traced, Untraced
from tsguard.language.rule_names import RuleName

OPEN_SHAPES = "the source does not tell whether two tensors always have the same shape"


def decide(tracer: Tracer, value: py.Value, node: ast.AST | None, form: str) -> bool | None:
    """The truth of a value, None where it is open; what the trace bakes is reported.

    ``form`` names what asks: "if", "while", "assert", "conditional", "boolean", "filter",
    "match" or "condition".
    """
    value = tracer.settled(value)
    data.asked(tracer, value, node)
    if form == "boolean" and tracer.check is not None:
        node, form = tracer.check, "assert"
    captured.computed_with(tracer, value)
    if isinstance(value, Traced):
        known = _of_elements(tracer, value)
        if known is None or value.of != "inputs":
            _ask_tensor(tracer, value, node, form)
        return known
    if isinstance(value, Number):
        return _of_number(tracer, value, node, form)
    if isinstance(value, Fixed):
        return _of_fixed(tracer, value, node)
    if isinstance(value, Untraced):
        used(tracer, [value], node)
        return None
    if isinstance(value, (py.TensorValue, Opaque)):
        return None
    if isinstance(value, Shape):
        return True
    if isinstance(value, py.Unknown):
        return _of_unknown(tracer, value)
    if isinstance(value, py.ObjectValue):
        return object_truths.is_true(tracer, value, node)
    return operations.known_truth(value)


def _of_unknown(tracer: Tracer, value: py.Unknown) -> bool | None:
    """As the world answers it that was asked, or that takes a default for it; else as on the way there."""
    if value.term is None or rests_on_place(value.term):
        return None if value.default is None else operations.known_truth(value.default)
    if value.default is not None:
        return tracer.world.decide(value.term, operations.known_truth(value.default))
    given = tracer.world.given_answer(value.term)
    return tracer.assumption(value) if given is None else given


def _of_number(tracer: Tracer, value: Number, node: ast.AST | None, form: str) -> bool | None:
    if value.known is not None:
        return None if isinstance(value.known, py.Unknown) else operations.known_truth(value.known)
    if _is_of_no_empty_input(tracer, value):
        tracer.report("untraced-check/empty", node, value.origin)
        return True
    _ask_number(tracer, value, node, form)
    return None


def _is_of_no_empty_input(tracer: Tracer, value: Number) -> bool:
    """Whether a number is a size that is 0 only where an input is empty."""
    dim = None if tracer.serves_others else dim_of(value)
    least = None if dim is None else tracer.facts.resolved(dim).least()
    return least is not None and least > 0


def _ask_tensor(tracer: Tracer, value: Traced, node: ast.AST | None, form: str) -> None:
    if value.of == "inputs":
        tracer.report(_rule(tracer, value, form), node, value.origin)
    elif form != "assert":
        tracer.asked.setdefault(value.origin.root.name, set()).add(id(tracer.statement))
        tracer.report(CONDITION_OF[value.of], node, value.origin)


def _of_elements(tracer: Tracer, value: Traced) -> bool | None:
    """The truth of a tensor of which all elements are one number from the start."""
    if value.filling is None:
        return None
    known = operations.default_of(tracer.settled(value.filling))
    return operations.known_truth(known) if isinstance(known, py.Const) else None


def _ask_number(tracer: Tracer, value: Number, node: ast.AST | None, form: str) -> None:
    if value.lost and form not in ("assert", "while"):
        tracer.gap(node, OPEN_SHAPES)
    elif value.live:
        if form == "while":
            sizes.wanted(tracer, "fixed-size/range", [value], node)
        elif form != "assert":
            sizes.decided(tracer, value, node)
        tracer.report(_rule(tracer, value, form), node, value.origin)
    elif form == "assert" and isinstance(node, ast.expr):
        with tracer.checking(node):
            used(tracer, [value], node)
    else:
        used(tracer, [value], node)


def _rule(tracer: Tracer, value: Traced | Number, form: str) -> RuleName:
    how = form if form in ("assert", "while") else "condition"
    return checked(value, serves_others=tracer.serves_others) if how == "assert" else asked(value, how)


def _of_fixed(tracer: Tracer, value: Fixed, node: ast.AST | None) -> bool | None:
    if tracer.varies(value.origin, value.about):
        tracer.report(VARIED[value.about], node, value.origin)
    elif value.about in FIXED_CONDITION:
        tracer.report(FIXED_CONDITION[value.about], node, value.origin)
    return None if value.default is None else operations.known_truth(value.default)
