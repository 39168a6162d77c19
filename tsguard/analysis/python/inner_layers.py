"""The layers that torch's own layers hold: in which order, and what their constructors hand on to them.

As in torch/nn/modules/transformer.py and torch/nn/modules/activation.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tsguard.analysis.values import Value

# For each inner layer its arguments, by the names of those of the outer one.
_Handed = Mapping[str, Mapping[str, str]]

_ATTENTION = {
    "embed_dim": "d_model",
    "num_heads": "nhead",
    "dropout": "dropout",
    "bias": "bias",
    "batch_first": "batch_first",
}
_FEED_FORWARD: _Handed = {
    "linear1": {"in_features": "d_model", "out_features": "dim_feedforward", "bias": "bias"},
    "dropout": {"p": "dropout"},
    "linear2": {"in_features": "dim_feedforward", "out_features": "d_model", "bias": "bias"},
}
_NORM = {"normalized_shape": "d_model", "eps": "layer_norm_eps", "bias": "bias"}
_DROPOUT = {"p": "dropout"}
_HANDED: Mapping[str, _Handed] = {
    "torch.nn.TransformerEncoderLayer": {
        "self_attn": _ATTENTION,
        **_FEED_FORWARD,
        **dict.fromkeys(("norm1", "norm2"), _NORM),
        **dict.fromkeys(("dropout1", "dropout2"), _DROPOUT),
    },
    "torch.nn.TransformerDecoderLayer": {
        **dict.fromkeys(("self_attn", "multihead_attn"), _ATTENTION),
        **_FEED_FORWARD,
        **dict.fromkeys(("norm1", "norm2", "norm3"), _NORM),
        **dict.fromkeys(("dropout1", "dropout2", "dropout3"), _DROPOUT),
    },
    "torch.nn.MultiheadAttention": {
        "out_proj": {"in_features": "embed_dim", "out_features": "embed_dim", "bias": "bias"}
    },
    "torch.nn.Transformer": {"encoder": {}, "decoder": {}},
}


def ordered(layer: str, names: Iterable[str]) -> list[str]:
    """The names of the inner layers in the order in which torch registers them."""
    order = list(_HANDED.get(layer, ()))
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def handed(layer: str, name: str, arguments: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments with which a layer constructs an inner one, as far as they are known."""
    names = _HANDED.get(layer, {}).get(name, {})
    return {inner: arguments[outer] for inner, outer in names.items() if outer in arguments}
