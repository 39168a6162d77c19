"""Where the number of selected elements is needed, which is a symbol that torch.export cannot compare.

Asked of torch 2.13, operation by operation, with the rows and the columns that a mask lets through.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report, report_backed
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.shapes.dims import Dim, Unbacked
from tsguard.analysis.trace.values import Traced
from tsguard.language.releases import ways

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

Args = list[py.Value]
Kwargs = dict[str, py.Value]

# Along one dimension, the first by default.
_DIVIDING = frozenset({"chunk", "split", "unbind", "tensor_split"})
# Along one dimension, the last by default.
_ALONG_LAST = frozenset(
    ["diff", "trapz", "trapezoid", "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "max_pool1d",
        "adaptive_avg_pool1d", "adaptive_max_pool1d"]
)  # fmt: skip
# Whatever the dimension.
_WHOLE = frozenset(
    [
        "batch_norm", "instance_norm", "local_response_norm", "cdist", "logsumexp", "cummax", "cummin", "roll", "fftshift",
        "ifftshift", "gradient", "pinv", "matrix_rank", "tolist", "tensordot", "inner", "kron", "take_along_dim",
        "bilinear",
    ]
)  # fmt: skip
_WHOLE_LAYERS = (
    "torch.nn.BatchNorm",
    "torch.nn.SyncBatchNorm",
    "torch.nn.InstanceNorm",
    "torch.nn.LocalResponseNorm",
)
_LAST_LAYERS = ("torch.nn.MaxPool1d", "torch.nn.AdaptiveAvgPool1d", "torch.nn.AdaptiveMaxPool1d")
_STEPPING = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_ATTENDING = frozenset(
    [
        f"torch.nn.{name}"
        for name in (
            "MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder", "TransformerDecoderLayer",
            "TransformerDecoder", "Transformer",
        )
    ]
)  # fmt: skip
# Whether two tensors are of one size, to warn where they are not.
_COMPARING = frozenset(
    [
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "multilabel_margin_loss",
    ]
)  # fmt: skip
_COMPARING_LAYERS = frozenset(
    [
        f"torch.nn.{name}"
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss")
    ]
)  # fmt: skip
# What leaves it to the program, from some release on.
_COMPARING_ONCE = frozenset({"cosine_similarity", "torch.nn.CosineSimilarity"})


def called(tracer: Tracer, short: str, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function whose first argument is a tensor."""
    if _compares(tracer, short):
        _compared(tracer, tensor, args, kwargs, node)
    elif short == "scaled_dot_product_attention":
        _attended(tracer, [tensor, *args[1:2]], node)
    elif short in _WHOLE:
        _asked(tracer, tensor, _dims(tracer, tensor), node)
    elif short in _DIVIDING and not _leaves_rows(short, args, kwargs):
        _asked(tracer, tensor, [_at(tracer, tensor, 0)], node)
    elif short in _ALONG_LAST and "n" not in kwargs:
        along = py.constant(kwargs.get("dim", py.Const(-1)))
        _asked(tracer, tensor, [_at(tracer, tensor, along)] if isinstance(along, int) else [], node)


def layer(tracer: Tracer, name: str, args: Args, node: ast.AST) -> None:
    """A layer of torch is called."""
    if not args or not isinstance(args[0], Traced):
        return
    if _compares(tracer, name):
        _compared(tracer, args[0], args, {}, node)
    elif name.startswith(_WHOLE_LAYERS):
        _asked(tracer, args[0], _dims(tracer, args[0]), node)
    elif name in _LAST_LAYERS:
        _asked(tracer, args[0], [_at(tracer, args[0], -1)], node)


def _asks_attending(tracer: Tracer, name: str, kwargs: Kwargs) -> bool:
    """Whether attention asks how many steps there are: it does to choose among its kernels."""
    if ways(tracer.tables.release).attends_over_counts_of_data:
        return False
    return name != "torch.nn.MultiheadAttention" or py.constant(kwargs.get("need_weights", py.TRUE)) is False


