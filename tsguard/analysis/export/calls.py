"""Calls of functions that need data, or that torch.export cannot follow."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import (
    arguments,
    compared,
    data,
    distributions,
    gradients,
    layouts,
    recording,
    selections,
    sizes,
    state,
    types,
)
from tsguard.analysis.export.reports import not_known, report
from tsguard.analysis.trace.values import Number, Traced, origin_of, parts
from tsguard.language import schemas
from tsguard.language import types as t

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin

# Asked of each function of torch that its own tests have examples of, by exporting these with torch 2.13.
_ANSWERED_BY_DATA = frozenset(
    [
        "equal", "allclose", "apply_", "is_nonzero", "data_ptr", "cov", "corrcoef", "ctc_loss", "lobpcg", "lstsq", "map_",
        "gaussian_nll_loss",
        "combinations",
    ]
)  # fmt: skip
_OF_STORAGE = frozenset({"storage", "untyped_storage"})
# What counts in its indices how large it has to be.
_OF_INDICES = frozenset({"sparse_coo_tensor"})
_OF_LISTS = frozenset({"nested_tensor", "as_nested_tensor"})
_ASKING_LAYERS = {"torch.nn.CTCLoss": "CTCLoss", "torch.nn.GaussianNLLLoss": "GaussianNLLLoss"}
# What torch has shapes for only where all sizes are numbers.
_OF_NUMBERS = frozenset(
    [
        "histogram", "histogramdd", "geqrf", "to_sparse", "to_sparse_csr", "resize_", "quantize_per_tensor",
        "fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine",
    ]
)  # fmt: skip
_MADE_OF_VALUES = frozenset(
    {"tensor", "as_tensor", "Tensor", "FloatTensor", "LongTensor", "BoolTensor", "IntTensor"}
)
_OF_METHODS = frozenset({"new_tensor"})
_MADE_OF_NUMBERS = frozenset({"as_tensor", "new_tensor"})
_DIVIDING = frozenset({"chunk", "split"})
# Methods that put other parameters into a module: torch.export has put its own there.
_MOVING = frozenset({"to", "half", "float", "double", "bfloat16", "cuda", "cpu", "type", "to_empty"})

Args = list[py.Value]
Kwargs = dict[str, py.Value]


def called(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function or method of torch is called; ``args`` begin with the tensor of a method."""
    gradients.called(tracer, name, args, kwargs, node)
    arguments.called(tracer, name, args, kwargs, node)
    owner, _, short = name.rpartition(".")
    sizes.called(tracer, short, args, node)
    compared.called(tracer, name, args, kwargs, node)
    first = args[0] if args else py.NONE
    recording.called(tracer, name, first, node)
    _notes_kinds(tracer, short, args, kwargs)
    if owner.startswith("torch") and _takes_tensors_alone(short):
        data.taken_for_tensor(tracer, first)
    if isinstance(first, Traced):
        _of_tensor(tracer, short, first, args, kwargs, node)
    listed = args[1] if short in _OF_METHODS and len(args) > 1 else first
    if short in _MADE_OF_NUMBERS:
        sizes.wanted(tracer, "fixed-size", [listed], node)
    if short in _MADE_OF_VALUES | _OF_METHODS and isinstance(listed, (py.ListValue, py.TupleValue)):
        held = next((value for value in parts([listed]) if isinstance(value, Traced)), None)
        if held is not None:
            report(tracer, "data-call/elements", node, held.origin)
    elif short in _OF_LISTS:
        held = next((value for value in parts([first]) if isinstance(value, Traced)), None)
        if held is not None:
            report(tracer, "data-call", node, held.origin, function=short)
    elif short == "pad_packed_sequence":
        report(tracer, "data-call/packed", node)
    elif short in _OF_INDICES and not _gives_size(args, kwargs):
        report(tracer, "data-call", node, _origin(args), function=short)
    elif owner.startswith("torch.distributions") and short[:1].isupper():
        distributions.made(tracer, short, args, kwargs, node)


@functools.lru_cache(maxsize=4096)
def _takes_tensors_alone(short: str) -> bool:
    """Whether the first argument of an operator is a tensor in all the overloads that return one."""
    made = [
        s for s in schemas.operators().overloads(f"aten::{short}") if s.returns is t.TENSOR and s.arguments
    ]
    return bool(made) and all(schema.arguments[0].type is t.TENSOR for schema in made)


