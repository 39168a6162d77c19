"""Graph breaks of torch.compile in code that torch.export can follow: what Python does besides tensors.

Asked of torch 2.13, with ``fullgraph=True``.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.terms import Attribute, Named
from tsguard.analysis.trace.shapes.selecting import is_whole
from tsguard.analysis.trace.values import Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_LEAVING = frozenset(
    [
        "builtins.print", "builtins.input", "builtins.open", "warnings.warn", "torch.manual_seed", "torch.seed",
        "torch.random.manual_seed", "torch.autograd.set_detect_anomaly", "torch.autograd.detect_anomaly",
        "torch.sparse_coo_tensor", "torch.sparse_csr_tensor", "torch.autograd.Variable",
        "torch.autograd.variable.Variable", "random.seed",
        "random.shuffle", "numpy.random.seed",
    ]
)  # fmt: skip
_LEAVING_METHODS = frozenset({"to_sparse", "to_sparse_csr"})
_LEAVING_LAYERS = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
# What torch.compile evaluates as Python does, and what it knows by name (torch/_dynamo/decorators.py,
# for einops); of other packages nothing was asked.
_FOLLOWED = frozenset(
    [
        "builtins", "torch", "math", "numpy", "functools", "itertools", "operator", "collections", "typing",
        "einops", "copy", "enum", "dataclasses", "contextlib", "abc", "numbers", "cmath",
    ]
)  # fmt: skip
# Parts of torch of which it follows some and not others.
_PARTS_UNASKED = (
    "torch.cuda.", "torch.distributed", "torch.jit.", "torch.utils.", "torch.profiler.", "torch.autograd.",
    "torch.nn.utils.rnn.", "torch.func.", "torch.sparse.", "torch.nested.", "torch.multiprocessing", "torch.backends.",
    "torch.fx.", "torch.ao.", "torch.quantization", "numpy.random.", "torch.compiler.is_exporting",
)  # fmt: skip
_FOLLOWED_PARTS = frozenset(
    [
        "torch.jit.is_tracing", "torch.jit.is_scripting", "torch.cuda.is_available", "torch.utils.checkpoint.checkpoint",
        "torch.nn.utils.rnn.pad_sequence", "torch.autograd.Function.apply", "torch.func.functional_call",
        "torch.profiler.record_function", "torch.autograd.function.FunctionCtx.save_for_backward",
        "torch.autograd.function.FunctionCtx.set_materialize_grads",
    ]
)  # fmt: skip
_WRITING = frozenset({"builtins.str", "builtins.repr", "builtins.format", "builtins.id", "builtins.hash"})
_UNASKED_METHODS = frozenset({"requires_grad_", "as_subclass", "register_hook", "retain_grad"})


def called(tracer: Tracer, name: str, args: list[py.Value], node: ast.AST) -> None:
    """A function that is not read is called."""
    if name in _LEAVING or name.startswith("logging."):
        report(tracer, "graph-break", node, function=name.removeprefix("builtins."))
    elif name in _PARAMETERS:
        report(tracer, "graph-break/parameter", node)
    elif not _is_followed(name) or (name in _WRITING and any(isinstance(a, Traced) for a in args)):
        _unasked(tracer)


def _unasked(tracer: Tracer) -> None:
    """Nothing is known of what is called, unless a package that torch.compile knows calls it."""
    if tracer.module.name.partition(".")[0] not in _FOLLOWED:
        tracer.exports.is_asked_of_compile = False


def _is_followed(name: str) -> bool:
    if name in _FOLLOWED_PARTS or name.startswith("torch.distributions."):
        return True
    return name.partition(".")[0] in _FOLLOWED and not name.startswith(_PARTS_UNASKED)


def method(tracer: Tracer, name: str, tensor: py.TensorValue, node: ast.AST) -> None:
    """A method of a tensor is called; torch.compile takes lists of whole numbers alone."""
    if name in _LEAVING_METHODS:
        report(tracer, "graph-break", node, function=name)
    elif name in _UNASKED_METHODS or (name == "tolist" and not is_whole(tensor)):
        _unasked(tracer)


def unread(tracer: Tracer, function: py.Unknown, node: ast.AST | None) -> None:
    """What is called is not told by the source, but may be known to be a logger's method."""
    term = function.term
    if isinstance(term, Attribute) and isinstance(term.owner, Named) and term.owner.name == "logging.Logger":
        report(tracer, "graph-break", node, function=f"Logger.{term.name}")
    elif term is not None:
        _unasked(tracer)


def layer(tracer: Tracer, name: str, node: ast.AST) -> None:
    """A layer of torch is called."""
    if name in _LEAVING_LAYERS:
        report(tracer, "graph-break/layer", node, layer=name)


def asked(tracer: Tracer, value: py.Value, node: ast.AST | None) -> None:
    """A tensor that has its value even while exporting is asked whether it is true."""
    if isinstance(value, py.TensorValue) and not isinstance(tracer.statement, ast.Assert):
        report(tracer, "graph-break/condition", node)