def _attended(tracer: Tracer, given: Args, node: ast.AST) -> None:
    """Of four dimensions, the length of the queries and that of the keys are asked for; of three a batch is."""
    if ways(tracer.tables.release).attends_over_counts_of_data:
        return
    for tensor in given:
        extent = shaping.extent(tracer, tensor) if isinstance(tensor, Traced) else None
        if isinstance(tensor, Traced) and extent is not None and extent.rank == 4:
            _asked(tracer, tensor, [extent.at(-2)], node)


def sequence(
    tracer: Tracer, name: str, module: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST
) -> None:
    """A layer over sequences is called, which goes over the steps or asks how many there are; how many sequences it does not."""
    is_asking = name in _STEPPING or (name in _ATTENDING and _asks_attending(tracer, name, kwargs))
    first = py.constant(tracer.settled(_of_layer(module).arguments.get("batch_first", py.FALSE)))
    if not is_asking or not isinstance(first, bool):
        return
    for tensor in args[:2]:
        if isinstance(tensor, Traced):
            _asked(tracer, tensor, [_at(tracer, tensor, -2 if first else 0)], node)
            rows = _at(tracer, tensor, 0)
            if rows is not None and rows.unbacked and name.startswith("torch.nn.Transformer"):
                tracer.exports.is_asked_of_compile = False  # without gradients one operator does it all


def _of_layer(module: py.ModuleValue) -> py.ModuleValue:
    """The layer that an encoder or decoder repeats; any other module itself."""
    repeated = (module.arguments.get(f"{kind}_layer") for kind in ("encoder", "decoder"))
    return next((layer for layer in repeated if isinstance(layer, py.ModuleValue)), module)


def _compares(tracer: Tracer, name: str) -> bool:
    """Whether a function or layer asks while exporting whether two tensors are of one size."""
    if name in _COMPARING_ONCE:
        return not ways(tracer.tables.release).compares_counts_of_data
    return name in _COMPARING or name in _COMPARING_LAYERS


def _asked(tracer: Tracer, tensor: Traced, dims: list[Dim | None], node: ast.AST) -> None:
    kinds = {tracer.facts.resolved(dim).unbacked for dim in dims if dim is not None}
    unbacked: Unbacked = "data" if "data" in kinds else "maybe" if "maybe" in kinds else ""
    report_backed(tracer, unbacked, "data-call/rows", node, tensor.origin)


def _compared(tracer: Tracer, tensor: Traced, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """Each mask has a symbol of its own for how many it lets through, though two may be alike."""
    other = args[1] if len(args) > 1 else kwargs.get("target", kwargs.get("x2"))
    if not isinstance(other, Traced):
        return
    one, two = _at(tracer, tensor, 0), _at(tracer, other, 0)
    if one is not None and two is not None and one.is_of_data and two.is_of_data and one != two:
        report(tracer, "data-call/rows", node, tensor.origin)


def _at(tracer: Tracer, tensor: Traced, index: int) -> Dim | None:
    return shaping.size_along(tracer, tensor, index)


def _dims(tracer: Tracer, tensor: Traced) -> list[Dim | None]:
    """The dimensions of which something is known."""
    extent = shaping.extent(tracer, tensor)
    return [] if extent is None else [extent.at(0), *extent.dims]


def _leaves_rows(short: str, args: Args, kwargs: Kwargs) -> bool:
    """Whether a tensor is divided along another dimension than the first, or into pieces of given lengths."""
    place = 1 if short == "unbind" else 2
    along = args[place] if len(args) > place else kwargs.get("dim", py.Const(0))
    how = args[1] if len(args) > 1 else kwargs.get("split_size_or_sections", py.NONE)
    lengths = short == "split" and isinstance(how, (py.ListValue, py.TupleValue))
    return lengths or py.constant(along) != 0
