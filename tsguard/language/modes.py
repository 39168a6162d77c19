"""What of torch depends on train() and eval(), is random, or updates state, and when.

Source: torch 2.13, asked by experiment (tests/language/test_modes.py asks again): eager
results in both modes, results of repeated calls, and state before and after.
"""

from __future__ import annotations

from typing import Literal

from tsguard.report.records import dataclass

Effect = Literal["random", "state"]


@dataclass(frozen=True, slots=True)
class ModeUse:
    """How a layer or a function uses the mode.

    ``kind`` says what it is, and words the findings.  With its flag set it is random or
    updates state (``effect``); ``flag`` is the parameter of a function that is the flag,
    "" where there is none and the effect is there in both modes.  It has no effect when
    an argument among ``off`` has the value given there, when the two named in
    ``equal`` are the same, or when the random values are given, as ``samples``.
    """

    kind: str
    effect: Effect
    flag: str = "training"
    off: tuple[tuple[str, object], ...] = ()
    equal: tuple[str, str] | None = None
    samples: str = ""


def _layers(names: str, use: ModeUse) -> dict[str, ModeUse]:
    return {f"torch.nn.{name}": use for name in names.split()}


_NO_P = (("p", 0),)
_UNTRACKED = (("track_running_stats", False),)
_NO_DROPOUT = (("dropout", 0),)

LAYERS: dict[str, ModeUse] = {
    **_layers("Dropout Dropout1d Dropout2d Dropout3d", ModeUse("dropout", "random", off=_NO_P)),
    **_layers("AlphaDropout FeatureAlphaDropout", ModeUse("dropout", "random", off=_NO_P)),
    **_layers(
        "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm", ModeUse("statistics", "state", off=_UNTRACKED)
    ),
    **_layers(
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d", ModeUse("statistics", "state", off=_UNTRACKED)
    ),
    # What they derive from has their forward (torch/nn/modules/batchnorm.py and instancenorm.py).
    **_layers(
        "modules.batchnorm._BatchNorm modules.instancenorm._InstanceNorm",
        ModeUse("statistics", "state", off=_UNTRACKED),
    ),
    **_layers("InstanceNorm1d InstanceNorm2d InstanceNorm3d", ModeUse("statistics", "state", off=_UNTRACKED)),
    **_layers(
        "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
        ModeUse("statistics", "state", off=_UNTRACKED),
    ),
    **_layers("RNN LSTM GRU", ModeUse("dropout", "random", off=(*_NO_DROPOUT, ("num_layers", 1)))),
    **_layers("MultiheadAttention Transformer", ModeUse("dropout", "random", off=_NO_DROPOUT)),
    **_layers(
        "TransformerEncoderLayer TransformerDecoderLayer", ModeUse("dropout", "random", off=_NO_DROPOUT)
    ),
    **_layers("RReLU", ModeUse("slope", "random", equal=("lower", "upper"))),
    **_layers(
        "FractionalMaxPool2d FractionalMaxPool3d",
        ModeUse("sampling", "random", flag="", samples="_random_samples"),
    ),
    **_layers(
        "Embedding EmbeddingBag", ModeUse("renormalising", "state", flag="", off=(("max_norm", None),))
    ),
}

# The arguments by which TransformerEncoder and TransformerDecoder are given the layer that they copy.
WRAPPED = ("encoder_layer", "decoder_layer")

_DROP = ModeUse("dropout", "random", off=_NO_P)
_NORM = ModeUse("statistics", "state", off=(("running_mean", None),))
_CELL_STACK = ModeUse("dropout", "random", flag="train", off=(*_NO_DROPOUT, ("num_layers", 1)))