def _of_tensor(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function whose first argument is a tensor."""
    selections.called(tracer, short, tensor, args, kwargs, node)
    if short in _OF_NUMBERS and tensor.of == "inputs":
        report(tracer, "lost-size/operator", node, tensor.origin, function=short)
    if short in _ANSWERED_BY_DATA:
        report(tracer, "data-call", node, tensor.origin, function=short)
    elif short in _OF_STORAGE:
        not_known(tracer, node, "the storage of a tensor is not analysed")
    elif short == "reshape":
        layouts.reshaped(tracer, tensor, args, kwargs, node)
    elif short == "narrow":
        start = args[2] if len(args) > 2 else kwargs.get("start", py.NONE)
        data.number_wanted(tracer, "data-number/argument", [start] if isinstance(start, Traced) else [], node)
    elif short == "as_subclass":
        report(tracer, "data-attribute/subclass", node, tensor.origin)
    elif short == "from_numpy":
        types.taken_for_array(tracer, tensor, node)
    elif short == "one_hot":
        count = args[1] if len(args) > 1 else kwargs.get("num_classes", py.Const(-1))
        if py.constant(count) == -1:
            report(tracer, "data-call/classes", node, tensor.origin)
        else:
            data.number_wanted(tracer, "data-number/index", [count], node)
    elif short in _DIVIDING:
        how = (
            args[1] if len(args) > 1 else kwargs.get("split_size_or_sections", kwargs.get("chunks", py.NONE))
        )
        if isinstance(how, Traced) or (isinstance(how, Number) and how.hint != "list"):
            data.number_wanted(tracer, "data-number/index", [how], node)


def subclassed(tracer: Tracer, args: Args, node: ast.AST | None) -> None:
    """A class that derives from Tensor is called: torch.export cannot make a tensor that it follows one of that class."""
    given = next((arg for arg in args if isinstance(arg, py.TensorValue)), None)
    if given is not None:
        report(tracer, "data-attribute/subclass", node, origin_of([given]))


def _notes_kinds(tracer: Tracer, short: str, args: Args, kwargs: Kwargs) -> None:
    """What is given for a dtype or a device is one."""
    types.taken_for(tracer, "torch.dtype", kwargs.get("dtype"))
    types.taken_for(tracer, "torch.device", kwargs.get("device"))
    if short == "to" and len(args) > 1:
        types.taken_for(tracer, "torch.device", args[1])


def _gives_size(args: Args, kwargs: Kwargs) -> bool:
    """Whether the shape of a sparse tensor is given, which else is what its indices need."""
    return len(args) > 2 or "size" in kwargs


def _origin(args: Args) -> Origin | None:
    return next((part.origin for part in parts(args) if isinstance(part, Traced)), None)


def recurrent(tracer: Tracer, given: py.Value, node: ast.AST) -> None:
    """An LSTM, GRU or RNN of torch is called: a packed sequence has its batch sizes as data."""
    if isinstance(given, py.TupleValue):
        report(tracer, "data-call/packed", node)


def of_module(tracer: Tracer, name: str, module: py.ModuleValue, args: Args, node: ast.AST | None) -> None:
    """A method of torch.nn.Module is called while the forward runs."""
    if name == "register_buffer":
        state.registered(tracer, module, args[0] if args else py.NONE, node)
    if name in _MOVING and gradients.has_parameters(module):
        report(tracer, "moved-module", node)


def scripted(tracer: Tracer, module: py.ModuleValue, node: ast.AST | None) -> None:
    """A module that torch.jit has compiled is called; one that was traced goes well."""
    if not module.traced:
        report(tracer, "scripted-module", node)


def encoder(
    tracer: Tracer, name: str, module: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> None:
    """``nn.TransformerEncoder`` leaves out what is padded where no gradients are recorded; torch.export never does."""
    selections.sequence(tracer, name, module, args, kwargs, node)
    mask = args[2] if len(args) > 2 else kwargs.get("src_key_padding_mask", py.NONE)
    is_asked = py.constant(module.arguments.get("enable_nested_tensor", py.TRUE)) is not False
    if name == "torch.nn.TransformerEncoder" and is_asked and not py.is_none(mask):
        not_known(tracer, node, "eager may give zeros for what is padded, and the exported program does not")


def layer(tracer: Tracer, name: str, args: Args, node: ast.AST) -> None:
    """A layer of torch is called."""
    gradients.called(tracer, name, args, {}, node)
    selections.layer(tracer, name, args, node)
    first = args[0] if args else py.NONE
    if ".Lazy" in name:
        report(tracer, "moved-module/lazy", node)
    elif name in _ASKING_LAYERS and isinstance(first, Traced):
        report(tracer, "data-call", node, first.origin, function=_ASKING_LAYERS[name])
