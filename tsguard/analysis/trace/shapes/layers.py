"""Shapes that the layers of torch.nn take and give: what they pin of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import arranging
from tsguard.analysis.trace.shapes.arranging import flattened, unflattened
from tsguard.analysis.trace.shapes.computing import scaled
from tsguard.analysis.trace.shapes.dims import Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, Lead, product
from tsguard.analysis.trace.shapes.operation import Operation, Shaped
from tsguard.analysis.trace.shapes.reducing import apart, similar, weighed, weighed_by_class
from tsguard.analysis.trace.shapes.sampling import folded, gated, patched, power_pooled, shrunk_by
from tsguard.analysis.trace.shapes.windows import Window, padded, slid, slid_back

# A rule is given the call, and the layer's constructor arguments as if they were those of one.
Rule = Callable[[Operation, Operation], Shaped]


def has_rule(name: str) -> bool:
    """Whether something is known of the shapes of a layer."""
    return name in _RULES


def shaped(name: str, op: Operation, arguments: Operation) -> Shaped:
    """The shape that a layer of torch.nn gives; None where it is not known."""
    rule = _RULES.get(name)
    return None if rule is None else rule(op, arguments)


def _of(layer: Operation, name: str) -> Dim | None:
    return layer.dim(layer.given(0, name))


def _same(op: Operation, layer: Operation) -> Shaped:
    return op.shape()


def _linear(op: Operation, layer: Operation) -> Shaped:
    op.takes(op.shape(), -1, _of(layer, "in_features"))
    shape, out = op.shape(), _of(layer, "out_features")
    return Extent((out,), Lead()) if shape is None else shape.with_last(out)


def _batched(op: Operation, count: int) -> Extent:
    """The tensor with a batch and channels before its last dimensions."""
    shape = op.takes_rank(op.shape(), count + 2)
    return Extent((None,) * count, Lead()) if shape is None else shape


def _window(layer: Operation, count: int) -> Window:
    stride = layer.given(0, "stride")
    kernel = layer.given(0, "kernel_size")
    padding = layer.given(0, "padding")
    return Window(
        layer.numbers(kernel, count),
        layer.numbers(kernel if stride is None or py.is_none(stride) else stride, count),
        padded(layer, padding, count),
        layer.numbers(layer.given(0, "dilation") or py.Const(1), count),
        layer.flag(0, "ceil_mode"),
    )


def _convolution(count: int) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        shape, out = _batched(op, count), _of(layer, "out_channels")
        op.takes(shape, -count - 1, _of(layer, "in_channels"))
        shape = op.facts.extent(shape)
        if layer.given(0, "padding") == py.Const("same"):
            return shape.without_last(count + 1).followed_by(out, *shape.last(count))
        return slid(shape, count, _window(layer, count), out)

    return rule


def _transposed_convolution(count: int) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        shape, out = _batched(op, count), _of(layer, "out_channels")
        op.takes(shape, -count - 1, _of(layer, "in_channels"))
        extra = layer.numbers(layer.given(0, "output_padding"), count) if len(op.args) == 1 else None
        return slid_back(op.facts.extent(shape), count, _window(layer, count), extra, out)

    return rule


def _pooling(count: int) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        shape = _batched(op, count)
        return slid(shape, count, _window(layer, count), shape.at(-count - 1))

    return rule


def _adaptive(count: int) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        return adapted(op, layer.given(0, "output_size"), count, _batched(op, count))

    return rule


def adapted(op: Operation, wanted: py.Value | None, count: int, shape: Extent | None) -> Extent | None:
    """Pooling to a given size, None standing for a dimension as it is."""
    items = wanted.items if isinstance(wanted, (py.ListValue, py.TupleValue)) else [wanted] * count
    if len(items) != count:
        return None
    shape = Extent((None,) * count, Lead()) if shape is None else shape
    kept = zip(items, shape.last(count), strict=True)
    return shape.with_last(*(old if item is None or py.is_none(item) else op.dim(item) for item, old in kept))


def _channel_norm(argument: str, rank: int = 0) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        shape = op.takes_rank(op.shape(), rank) if rank else op.shape()
        if layer.flag(0, "affine", True) or layer.flag(0, "track_running_stats", False):
            op.takes(shape, 1, _of(layer, argument))
        return op.shape()

    return rule


def _last_norm(op: Operation, layer: Operation) -> Shaped:
    sizes = layer.dims(0, "normalized_shape")
    for index, wanted in enumerate(reversed(sizes or ()), 1):
        op.takes(op.shape(), -index, wanted)
    return op.shape()


def _embedding(op: Operation, layer: Operation) -> Shaped:
    shape, width = op.shape(), _of(layer, "embedding_dim")
    return Extent((width,), Lead()) if shape is None else shape.followed_by(width)


def _attention(op: Operation, layer: Operation) -> Shaped:
    op.takes(op.shape(0, "query"), -1, _of(layer, "embed_dim"))
    shape = op.shape(0, "query")
    return [shape, _attention_weights(op, layer, shape)]


def _attention_weights(op: Operation, layer: Operation, query: Extent | None) -> Extent | None:
    """How much each step of the queries weighs each of the keys, the mean of all heads."""
    keys, is_first = op.shape(1, "key"), layer.flag(0, "batch_first")
    needed, mean = op.flag(4, "need_weights", True), op.flag(6, "average_attn_weights", True)
    if query is None or keys is None or is_first is None or not needed or not mean:
        return None
    if query.rank == keys.rank == 2:
        return Extent((query.at(0), keys.at(0)))
    steps = 1 if is_first else 0
    are_batched = query.rank == keys.rank == 3
    return Extent((query.at(1 - steps), query.at(steps), keys.at(steps))) if are_batched else None


def _encoder_decoder(op: Operation, layer: Operation) -> Shaped:
    """``nn.Transformer(...)(src, tgt)``."""
    for index, name in enumerate(("src", "tgt")):
        op.takes(op.shape(index, name), -1, _of(layer, "d_model"))
    return op.shape(1, "tgt")


def _transformer(op: Operation, layer: Operation) -> Shaped:
    op.takes(op.shape(0, "src", "tgt"), -1, _of(layer, "d_model"))
    return op.shape(0, "src", "tgt")


def _stacked(op: Operation, layer: Operation) -> Shaped:
    """Copies of one layer, the first of which is given what they are given."""
    first = layer.given(0, "encoder_layer", "decoder_layer")
    if isinstance(first, py.ModuleValue) and first.cls in _TRANSFORMERS:
        return _transformer(op, Operation(op.facts, (), first.arguments))
    return op.shape(0, "src", "tgt")


_TRANSFORMERS = (
    py.External("torch.nn.TransformerEncoderLayer"),
    py.External("torch.nn.TransformerDecoderLayer"),
)


def _recurrent(op: Operation, layer: Operation) -> Shaped:
    op.takes(op.shape(), -1, _of(layer, "input_size"))
    shape, hidden, both = op.shape(), _of(layer, "hidden_size"), layer.flag(0, "bidirectional")
    projected = layer.number(layer.given(0, "proj_size") or py.Const(0))
    if hidden is None or both is None or projected != 0:
        return None
    ways = number(2 if both else 1)
    output = None if shape is None else shape.with_last(hidden.times(ways))
    return [output, _last_states(layer, shape, hidden, ways)]


def _last_states(layer: Operation, shape: Extent | None, hidden: Dim, ways: Dim) -> Extent:
    """The state of each layer and direction after the last step, of a network whose state is one tensor."""
    is_first, deep = layer.flag(0, "batch_first"), _of(layer, "num_layers") or number(1)
    if shape is None or shape.rank not in (2, 3) or is_first is None:
        return Extent((hidden,), Lead(head=(deep.times(ways),)))
    batch = () if shape.rank == 2 else (shape.at(0 if is_first else 1),)
    return Extent((deep.times(ways), *batch, hidden))


def _long_recurrent(op: Operation, layer: Operation) -> Shaped:
    """An LSTM, whose last states come as a pair."""
    found = _recurrent(op, layer)
    return [found[0], [found[1], found[1]]] if isinstance(found, list) else None


def _cell(op: Operation, layer: Operation) -> Shaped:
    """One step of a recurrent layer: states, and cells of an LSTM."""
    op.takes(op.shape(), -1, _of(layer, "input_size"))
    shape, hidden = op.shape(), _of(layer, "hidden_size")
    return None if shape is None else shape.with_last(hidden)


def _bilinear(op: Operation, layer: Operation) -> Shaped:
    op.takes(op.shape(0, "input1"), -1, _of(layer, "in1_features"))
    op.takes(op.shape(1, "input2"), -1, _of(layer, "in2_features"))
    shape = op.shape(0, "input1")
    return None if shape is None else shape.with_last(_of(layer, "out_features"))


def _loss(rule: Callable[[Operation], Shaped]) -> Rule:
    """A criterion is a function of two tensors and what its constructor was told of the reduction."""

    def run(op: Operation, layer: Operation) -> Shaped:
        names = ("reduction", "size_average", "reduce")
        told = {name: layer.kwargs[name] for name in names if not py.is_none(layer.kwargs.get(name, py.NONE))}
        return rule(Operation(op.facts, op.args, {**op.kwargs, **told}, op.learns))

    return run


def _power_pooling(count: int) -> Rule:
    return _as_function(power_pooled(count), "norm_type", "kernel_size", "stride", "ceil_mode")


def _as_function(rule: Callable[[Operation], Shaped], *names: str) -> Rule:
    """A layer that is a function of its input and some constructor arguments."""

    def run(op: Operation, layer: Operation) -> Shaped:
        given = {name: layer.kwargs[name] for name in names if name in layer.kwargs}
        return rule(Operation(op.facts, op.args, {**op.kwargs, **given}, op.learns))

    return run


def _unflattened(op: Operation, layer: Operation) -> Shaped:
    sizes = layer.given(0, "unflattened_size")
    return (
        None
        if sizes is None
        else _as_function(unflattened, "dim")(
            Operation(op.facts, op.args[:1], {"sizes": sizes}, op.learns), layer
        )
    )


def _padding(count: int) -> Rule:
    def rule(op: Operation, layer: Operation) -> Shaped:
        given = layer.given(0, "padding")
        items = given.items if isinstance(given, (py.TupleValue, py.ListValue)) else [given] * 2 * count
        amounts = py.TupleValue(tuple(item for item in items if item is not None))
        return arranging.padded(Operation(op.facts, [*op.args[:1], amounts]))

    return rule


def _shuffled(op: Operation, layer: Operation) -> Shaped:
    shape, factor = op.shape(), _of(layer, "upscale_factor")
    if shape is None or factor is None:
        return None
    channels = shape.at(-3)
    few = None if channels is None else channels.over(factor.times(factor))
    return shape.with_last(few, *(product((dim, factor)) for dim in shape.last(2)))


def _named(prefix: str, sides: Iterable[int], rule: Callable[[int], Rule]) -> dict[str, Rule]:
    return {f"torch.nn.{prefix}{count}d": rule(count) for count in sides}


_ELEMENTWISE = [
    "AlphaDropout",
    "CELU",
    "ChannelShuffle",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "FeatureAlphaDropout",
    "GELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "LeakyReLU",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]

_LOSSES = ["BCE", "BCEWithLogits", "Huber", "KLDiv", "L1", "MSE", "PoissonNLL", "SmoothL1", "SoftMargin"]

_RULES: dict[str, Rule] = {
    **{f"torch.nn.{name}": _same for name in _ELEMENTWISE},
    **_named("Conv", (1, 2, 3), _convolution),
    **_named("ConvTranspose", (1, 2, 3), _transposed_convolution),
    **_named("MaxPool", (1, 2, 3), _pooling),
    **_named("AvgPool", (1, 2, 3), _pooling),
    **_named("AdaptiveAvgPool", (1, 2, 3), _adaptive),
    **_named("AdaptiveMaxPool", (1, 2, 3), _adaptive),
    **_named("ZeroPad", (1, 2, 3), _padding),
    **_named("ConstantPad", (1, 2, 3), _padding),
    **_named("ReflectionPad", (1, 2, 3), _padding),
    **_named("ReplicationPad", (1, 2, 3), _padding),
    **_named("CircularPad", (1, 2, 3), _padding),
    **_named("LPPool", (1, 2, 3), _power_pooling),
    **{f"torch.nn.{name}Loss": _loss(weighed) for name in _LOSSES},
    "torch.nn.CrossEntropyLoss": _loss(weighed_by_class),
    "torch.nn.NLLLoss": _loss(weighed_by_class),
    "torch.nn.BatchNorm1d": _channel_norm("num_features"),
    "torch.nn.BatchNorm2d": _channel_norm("num_features", 4),
    "torch.nn.BatchNorm3d": _channel_norm("num_features", 5),
    "torch.nn.SyncBatchNorm": _channel_norm("num_features"),
    "torch.nn.InstanceNorm1d": _same,
    "torch.nn.InstanceNorm2d": _same,
    "torch.nn.InstanceNorm3d": _same,
    "torch.nn.GroupNorm": _channel_norm("num_channels"),
    "torch.nn.LayerNorm": _last_norm,
    "torch.nn.RMSNorm": _last_norm,
    "torch.nn.Linear": _linear,
    "torch.nn.modules.linear.NonDynamicallyQuantizableLinear": _linear,
    "torch.nn.Embedding": _embedding,
    "torch.nn.MultiheadAttention": _attention,
    "torch.nn.TransformerEncoderLayer": _transformer,
    "torch.nn.TransformerDecoderLayer": _transformer,
    "torch.nn.TransformerEncoder": _stacked,
    "torch.nn.TransformerDecoder": _stacked,
    "torch.nn.Transformer": _encoder_decoder,
    "torch.nn.LSTM": _long_recurrent,
    **dict.fromkeys(("torch.nn.LSTMCell", "torch.nn.GRUCell", "torch.nn.RNNCell"), _cell),
    "torch.nn.GRU": _recurrent,
    "torch.nn.RNN": _recurrent,
    "torch.nn.Flatten": _as_function(flattened, "start_dim", "end_dim"),
    "torch.nn.Unflatten": _unflattened,
    "torch.nn.Upsample": _as_function(scaled, "size", "scale_factor"),
    "torch.nn.UpsamplingNearest2d": _as_function(scaled, "size", "scale_factor"),
    "torch.nn.UpsamplingBilinear2d": _as_function(scaled, "size", "scale_factor"),
    "torch.nn.PixelShuffle": _shuffled,
    "torch.nn.PixelUnshuffle": _as_function(shrunk_by, "downscale_factor"),
    "torch.nn.Bilinear": _bilinear,
    "torch.nn.CosineSimilarity": _as_function(similar, "dim"),
    "torch.nn.Fold": _as_function(folded, "output_size", "kernel_size"),
    "torch.nn.GLU": _as_function(gated, "dim"),
    "torch.nn.PairwiseDistance": _as_function(apart, "keepdim"),
    "torch.nn.Unfold": _as_function(patched, "kernel_size", "dilation", "padding", "stride"),
}  # fmt: skip
