"""Activation checkpoints: the reentrant kind hides the function that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace import captured
from tsguard.analysis.trace.context import Tracer

Args = list[py.Value]
Kwargs = dict[str, py.Value]

_OPTIONS = frozenset(
    {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)


def checkpoint(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``checkpoint(function, *args)``: reentrant unless it says False (torch/utils/checkpoint.py).

    The reentrant kind is one operation of the trace, which calls the function anew each time: nothing in it is frozen.
    """
    if not args:
        return None
    given = {name: value for name, value in kwargs.items() if name not in _OPTIONS}

    def run(inside: Args) -> py.Value:
        known = len(tracer.events)
        result = tracer.call(args[0], inside, given, node)
        if py.constant(kwargs.get("use_reentrant", py.TRUE)) is True:
            tracer.drop_events(known)
        return result

    return _run(tracer, args[1:], run, kwargs, node, captured.is_made_anew(tracer, args))


def sequential(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value:
    """``checkpoint_sequential(functions, segments, input)``: all but the last segment as checkpoints."""
    given = {**dict(zip(("functions", "segments", "input"), args, strict=False)), **kwargs}
    layers, segments, input_ = (given.get(name, py.Unknown()) for name in ("functions", "segments", "input"))
    called = layers.items if isinstance(layers, (py.ListValue, py.TupleValue)) else [layers]

    def run(given: Args) -> py.Value:
        (result,) = given
        for layer in called:
            result = tracer.call(layer, [result], {}, node)
        return result

    if py.constant(segments) == 1:
        return run([input_])
    return _run(tracer, [input_], run, kwargs, node, is_anew=True)


def _run(
    tracer: Tracer,
    args: Args,
    run: Callable[[Args], py.Value],
    kwargs: Kwargs,
    node: ast.AST,
    is_anew: bool,
) -> py.Value:
    """A module that runs within the function of the reentrant kind is strange to the trace, as is what it captures.

    Args:
        is_anew: whether another function is checkpointed each time.
    """
    met, tracer.state_met = tracer.state_met, False
    kind = tracer.settled(kwargs.get("use_reentrant", py.NONE))
    is_reentrant = py.constant(kind) is not False
    result, is_captured = captured.run_inside(tracer, args, run) if is_reentrant else (run(args), False)
    is_refused = tracer.state_met or is_captured
    if not is_reentrant:
        tracer.report("untraceable-call/any-checkpoint", node)
    elif is_refused and isinstance(kind, py.Unknown):
        tracer.gap(node, "the source does not tell whether it is the reentrant kind of checkpointing")
    elif is_refused:
        tracer.report(
            "untraceable-call/checkpoint" if tracer.state_met else "untraceable-call/checkpoint-captured",
            node,
        )
    elif not isinstance(kind, py.Unknown):
        if is_anew:
            tracer.report("function-made-anew/checkpoint", node)
        if tracer.given_inside is None:  # else the outer one hides it
            tracer.report("unsaveable-trace/checkpoint", node)
    tracer.state_met = met or tracer.state_met
    return result
