"""Functions that tell which kind of run it is: a trace, torch.export or torch.compile."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Fixed

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def _of_run(traced: py.Value, exported: py.Value, *, is_of_compile: bool = True) -> Handler:
    """The answer to each; ``is_of_compile`` where torch.compile says the same as torch.export."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        tracer.asks_for_run = True
        if not is_of_compile:
            tracer.exports.is_asked_of_compile = False
        return exported if tracer.is_export else traced

    return run


_IS_TRACED = Fixed(None, "bool", py.TRUE, about="tracing")
_TRACING = _of_run(_IS_TRACED, py.FALSE)
_COMPILING = _of_run(py.FALSE, py.TRUE)

HANDLERS: dict[str, Handler] = {
    "torch.jit.is_tracing": _TRACING,
    "torch.jit._trace.is_tracing": _TRACING,
    "torch._C._get_tracing_state": _of_run(_IS_TRACED, py.NONE),
    "torch.compiler.is_compiling": _COMPILING,
    "torch.compiler.is_dynamo_compiling": _of_run(py.FALSE, py.FALSE, is_of_compile=False),
    "torch.compiler.is_exporting": _of_run(py.FALSE, py.TRUE, is_of_compile=False),
    "torch._dynamo.is_compiling": _COMPILING,
    "torch._dynamo.external_utils.is_compiling": _COMPILING,
    "torch._utils.is_compiling": _COMPILING,
}
