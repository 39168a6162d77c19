"""Layers of torch that a forward makes of sizes, which are tensors while torch traces.

Source: torch/nn/modules/utils.py (``_ntuple``) goes over what is iterable, which a tensor is; torch reads one number
where several are wanted, or a float.  Observed of each layer that takes a number.
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.values import Number, is_live, parts

# One number for several dimensions, by the name of the layer and of its parameters.
_KEPT = {
    **dict.fromkeys(
        ("MaxPool1d", "MaxPool2d", "MaxPool3d"), ("kernel_size", "stride", "padding", "dilation")
    ),
    **dict.fromkeys(("AvgPool2d", "AvgPool3d"), ("kernel_size", "stride", "padding")),
    **dict.fromkeys(("LPPool1d", "LPPool2d", "LPPool3d"), ("kernel_size", "stride")),
    **dict.fromkeys(("AdaptiveAvgPool1d", "AdaptiveMaxPool1d"), ("output_size",)),
}
_KEPT_AS_FLOAT = {
    "Upsample": ("scale_factor",),
    "PairwiseDistance": ("norm",),
    **dict.fromkeys(("ConstantPad1d", "ConstantPad2d", "ConstantPad3d"), ("value",)),
}
# One number that the constructor, or Python code of the layer, goes over.
_GONE_OVER = {
    "AvgPool1d": ("kernel_size", "stride", "padding"),
    "LayerNorm": ("normalized_shape",),
    "RMSNorm": ("normalized_shape",),
    "Unfold": ("kernel_size", "dilation", "padding", "stride"),
    **dict.fromkeys(
        ("AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d"), ("output_size",)
    ),
    **{
        f"{kind}Pad{sides}d": ("padding",)
        for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular")
        for sides in (1, 2, 3)
    },
}


def check(tracer: Tracer, module: py.ModuleValue, name: str, node: ast.AST) -> None:
    """Report what a layer of torch keeps of the sizes that it was made of, or does not take."""
    name = name.removeprefix("torch.nn.")
    for parameter, given in module.arguments.items():
        live = next((part for part in parts([given]) if isinstance(part, Number) and is_live(part)), None)
        if live is None:
            continue
        if name == "Unflatten" or (live is given and parameter in _GONE_OVER.get(name, ())):
            tracer.report("unsupported-on-size", node, live.origin, function=f"nn.{name}")
        elif live is given and parameter in _KEPT.get(name, ()):
            tracer.report("frozen-argument/several", node, live.origin, argument=parameter)
        elif parameter in _KEPT_AS_FLOAT.get(name, ()):
            tracer.report("frozen-argument/float", node, live.origin, argument=parameter)
