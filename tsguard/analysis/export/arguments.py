"""Numbers passed to operators: some operators accept symbols, others need the number.

An operator whose schema says ``SymInt`` or ``Scalar`` takes a symbol; where it says ``int`` or ``float`` the
call asks the symbol for its value.  Functions of torch.nn.functional are Python, and some compare what they
are given: these were asked of torch 2.13 one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import data, sizes
from tsguard.analysis.trace.values import parts
from tsguard.language import types as t
from tsguard.language.releases import ways
from tsguard.language.schemas import Argument

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_COMPARING = frozenset(
    [
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "hardtanh", "layer_norm",
        "batch_norm", "instance_norm", "group_norm", "huber_loss", "smooth_l1_loss", "margin_ranking_loss",
        "cosine_embedding_loss", "triplet_margin_loss", "rrelu", "cross_entropy",
        "max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "fold",
        "unfold",
    ]
)  # fmt: skip
# What compares only numbers of data: of an open size torch.export finds no more than a bound.
_BOUNDING = frozenset(
    [
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "adaptive_avg_pool2d",
        "adaptive_avg_pool3d", "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "unflatten", "resize_", "tensor_split",
    ]
)  # fmt: skip
# What takes whole numbers in ways that no schema tells.
_COUNTING = frozenset({"permute", "chunk"})
_NUMBERS = (t.INT, t.FLOAT)


def given(tracer: Tracer, argument: Argument, value: py.Value, node: ast.AST) -> None:
    """An operator is given a value for one of its arguments."""
    if argument.symbolic or _element(argument.type) not in _NUMBERS:
        return
    wanted(tracer, [value], node)
    _of_tensors(tracer, [value], node)


def _of_tensors(tracer: Tracer, values: Iterable[py.Value], node: ast.AST) -> None:
    """A tensor of one element is given for a number: it is asked for it."""
    tensors = [part for part in parts(values) if isinstance(part, py.TensorValue)]
    data.number_wanted(tracer, "data-number/argument", tensors, node)


def called(
    tracer: Tracer, name: str, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST
) -> None:
    """A function or method of torch is called, which may be Python and compare what it is given."""
    short = name.rpartition(".")[2]
    values = [*args, *kwargs.values()]
    if name.startswith("torch.nn.functional.") and short in _COMPARING:
        wanted(tracer, values, node)
    elif short in _COUNTING:
        wanted(tracer, values[1:], node)
        _of_tensors(tracer, values[1:], node)
    elif short in _BOUNDING:
        data.symbol_wanted(tracer, "data-number/argument", parts(values), node)
    elif short == "arange":
        _stepped(tracer, args[2] if len(args) > 2 else kwargs.get("step", py.NONE), node)


def _stepped(tracer: Tracer, step: py.Value, node: ast.AST) -> None:
    """``torch.arange(0, n, step)`` goes up or down, which the sign of the step tells."""
    if not ways(tracer.tables.release).steps_by_data:
        data.symbol_wanted(tracer, "data-number/argument", [step], node)
    elif data.is_symbol(step):
        tracer.exports.is_asked_of_compile = False


def raised(tracer: Tracer, base: py.Value, exponent: py.Value, node: ast.AST) -> None:
    """``2 ** n``: Python asks whether n is negative, for then the result is no whole number."""
    if isinstance(py.constant(base), int) and data.kind_of(exponent) == "int":
        data.symbol_wanted(tracer, "data-number/argument", [exponent], node)


def wanted(tracer: Tracer, values: Iterable[py.Value], node: ast.AST) -> None:
    """A number itself is wanted, which data may give, or an open size."""
    values = parts(values)
    data.symbol_wanted(tracer, "data-number/argument", values, node)
    sizes.wanted(tracer, "fixed-size", values, node)


def _element(kind: t.Type) -> t.Type:
    while isinstance(kind, (t.OptionalType, t.ListType)):
        kind = kind.element
    return kind
