"""The table of shapes: what each function and method of torch makes of the shapes it is given."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis.trace.shapes import arranging, computing, joining, sampling, selecting
from tsguard.analysis.trace.shapes.algebra import ALGEBRA, OF_LINALG
from tsguard.analysis.trace.shapes.dims import number
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.joining import JOINING
from tsguard.analysis.trace.shapes.layers import adapted
from tsguard.analysis.trace.shapes.operation import Operation, Shaped
from tsguard.analysis.trace.shapes.reducing import REDUCING
from tsguard.analysis.trace.shapes.sampling import SAMPLING
from tsguard.analysis.trace.shapes.spectra import TRANSFORMS
from tsguard.analysis.trace.shapes.windows import convolved, pooled
from tsguard.language.same_shape import RESHAPING, SAME_SHAPE

Rule = Callable[[Operation], Shaped]


def rule_of(name: str) -> Rule | None:
    """What gives the shape of a function's or method's result; None where it is not known."""
    owner, _, short = name.rpartition(".")
    found = _OF_OWNERS.get(owner, {}).get(short) or _RULES.get(short)
    is_in_place = found is None and short.endswith("_") and not short.startswith("_")
    return computing.same if is_in_place and short not in RESHAPING else found


def _pooled(count: int) -> Rule:
    return lambda op: pooled(op, count)


def _convolved(count: int) -> Rule:
    return lambda op: convolved(op, count)


def _adapted(count: int) -> Rule:
    return lambda op: adapted(op, op.given(1, "output_size"), count, op.takes_rank(op.shape(), count + 2))


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


def _repeated_each(op: Operation) -> Shaped:
    """``x.repeat_interleave(repeats, dim)`` with a tensor of counts or a number."""
    return selecting.repeated_each(op) or joining.each_repeated(op)


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
    "complex",
    "polar",
    "heaviside",
    "isclose",
    "normal",
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
    "max",
    "min",
    "median",
]

_FILLED = ["zeros", "ones", "empty", "rand", "randn"]
_ANEW = ["new_zeros", "new_ones", "new_empty"]

_ROWS = [
    "randperm", "hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window", "fftfreq",
]  # fmt: skip

_RULES: dict[str, Rule] = {
    **ALGEBRA,
    **JOINING,
    **REDUCING,
    **SAMPLING,
    **TRANSFORMS,
    **dict.fromkeys(SAME_SHAPE, computing.same),
    **dict.fromkeys(("Parameter", "Variable"), computing.same),
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
    **dict.fromkeys(_ROWS, computing.in_a_row),
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
    **dict.fromkeys(("tril_indices", "triu_indices"), computing.of_triangle),
    "flatten": arranging.flattened,
    "full": computing.filled_with,
    "gather": arranging.gathered,
    "index_select": arranging.index_selected,
    **dict.fromkeys(("interpolate", "upsample"), computing.scaled),
    "layer_norm": _layer_normed,
    "linear": _linear,
    "linspace": computing.spaced,
    "logspace": computing.spaced,
    "masked_select": selecting.picked,
    "matmul": computing.multiplied,
    "__matmul__": computing.multiplied,
    "mm": computing.multiplied_flat,
    "meshgrid": computing.meshed,
    "movedim": arranging.moved,
    "narrow": arranging.narrowed,
    "new_tensor": computing.listed_anew,
    "nonzero": selecting.found,
    "norm": computing.normed,
    **dict.fromkeys(("dist", "dot", "numel", "trace", "vdot"), _nothing),
    "one_hot": computing.one_hot,
    "outer": computing.outer,
    "pad": arranging.padded,
    "permute": arranging.permuted,
    "pixel_shuffle": _shuffled,
    "randint": computing.drawn_whole,
    "repeat": arranging.repeated,
    "repeat_interleave": _repeated_each,
    "reshape": arranging.viewed,
    "scaled_dot_product_attention": computing.attended,
    "select": arranging.selected,
    **dict.fromkeys(("sort", "cummax", "cummin", "gradient"), _batch),
    "split": arranging.split,
    "squeeze": arranging.squeezed,
    "stack": arranging.stacked,
    "swapaxes": arranging.transposed,
    "swapdims": arranging.transposed,
    "t": arranging.turned,
    **dict.fromkeys(("tensor", "as_tensor", "asarray"), computing.listed),
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

_OF_OWNERS: dict[str, dict[str, Rule]] = {
    "torch.linalg": OF_LINALG,
    "torch.nn.functional": {"unfold": sampling.patched},
}
"""Rules of functions that do otherwise than those of the same name elsewhere."""
