"""``torch.autograd.Function``: its ``apply`` in a trace and in torch.export."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.python import autograd_functions
from tsguard.analysis.trace import captured, scopes, shaping
from tsguard.analysis.trace.alternatives import followed_aside
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.uses import lost_sight
from tsguard.analysis.trace.values import Traced, parts

Args = list[py.Value]
Kwargs = dict[str, py.Value]


def applied(tracer: Tracer, cls: py.ClassValue, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """``Function.apply(x)``: a trace records one operation, torch.export runs the forward of the class."""
    found = autograd_functions.forward_of(tracer, cls)
    met, tracer.state_met = tracer.state_met, False
    tracer.gradients_met = False
    is_crossed = is_captured = False
    if found is not None:
        function, context = found

        def run() -> None:
            nonlocal is_crossed, is_captured
            is_crossed, is_captured = captured.run_inside(tracer, args, crosses)

        def crosses(given: Args) -> bool:
            return scopes.crosses(tracer, lambda: tracer.call(function, [*context, *given], kwargs, node))

        followed_aside(tracer, run)
    if tracer.state_met:
        tracer.report("untraceable-call/function-state", node)
    elif is_crossed:
        tracer.report("untraceable-call/function-scope", node)
    elif is_captured:
        tracer.report("untraceable-call/function-captured", node)
    else:
        if captured.is_made_anew(tracer, args):
            tracer.report("function-made-anew", node)
        if tracer.given_inside is None:  # else the outer one hides it
            tracer.report("unsaveable-trace", node, function=cls.name)
    if tracer.gradients_met:
        tracer.report("untraceable-call/gradients", node)
    tracer.state_met = met
    lost_sight(tracer, [*args, *kwargs.values()])
    return tensor([*args, *kwargs.values()], node)


def gradients_given(tracer: Tracer, outputs: py.Value, given: py.Value | None) -> None:
    """Gradients are taken of outputs, for which others are ``given``: their shapes are compared, which a trace cannot do."""
    if given is None or py.is_none(given):
        return
    extents = [shaping.extent(tracer, part) for part in parts([outputs]) if isinstance(part, Traced)]
    tracer.gradients_met = tracer.gradients_met or any(e is None or e.rank != 0 for e in extents)
