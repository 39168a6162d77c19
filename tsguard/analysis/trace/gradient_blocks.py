"""Blocks in which gradients are off: a trace has the operations in them, and not that they are."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import recording
from tsguard.analysis.python import statements
from tsguard.analysis.python.context import Signal
from tsguard.analysis.trace import attributes
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Traced, parts
from tsguard.analysis.values import Scope
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked


def run(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    """Run a ``with``; what it computes without gradients, and what is used after it, takes them in the trace."""
    assert isinstance(node, ast.With)
    signal = statements.within(tracer, node.items, node.body, scope)
    switch = next((i.context_expr for i in node.items if recording.turns_off(i.context_expr)), None)
    if switch is not None and not signal and _leaves_tensors(tracer, list(walked(node)), scope):
        tracer.report("lost-gradient-block", switch)
    return signal


def stated(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    """Run an expression; ``torch.set_grad_enabled(True)`` ends a block that began with False."""
    assert isinstance(node, ast.Expr)
    signal = statements.expression(tracer, node, scope)
    if recording.switched(node.value) and tracer.frames:
        off, between = _switched_off_before(node, tracer.frames[-1].function)
        if off is not None and _leaves_tensors(tracer, between, scope):
            tracer.report("lost-gradient-block", off)
    return signal


def _switched_off_before(
    node: ast.stmt, function: FunctionNode | None
) -> tuple[ast.AST | None, list[ast.AST]]:
    """Where gradients were switched off last in the function, and what stands between there and a statement."""
    nodes = walked(function) if function is not None else ()
    before = [n for n in nodes if 0 < _line(n) < node.lineno]
    off = max((n for n in before if recording.switched(n) is False), key=_line, default=None)
    return off, [n for n in before if off is not None and _line(n) > _line(off)]


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def returned(tracer: Tracer, function: py.FunctionValue, value: py.Value, node: ast.AST | None) -> None:
    """What a function gives under ``@torch.no_grad()`` that the target's forward calls."""
    decorators = getattr(function.node, "decorator_list", ())
    if node is None or not tracer.frames or not any(map(recording.turns_off, decorators)):
        return
    within = {id(part) for part in walked(function.node)}
    if any(isinstance(part, Traced) and _takes_gradients(tracer, part, within) for part in parts([value])):
        tracer.report("lost-gradient-block/function", node, function=function.name)


def _leaves_tensors(tracer: Tracer, block: list[ast.AST], scope: Scope) -> bool:
    """Whether the nodes of a block compute what the function goes on with outside of it."""
    function = tracer.frames[-1].function if tracer.frames else None
    if function is None:
        return False
    within = set(map(id, block))
    names = [node for node in walked(function) if isinstance(node, ast.Name)]
    made = {node.id for node in names if id(node) in within and isinstance(node.ctx, ast.Store)}
    used = {node.id for node in names if id(node) not in within and isinstance(node.ctx, ast.Load)}
    values = parts(filter(None, map(scope.names.get, sorted(made & used))))
    return any(isinstance(value, Traced) and _takes_gradients(tracer, value, within) for value in values)


def _takes_gradients(tracer: Tracer, value: Traced, within: set[int]) -> bool:
    """Whether a tensor was computed in a block, of what gradients may be taken of, by what passes them on."""
    dtype = attributes.dtype_of(tracer, value)
    if value.of == "random" or (not dtype.startswith(("float", "bfloat", "complex")) and dtype):
        return False
    steps = [step for step in recording.steps(value) if step is not None]
    return any(id(step) in within for step in steps) and not any(map(_stops_gradients, steps))


# What gives answers or whole numbers, alone or beside values, passes on no gradient that is not zero, or stops them itself.
_STOPPING = frozenset(
    [
        *("all", "any", "argmax", "argmin", "argsort", "bincount", "count_nonzero", "eq", "ge", "gt", "le", "lt", "ne"),
        *("bool", "int", "long", "isfinite", "isinf", "isnan", "logical_and", "logical_not", "logical_or", "logical_xor"),
        *("kthvalue", "max", "min", "sort", "topk", "unique", "multinomial", "nonzero", "one_hot", "randperm", "searchsorted"),
        *("bernoulli", "ceil", "floor", "round", "sign", "data", "detach", "detach_", "shape", "size", "arange"),
        *("empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"),
        *("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros"),
    ]
)  # fmt: skip


def _stops_gradients(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return True
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _STOPPING
