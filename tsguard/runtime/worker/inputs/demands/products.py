"""Layers and products of matrices: what they take says what an open shape is."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tsguard.runtime.worker.inputs.demands.operation import (
    Model,
    Operation,
    Unmodelled,
    appended,
    must_be,
    shape_of,
    without_last,
)
from tsguard.runtime.worker.inputs.demands.shapes import Shape, Size, broadcast, unite
from tsguard.runtime.worker.inputs.demands.standins import StandIn, materialised
from tsguard.runtime.worker.inputs.specs import BATCH, FRAMES, IMAGE

_USUAL = {3: (BATCH, 1, IMAGE), 4: (BATCH, 3, IMAGE, IMAGE), 5: (BATCH, 3, FRAMES, IMAGE // 2, IMAGE // 2)}


def _weight(op: Operation, place: int) -> Tensor:
    found = op.tensor(place, "weight")
    if isinstance(found, StandIn):
        raise Unmodelled("a weight that is computed")
    return found


def _linear(op: Operation) -> Any:
    taken, weight = op.tensor(0, "input"), op.tensor(1, "weight")
    must_be(taken, "float")
    rows = shape_of(weight)
    rows.close(2)
    shape_of(taken).at(-1).unite(rows.at(1))
    return op.result(appended(without_last(shape_of(taken), 1), rows.at(0)))


def _bilinear(op: Operation) -> Any:
    weight = _weight(op, 2)
    sides = op.tensor(0, "input1"), op.tensor(1, "input2")
    outs = []
    for place, side in enumerate(sides, 1):
        must_be(side, "float")
        shape_of(side).at(-1).must_be(weight.shape[place])
        outs.append(appended(without_last(shape_of(side), 1), Size(1, weight.shape[0])))
    unite(outs[0], outs[1])
    return op.result(outs[0])


def _embedding(op: Operation) -> Any:
    indices, table = op.open(0), _weight(op, 1)
    must_be(indices, "int", table.shape[0])
    out = appended(indices.shape_now, Size(1, table.shape[1]))
    rest = out.now().rest
    if rest is not None:
        rest.looked_up = True
    return op.result(out)


def _embedding_bag(op: Operation) -> Any:
    """One row of indices where ``offsets`` says which belong together, else a row for each bag."""
    indices, table, offsets = op.tensor(0, "input"), _weight(op, 1), op.given(2, "offsets")
    must_be(indices, "int", table.shape[0])
    shape_of(indices).close(2 if offsets is None else 1, () if offsets is None else (16,))
    weights = op.given(7, "per_sample_weights")
    if isinstance(weights, Tensor):
        unite(shape_of(indices), shape_of(weights))
    if not isinstance(offsets, Tensor):
        return op.result(Shape((shape_of(indices).at(0), Size(1, table.shape[1]))))
    must_be(offsets, "int", 1)
    shape_of(offsets).close(1)
    raise Unmodelled("bags")


def _normed(op: Operation) -> Any:
    taken = op.open(0)
    for place, size in enumerate(reversed(tuple(op.given(1, "normalized_shape")))):
        taken.shape_now.at(-1 - place).must_be(int(size))
    return op.result(taken.shape_now)


def _normed_by_channel(op: Operation) -> Any:
    taken = op.open(0)
    for value in (*op.args[1:], *op.kwargs.values()):
        if isinstance(value, Tensor) and value.dim() == 1:
            taken.shape_now.at(1).must_be(value.shape[0])
    return op.result(taken.shape_now)


def _convolved(op: Operation) -> Any:
    """The number of dimensions and of channels is known; what comes out of the other sizes is computed."""
    taken, weight = op.open(0), _weight(op, 1)
    must_be(taken, "float")
    taken.shape_now.close(weight.dim(), _USUAL[weight.dim()])
    transposed = "transpose" in op.name
    groups = int(op.given(6, "groups", 1))
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    taken.shape_now.at(1).must_be(channels)
    sizes = _over_places(op, channels)
    return op.result(Shape((taken.shape_now.at(0), *(Size(1, n) for n in sizes[1:]))))


def _multiplied(op: Operation) -> Any:
    a, b = shape_of(op.tensor(0, "input")), shape_of(op.tensor(1, "other"))
    if op.name in ("bmm", "mm"):
        for shape in (a, b):
            shape.close(3 if op.name == "bmm" else 2)
    for tensor in (op.tensor(0, "input"), op.tensor(1, "other")):
        must_be(tensor, "float")
    if 1 in (a.rank(), b.rank()):
        raise Unmodelled("vectors")
    a.at(-1).unite(b.at(-2))
    rows, columns = a.at(-2), b.at(-1)
    if b.rank() == 2:
        lead = without_last(a, 2)
    elif a.rank() == 2:
        lead = without_last(b, 2)
    else:
        lead = broadcast(without_last(a, 2), without_last(b, 2))
    return op.result(appended(lead, rows, columns))


def _attended(op: Operation) -> Any:
    """``multi_head_attention_forward``: the length first, then the batch."""
    query, key, value = (op.tensor(place, name) for place, name in enumerate(("query", "key", "value")))
    for tensor, weight, own in ((query, "q", op.args[3]), (key, "k", op.args[3]), (value, "v", op.args[3])):
        separate = op.kwargs.get(f"{weight}_proj_weight")
        shape = shape_of(tensor)
        shape.close(3)
        shape.at(2).must_be(separate.shape[1] if isinstance(separate, Tensor) else int(own))
        shape.at(1).unite(shape_of(query).at(1))
    shape_of(key).at(0).unite(shape_of(value).at(0))
    padding = op.kwargs.get("key_padding_mask")
    if isinstance(padding, StandIn):
        unite(padding.shape_now, Shape((shape_of(query).at(1), shape_of(key).at(0))))
    raise Unmodelled("attention")


def _over_places(op: Operation, channels: int) -> torch.Size:
    """The sizes that come out of the usual ones; the batch and, where there is one for each, channels stay open."""
    places = [size.decide(op.session.hints) for size in op.open(0).shape_now.now().front[2:]]
    rest = (op.args[1:], op.kwargs)
    found = op.function(torch.zeros(1, channels, *places), *materialised(rest[0]), **materialised(rest[1]))
    if not isinstance(found, Tensor):
        raise Unmodelled("several results")
    return found.shape


def _pooled(op: Operation) -> Any:
    taken, rank = op.open(0), int(op.name[-2]) + 2
    taken.shape_now.close(rank, _USUAL[rank])
    return _by_channel(op)


def _interpolated(op: Operation) -> Any:
    taken, mode = op.open(0), op.kwargs.get("mode", "nearest")
    to = op.given(1, "size") or op.given(2, "scale_factor")
    count = len(to) + 2 if isinstance(to, (tuple, list)) else None
    rank = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}.get(mode, count)
    if rank is None:
        raise Unmodelled("sizes that are computed")
    taken.shape_now.close(rank, _USUAL[rank])
    return _by_channel(op)


def _by_channel(op: Operation) -> Any:
    """What is done to each channel alone."""
    sizes = _over_places(op, 1)
    return op.result(Shape((*op.open(0).shape_now.now().front[:2], *(Size(1, n) for n in sizes[2:]))))


def _sampled(op: Operation) -> Any:
    taken, grid = op.tensor(0, "input"), op.tensor(1, "grid")
    shape_of(taken).close(4, _USUAL[4])
    shape_of(grid).close(4)
    shape_of(grid).at(3).must_be(2)
    shape_of(grid).at(0).unite(shape_of(taken).at(0))
    raise Unmodelled("sizes that are computed")


def _square(op: Operation) -> Any:
    taken = op.open(0)
    taken.shape_now.at(-1).unite(taken.shape_now.at(-2))
    return op.result(taken.shape_now)


def _crossed(op: Operation) -> Any:
    """A product of vectors in space."""
    a, b = op.tensor(0, "input"), op.tensor(1, "other")
    dim = op.given(2, "dim")
    shape_of(a).at(-1 if dim is None else int(dim)).must_be(3)
    shape = broadcast(shape_of(a), shape_of(b))
    return op.result(shape)


def _aligned(op: Operation) -> Any:
    """``ctc_loss``: lengths first, then the batch; the lengths of each, and targets below the classes."""
    given, targets, lengths, target_lengths = (
        op.tensor(place, name)
        for place, name in enumerate(("log_probs", "targets", "input_lengths", "target_lengths"))
    )
    shape = shape_of(given)
    shape.close(3)
    must_be(targets, "int", shape.at(2))
    shape_of(targets).close(2)
    for tensor in (targets, lengths, target_lengths):
        must_be(tensor, "int")
        shape_of(tensor).at(0).unite(shape.at(1))
    for tensor in (lengths, target_lengths):
        shape_of(tensor).close(1)
    return op.result(Shape())


_POOLS = ("max_pool", "avg_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool")

MODELS: dict[str, Model] = {
    **dict.fromkeys((f"{name}{n}d" for n in (1, 2, 3) for name in _POOLS), _pooled),
    **dict.fromkeys(("inverse", "linalg_inv", "linalg_cholesky", "matrix_exp"), _square),
    **dict.fromkeys(("cross", "linalg_cross"), _crossed),
    "interpolate": _interpolated,
    "grid_sample": _sampled,
    "ctc_loss": _aligned,
    **dict.fromkeys((f"conv{t}{n}d" for n in (1, 2, 3) for t in ("", "_transpose")), _convolved),
    **dict.fromkeys(("matmul", "__matmul__", "bmm", "mm"), _multiplied),
    **dict.fromkeys(("batch_norm", "instance_norm"), _normed_by_channel),
    "linear": _linear,
    "bilinear": _bilinear,
    "embedding": _embedding,
    "embedding_bag": _embedding_bag,
    "layer_norm": _normed,
    "multi_head_attention_forward": _attended,
}
