"""The table of shapes: what each function and method of torch makes of the shapes it is given."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis.trace.shapes import arranging, computing, selecting
from tsguard.analysis.trace.shapes.dims import number
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.layers import adapted
from tsguard.analysis.trace.shapes.operation import Operation, Shaped
from tsguard.analysis.trace.shapes.windows import convolved, pooled
from tsguard.language.same_shape import SAME_SHAPE

Rule = Callable[[Operation], Shaped]


def rule_of(name: str) -> Rule | None:
    """What gives the shape of a function's or method's result, by its short name; None where it is not known."""
    return _RULES.get(name)


def _pooled(count: int) -> Rule:
    return lambda op: pooled(op, count)


def _convolved(count: int) -> Rule:
    return lambda op: convolved(op, count)


def _adapted(count: int) -> Rule:
    return lambda op: adapted(op, op.given(1, "output_size"), count, op.shape())


def _linear(op: Operation) -> Shaped:
    weight = op.shape(1, "weight")
    if weight is None or weight.lead is not None or len(weight.dims) != 2:
        return None
    op.takes(op.shape(), -1, weight.dims[1])
    shape = op.shape()
    return None if shape is None else shape.with_last(weight.dims[0])


def _embedded(op: Operation) -> Shaped:
    shape, weight = op.shape(), op.shape(1, "weight")
    return None if shape is None else shape.followed_by(None if weight is None else weight.at(-1))


def _layer_normed(op: Operation) -> Shaped:
    given = op.given(1, "normalized_shape")
    sizes = None if given is None else Operation(op.facts, [given]).dims(0)
    for index, wanted in enumerate(reversed(sizes or ()), 1):
        op.takes(op.shape(), -index, wanted)
    return op.shape()


def _shuffled(op: Operation) -> Shaped:
    shape, factor = op.shape(), op.whole(1, "upscale_factor")
    if shape is None or not factor:
        return None
    channels = shape.at(-3)
    few = None if channels is None else channels.over(number(factor * factor))
    sides = (None if dim is None else dim.times(number(factor)) for dim in shape.last(2))
    return shape.with_last(few, *sides)


def _batch(op: Operation) -> Shaped:
    """A pair of shapes for what returns values and indices, or statistics beside its result."""
    shape = op.shape()
    return [shape, shape]


def _nothing(op: Operation) -> Shaped:
    return Extent()


_TOGETHER = [
    "add",
    "sub",
    "subtract",
    "mul",
    "multiply",
    "div",
    "divide",
    "true_divide",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "eq",
    "ne",
    "lt",
    "gt",
    "le",
    "ge",
    "equal_",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "hypot",
    "copysign",
    "lerp",
    "where",
    "masked_fill",
    "addcmul",
    "addcdiv",
    "xlogy",
    "logaddexp",
    "rsub",
    "__add__",
    "__radd__",
    "__mul__",
    "__rmul__",
    "__sub__",
    "__rsub__",
    "__truediv__",
    "__and__",
    "__or__",
    "__xor__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__gt__",
    "__le__",
    "__ge__",
    "__pow__",
]

_REDUCED = [
    "mean",
    "sum",
    "prod",
    "amax",
    "amin",
    "all",
    "any",
    "argmax",
    "argmin",
    "logsumexp",
    "nanmean",
    "nansum",
    "std",
    "var",
    "max",
    "min",
    "median",
]

_FILLED = ["zeros", "ones", "empty", "rand", "randn"]
_ANEW = ["new_zeros", "new_ones", "new_empty"]

_RULES: dict[str, Rule] = {
    **dict.fromkeys(SAME_SHAPE, computing.same),
    **dict.fromkeys(_TOGETHER, computing.together),
    **dict.fromkeys(_REDUCED, computing.reduced),
    **dict.fromkeys(_FILLED, computing.filled),
    **dict.fromkeys(_ANEW, computing.filled_anew),
    **{f"max_pool{count}d": _pooled(count) for count in (1, 2, 3)},
    **{f"conv{count}d": _convolved(count) for count in (1, 2, 3)},
    **{f"avg_pool{count}d": _pooled(count) for count in (1, 2, 3)},
    **{f"adaptive_avg_pool{count}d": _adapted(count) for count in (1, 2, 3)},
    **{f"adaptive_max_pool{count}d": _adapted(count) for count in (1, 2, 3)},
    "arange": computing.counted,
    "argwhere": selecting.found,
    "bincount": selecting.picked,
    "bmm": computing.multiplied_in_batches,
    "cat": arranging.concatenated,
    "concat": arranging.concatenated,
    "concatenate": arranging.concatenated,
    "chunk": arranging.chunked,
    "einsum": computing.einsum,
    "embedding": _embedded,
    "expand": arranging.expanded,
    "expand_as": arranging.like_another,
    "eye": computing.eye,
    "flatten": arranging.flattened,
    "full": computing.filled_with,
    "gather": arranging.gathered,
    "index_select": arranging.index_selected,
    "interpolate": computing.scaled,
    "layer_norm": _layer_normed,
    "linear": _linear,
    "linspace": computing.spaced,
    "masked_select": selecting.picked,
    "matmul": computing.multiplied,
    "__matmul__": computing.multiplied,
    "mm": computing.multiplied_flat,
    "movedim": arranging.moved,
    "narrow": arranging.narrowed,
    "nonzero": selecting.found,
    "norm": computing.normed,
    "numel": _nothing,
    "one_hot": computing.one_hot,
    "outer": computing.outer,
    "pad": arranging.padded,
    "permute": arranging.permuted,
    "pixel_shuffle": _shuffled,
    "repeat": arranging.repeated,
    "repeat_interleave": selecting.repeated_each,
    "reshape": arranging.viewed,
    "scaled_dot_product_attention": computing.attended,
    "select": arranging.selected,
    "sort": _batch,
    "split": arranging.split,
    "squeeze": arranging.squeezed,
    "stack": arranging.stacked,
    "swapaxes": arranging.transposed,
    "swapdims": arranging.transposed,
    "t": arranging.turned,
    "topk": computing.ranked,
    "transpose": arranging.transposed,
    "unbind": arranging.unbound,
    "unflatten": arranging.unflattened,
    "unique": selecting.distinct,
    "unique_consecutive": selecting.distinct,
    "unsqueeze": arranging.unsqueezed,
    "view": arranging.viewed,
    "where": selecting.chosen,
    "view_as": arranging.like_another,
    "reshape_as": arranging.like_another,
}  # fmt: skip