_FUNCTIONAL: dict[str, ModeUse] = {
    **dict.fromkeys(
        ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"), _DROP
    ),
    "batch_norm": _NORM,
    "instance_norm": ModeUse("statistics", "state", flag="use_input_stats", off=(("running_mean", None),)),
    "rrelu": ModeUse("slope", "random", equal=("lower", "upper")),
    "multi_head_attention_forward": ModeUse("dropout", "random", off=(("dropout_p", 0),)),
    "scaled_dot_product_attention": ModeUse("dropout", "random", flag="", off=(("dropout_p", 0),)),
    "embedding": ModeUse("renormalising", "state", flag="", off=(("max_norm", None),)),
    "embedding_bag": ModeUse("renormalising", "state", flag="", off=(("max_norm", None),)),
}

_RAW_DROP = ModeUse("dropout", "random", flag="train", off=_NO_P)

FUNCTIONS: dict[str, ModeUse] = {
    **{f"torch.nn.functional.{name}": use for name, use in _FUNCTIONAL.items()},
    **{
        f"torch.{name}{end}": _RAW_DROP
        for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
        for end in ("", "_")
    },
    "torch.native_dropout": _RAW_DROP,
    "torch.nn.functional.rrelu_": _FUNCTIONAL["rrelu"],
    "torch.rrelu": _FUNCTIONAL["rrelu"],
    "torch.rrelu_": _FUNCTIONAL["rrelu"],
    "torch.batch_norm": _NORM,
    "torch.instance_norm": _FUNCTIONAL["instance_norm"],
    **{f"torch.{name}": _CELL_STACK for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")},
}

# Operators that draw from torch's generator whatever their arguments.  Those of the tag
# ``nondeterministic_seeded`` that a flag or a probability switches are above.
_RANDOM_OPERATORS = frozenset(
    {
        "bernoulli",
        "bernoulli_",
        "binomial",
        "cauchy",
        "cauchy_",
        "exponential",
        "exponential_",
        "geometric",
        "geometric_",
        "log_normal",
        "log_normal_",
        "multinomial",
        "normal",
        "normal_",
        "poisson",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "random",
        "random_",
        "randperm",
        "uniform",
        "uniform_",
    }
)
_RANDOM_FUNCTIONS = frozenset(
    {
        "torch.nn.functional.gumbel_softmax",
        "torch.nn.functional.fractional_max_pool2d",
        "torch.nn.functional.fractional_max_pool3d",
        "torch.nn.functional.fractional_max_pool2d_with_indices",
        "torch.nn.functional.fractional_max_pool3d_with_indices",
        "torch.svd_lowrank",
        "torch.pca_lowrank",
    }
)
_RANDOM_PACKAGES = ("random.", "numpy.random.", "secrets.")
_SEEDS = frozenset({"seed", "get_state", "set_state", "getstate", "setstate", "get_rng_state"})
_FIXED_INITIALISERS = frozenset({"constant_", "ones_", "zeros_", "eye_", "dirac_", "calculate_gain"})


def is_random_operator(name: str) -> bool:
    """Whether an operator of torch, by its short name, is random whatever its arguments."""
    return name in _RANDOM_OPERATORS


def is_random_function(name: str) -> bool:
    """Whether a function, by its qualified name, is random whatever its arguments."""
    package, _, short = name.rpartition(".")
    if package == "torch.nn.init":
        return short not in _FIXED_INITIALISERS
    if name.startswith(_RANDOM_PACKAGES):
        return short not in _SEEDS and not short[:1].isupper()
    return (package == "torch" and short in _RANDOM_OPERATORS) or name in _RANDOM_FUNCTIONS


def observes(name: str) -> bool:
    """Whether a module class of ``torch.ao.quantization`` learns ranges whenever it is called."""
    package, _, short = name.rpartition(".")
    return (
        "quantization" in package and short.endswith(("FakeQuantize", "Observer")) and short not in _PASSIVE
    )


_PASSIVE = frozenset(
    {
        "FixedQParamsObserver",
        "FixedQParamsFakeQuantize",
        "NoopObserver",
        "PlaceholderObserver",
        "ReuseInputObserver",
        "RecordingObserver",
    }
)
