"""The last batch of an epoch, which may be smaller, passed to a trace with a fixed batch size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import Pipeline
from tsguard.analysis.pipeline.frames import Frame, Function
from tsguard.analysis.pipeline.loaders import LoaderLoop
from tsguard.analysis.pipeline.names import PipelineNames, method
from tsguard.project.project import Definition
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

_SELF_RETURNING = ("eval", "train", "to", "cuda", "cpu", "float", "half", "double")


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loop in pipeline.loops:
        loader = loop.loader
        if loader.value("drop_last") is not False or loader.value("batch_size") in (1, None):
            continue
        for call, site in pipeline.calls_in(loop.frame):
            if loop.loop in site.loops and _has_baked_batch(call, loop, pipeline.names):
                yield pipeline.event("partial-batch-in-trace", call, function=text_of(call.func, 30))


def _has_baked_batch(call: ast.Call, loop: LoaderLoop, names: PipelineNames) -> bool:
    """Whether a call gives a batch to a trace of code that goes through the batch in Python."""
    value, where = names.origin(call.func, loop.frame)
    if value is call.func or not isinstance(value, ast.Call) or not value.args:
        return False
    if names.qualified(value.func, where) != "torch.jit.trace":
        return False
    function = _traced(value.args[0], where, names)
    return function is not None and _goes_through_rows(function)


def _traced(expression: ast.expr, frame: Frame, names: PipelineNames) -> Function | None:
    """The function that a trace follows: itself, or the ``forward`` of a module."""
    value, where = names.origin(expression, frame)
    while isinstance(value, ast.Call) and getattr(value.func, "attr", "") in _SELF_RETURNING:
        assert isinstance(value.func, ast.Attribute)
        value, where = names.origin(value.func.value, where)
    found = names.definition(value.func if isinstance(value, ast.Call) else value, where)
    if isinstance(value, ast.Call) and found is not None and isinstance(found.node, ast.ClassDef):
        return method(found.node, "forward")
    return _as_function(found) if not isinstance(value, ast.Call) else None


def _as_function(definition: Definition | None) -> Function | None:
    node = definition.node if definition is not None else None
    return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def _goes_through_rows(function: Function) -> bool:
    """``for row in x``, or ``for i in range(x.size(0))``, of the first input."""
    parameters = [parameter.arg for parameter in function.args.args if parameter.arg != "self"]
    return any(
        isinstance(node, (ast.For, ast.comprehension)) and _is_by_row(node.iter, parameters[0])
        for node in walked(function)
        if parameters
    )


def _is_by_row(iterated: ast.expr, batch: str) -> bool:
    return unparsed(iterated) in (
        batch,
        f"enumerate({batch})",
        f"range(len({batch}))",
        f"range({batch}.size(0))",
        f"range({batch}.shape[0])",
    )
