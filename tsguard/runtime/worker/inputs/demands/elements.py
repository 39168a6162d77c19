"""Operations by elements, reductions and losses, and what Python reads of a tensor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tsguard.language.same_shape import SAME_SHAPE
from tsguard.runtime.worker.inputs.demands.operation import (
    Model,
    Operation,
    Unmodelled,
    kind_of_values,
    must_be,
    removed,
    replaced,
    shape_of,
)
from tsguard.runtime.worker.inputs.demands.shapes import Shape, Size, broadcast, unite
from tsguard.runtime.worker.inputs.demands.standins import (
    Dimensions,
    Length,
    Sizes,
    StandIn,
    kind_of,
    lengths,
    stand_in,
)
from tsguard.runtime.worker.inputs.specs import Kind

_SAME_VALUES = frozenset(
    {"contiguous", "detach", "clone", "long", "int", "to", "type", "requires_grad_", "type_as", "cpu", "bool"}
)
_FLOATING = frozenset(
    {"float", "double", "softmax", "sigmoid", "rand_like", "randn_like", "exp", "log", "sqrt"}
)
_COMPARISONS = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
)
_SUMS = frozenset(
    {
        *("add", "add_", "sub", "sub_", "rsub", "__add__", "__radd__", "__iadd__"),
        *("__sub__", "__rsub__", "__isub__"),
    }
)
_BY_ELEMENTS = frozenset(
    {
        *("add", "sub", "mul", "div", "pow", "maximum", "minimum", "fmod", "remainder", "atan2", "where"),
        *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
        *("__pow__", "__rpow__", "__mod__", "__floordiv__", "__rdiv__", "__div__", "__iadd__", "__imul__"),
        *("__and__", "__or__", "__xor__", "logical_and", "logical_or", "rsub", "lerp", "true_divide", "add_"),
        *("mul_", "sub_", "div_", "__isub__", "hypot", "xlogy", "bitwise_and", "bitwise_or", "addcmul"),
    }
)
_REDUCING = (
    *("mean", "sum", "amax", "amin", "max", "min", "argmax", "argmin", "std", "var", "logsumexp", "prod"),
    *("norm", "all", "any", "nansum", "nanmean"),
)
_ATTRIBUTES = (
    *("shape", "dtype", "device", "ndim", "requires_grad", "layout", "is_leaf", "is_cuda", "is_sparse"),
    *("is_nested", "is_quantized", "is_mkldnn", "is_meta", "is_mps", "is_xpu"),
)
_BY_VALUES = (
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "kl_div"),
    *("binary_cross_entropy_with_logits", "soft_margin_loss"),
)


def _attribute(op: Operation) -> Any:
    tensor, name = op.open(0), op.name.partition(".")[0]
    if name == "shape":
        return _sizes(tensor.shape_now)
    if name == "ndim":
        return _rank(op)
    if name == "dtype":
        of_kinds = {"float": torch.float32, "int": torch.int64, "bool": torch.bool}
        complex_one = tensor.origin is not None and tensor.origin.complex
        return torch.complex64 if complex_one else of_kinds[kind_of(tensor)]
    return getattr(torch.empty(0), name)


def _sizes(shape: Shape) -> Any:
    if shape.rank() is not None and all(size.known() is not None for size in shape.now().front):
        return torch.Size(map(int, lengths(shape)))
    return Sizes(shape)


def _size(op: Operation) -> Any:
    shape, dim = op.open(0).shape_now, op.given(1, "dim")
    return _sizes(shape) if dim is None else Length(shape.at(int(dim)))


def _rank(op: Operation) -> int:
    shape = op.open(0).shape_now
    rank = shape.rank()
    return Dimensions(shape) if rank is None else rank


def _length(op: Operation) -> int:
    return int(Length(op.open(0).shape_now.at(0)))


def _same(op: Operation) -> Any:
    first = op.open(0)
    if op.name in _FLOATING:
        return stand_in(first.shape_now, op.session)
    return op.result(first.shape_now, first if op.name in _SAME_VALUES else None, kind_of(first))


def _made_like(op: Operation) -> Any:
    """Of the same dtype; the sizes are given."""
    return getattr(torch.empty(0), op.name)(*op.args[1:], **op.kwargs)


def _inverted(op: Operation) -> Any:
    first = op.open(0)
    must_be(first, "bool")
    return op.result(first.shape_now, None, "bool")


def _elementwise(op: Operation) -> Any:
    operands = [value for value in (*op.args, *op.kwargs.values()) if isinstance(value, Tensor)]
    if op.name == "where":
        must_be(op.args[0], "bool")
    elif op.name not in _COMPARISONS and len(operands) > 1:
        for operand in operands:
            if isinstance(operand, StandIn) and operand.origin is not None:
                operand.origin.computed_with = True
                operand.origin.added |= op.name in _SUMS
    shape = shape_of(operands[0])
    for operand in operands[1:]:
        shape = broadcast(shape, shape_of(operand))
    kinds = set(map(kind_of_values, operands))
    kind: Kind = "float" if "float" in kinds else "int" if "int" in kinds else "bool"
    return op.result(shape, None, "bool" if op.name in _COMPARISONS else kind)


def _reduced(op: Operation) -> Any:
    taken = op.open(0)
    place = 2 if op.name == "norm" else 1
    dims, keep = op.given(place, "dim"), op.given(place + 1, "keepdim", False)
    if op.name in ("std", "var"):
        keep = op.kwargs.get("keepdim", False)
    if isinstance(dims, Tensor):
        return _elementwise(op)
    if dims is None:
        return op.result(Shape(), None, kind_of(taken))
    if isinstance(dims, (bool, str)):
        raise Unmodelled("dim")
    wanted = [int(dim) for dim in (dims if isinstance(dims, (tuple, list)) else (dims,))]
    shape = taken.shape_now
    if keep:
        for dim in wanted:
            shape = replaced(shape, dim, Size(1, 1))
    else:
        if len(wanted) > 1 and min(wanted) >= 0 and shape.rank() is None:
            shape.close(max(wanted) + 1)
        now = shape.now()
        shape = removed(shape, wanted, apart=not now.usual or max(wanted) + len(now.back) < len(now.usual))
    one = op.result(shape, None, "int" if op.name.startswith("arg") else kind_of(taken))
    return (one, op.result(shape, None, "int")) if op.name in ("max", "min") else one


def _against_classes(op: Operation) -> Any:
    """A loss against indices of classes; against their probabilities where these are floats."""
    given, wanted = op.tensor(0, "input"), op.tensor(1, "target")
    if kind_of_values(wanted) == "float":
        return _against_values(op)
    shape = shape_of(given)
    if shape.rank() is None:
        shape.close(max(2, len(shape.now().front) + len(shape.now().back)))
    place = 0 if shape.rank() == 1 else 1
    must_be(wanted, "int", shape.at(place))
    unite(removed(shape, [place]), shape_of(wanted))
    return _loss(op, shape_of(wanted))


def _against_values(op: Operation) -> Any:
    given, wanted = op.tensor(0, "input"), op.tensor(1, "target")
    must_be(wanted, "float")
    unite(shape_of(given), shape_of(wanted))
    return _loss(op, shape_of(given))


def _loss(op: Operation, shape: Shape) -> Any:
    return op.result(shape if op.kwargs.get("reduction", "mean") == "none" else Shape())


MODELS: dict[str, Model] = {
    **dict.fromkeys(SAME_SHAPE, _same),
    **dict.fromkeys(("__neg__", "__abs__", "log_softmax", "masked_fill_"), _same),
    **dict.fromkeys(("bitwise_not", "__invert__"), _inverted),
    **dict.fromkeys(_BY_ELEMENTS | _COMPARISONS, _elementwise),
    **dict.fromkeys(_REDUCING, _reduced),
    **dict.fromkeys((f"{name}.__get__" for name in _ATTRIBUTES), _attribute),
    **dict.fromkeys(_BY_VALUES, _against_values),
    **dict.fromkeys(("cross_entropy", "nll_loss"), _against_classes),
    **dict.fromkeys(("dim", "ndimension"), _rank),
    **dict.fromkeys(("new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"), _made_like),
    "size": _size,
    "__len__": _length,
}
