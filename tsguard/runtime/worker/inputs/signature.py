"""The parameters of ``forward`` and what their names and annotations suggest."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tsguard.runtime.worker.inputs.specs import (
    BATCH,
    FRAMES,
    IMAGE,
    LENGTH,
    Argument,
    DictSpec,
    Guess,
    SequenceSpec,
    Spec,
    TensorSpec,
    Verbatim,
)

_NAMES: list[tuple[str, Spec]] = [
    (r"video|videos|clip|clips", TensorSpec((BATCH, 3, FRAMES, IMAGE, IMAGE))),
    (
        r"im|img|imgs|image|images|pixel_values|.*_(img|image|images)",
        TensorSpec((BATCH, 3, IMAGE, IMAGE)),
    ),
    (r".*mask.*", TensorSpec((BATCH, LENGTH), "bool")),
    (r"(.*_)?ids|idx|indices|word(s)?|(src|tgt|target)_tokens|.*_idx", TensorSpec((BATCH, LENGTH), "int")),
    (r"edge_index", TensorSpec((2, 20), "int")),
    (r"(.*_)?(length|lengths|lens|seq_lens)", TensorSpec((BATCH,), "int", LENGTH)),
    (r"labels?|targets?|y_true|class(es)?|gt", TensorSpec((BATCH,), "int", 2)),
    (r"t|ts|time|times|timesteps?|sigma|noise_level", TensorSpec((BATCH,))),
    (
        r"q|k|v|query|key|value|keys|values|queries|x[qkv]|context|memory|cond|.*tokens|.*embed.*|.*emb",
        TensorSpec((BATCH, LENGTH, IMAGE)),
    ),
    (r"pos|coords?|coordinates|positions?|points|xyz|.*_pos", TensorSpec((BATCH, LENGTH, 3))),
    (r"wav|wave|waveform|audio|signal|series", TensorSpec((BATCH, 1, 2048))),
    (r"mel|spec|spectrogram", TensorSpec((BATCH, 80, 64))),
    (r"h|hx|h0|c0|c|state|hidden|hidden_state|prev_.*|cell", TensorSpec((BATCH, IMAGE))),
    (r"feats?|features?|fmap|feature_maps?|fmaps", TensorSpec((BATCH, 16, 16, 16))),
    (r"height|width|H|W", Verbatim("8")),
    (r"(input_|output_|spatial_|fmap_)?(size|shape|resolution|dims)|hw", Verbatim("(8, 8)")),
    (
        r"n|num_.*|n_.*|steps|.*_size|.*_len|max_.*|offset|.*_step|step|level|layer_idx|depth|dim",
        Verbatim("4"),
    ),
    (r"eps|temperature|scale|alpha|beta|gamma|ratio|.*_ratio|.*_scale|p|lam|momentum|lr", Verbatim("0.5")),
    (r"return_.*|use_.*|is_.*|with_.*|training|train|.*_flag|causal|verbose", Verbatim("False")),
    (r".*mode|.*type|name|task|prefix|reduction|key_name", Verbatim("''")),
    (r".*_fn|fn|func|function|callback|activation", Verbatim("torch.relu")),
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the callee."""

    name: str
    annotation: Any
    required: bool
    keyword: bool
    default: Any = None


def parameters(callee: Any) -> tuple[list[Parameter], bool]:
    """The parameters, and whether any further keyword is accepted.

    Raises:
        TypeError, ValueError: the callee has no signature that can be read.
    """
    if isinstance(callee, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return _compiled_parameters(callee), False
    function = callee.forward if isinstance(callee, nn.Module) else callee
    signature = inspect.signature(function)
    hints = _annotations(function)
    found: list[Parameter] = []
    open_ended = False
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            open_ended |= p.kind is p.VAR_KEYWORD
            if p.kind is p.VAR_POSITIONAL and not found:
                found.append(Parameter("x" if p.name in ("args", "inputs") else p.name, None, True, False))
            continue
        annotation = hints.get(p.name, p.annotation)
        if annotation is p.empty or isinstance(annotation, str):
            annotation = None
        required = p.default is p.empty
        found.append(
            Parameter(p.name, annotation, required, p.kind is p.KEYWORD_ONLY, None if required else p.default)
        )
    return found, open_ended


def _compiled_parameters(callee: Any) -> list[Parameter]:
    """The parameters of what is TorchScript already, by its schema."""
    schema: Any = callee.schema if isinstance(callee, torch.jit.ScriptFunction) else callee.forward.schema
    found = []
    for argument in schema.arguments:
        if argument.name != "self":
            required = not argument.has_default_value()
            default = None if required else argument.default_value
            found.append(
                Parameter(argument.name, _python_type(argument.type), required, argument.kwarg_only, default)
            )
    return found


def _python_type(compiled: Any) -> Any:
    text = str(compiled.annotation_str)
    try:
        return eval(text, {**vars(typing), "Tensor": torch.Tensor, "torch": torch, "NoneType": type(None)})
    except Exception:
        return None


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:
        return getattr(function, "__annotations__", {})


def first_guess(callee: Any, likely: Spec | None) -> Guess:
    """A value for each required parameter; ``likely`` is for the first plain tensor.

    Args:
        likely: what the module's first layer takes.
    """
    found, _ = parameters(callee)
    arguments: list[Argument] = []
    skipped = False
    for parameter in found:
        if not parameter.required:
            skipped = True
            continue
        spec = value_for(parameter, likely)
        if isinstance(spec, TensorSpec) and likely is not None and spec == likely:
            likely = None if len(arguments) == 0 else likely
        arguments.append(Argument(parameter.name, spec, parameter.keyword or skipped))
    return Guess(tuple(arguments))


def value_for(parameter: Parameter, likely: Spec | None = None) -> Spec:
    """The most likely value of a parameter by its annotation, its name and the first layer."""
    named = by_name(parameter.name)
    if isinstance(likely, TensorSpec) and likely.kind == "int" and _are_ids(named):
        named = likely
    if isinstance(named, TensorSpec) and len(named.shape) >= 4 and named.shape[1] == 3:
        # The name says a picture or a film: more than the first layer does, which may follow patching.
        return likely if isinstance(likely, TensorSpec) and len(likely.shape) == len(named.shape) else named
    typed = _by_annotation(parameter.annotation, parameter.name, named, likely)
    if typed is not None:
        return typed
    if named is not None and not (
        likely is not None and isinstance(named, TensorSpec) and named.kind == "float"
    ):
        return named
    if likely is not None and isinstance(named, TensorSpec) and isinstance(likely, TensorSpec):
        return likely if len(likely.shape) >= 2 else named
    return named or likely or TensorSpec((BATCH, LENGTH, IMAGE))


def _are_ids(spec: Spec | None) -> bool:
    return isinstance(spec, TensorSpec) and spec.kind == "int" and len(spec.shape) == 2


def by_name(name: str) -> Spec | None:
    """What a parameter of this name usually takes."""
    for pattern, spec in _NAMES:
        if re.fullmatch(pattern, name):
            return spec
    return None


def _by_annotation(annotation: Any, name: str, named: Spec | None, likely: Spec | None) -> Spec | None:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        wanted = [a for a in inner if a is not type(None)]
        return _by_annotation(wanted[0], name, named, likely) if wanted else Verbatim("None")
    if annotation is int:
        return named if isinstance(named, Verbatim) and named.text.isdigit() else Verbatim("4")
    if annotation in (float, bool, str):
        return Verbatim({float: "0.5", bool: "False", str: "''"}[annotation])
    if annotation is torch.Tensor or annotation is nn.Parameter:
        if isinstance(named, TensorSpec):
            return named if named.kind != "float" or not isinstance(likely, TensorSpec) else likely
        return likely if isinstance(likely, TensorSpec) else TensorSpec((BATCH, LENGTH, IMAGE))
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return SequenceSpec(tuple(_element(a, name, likely) for a in inner), is_tuple=True)
    if origin in (list, tuple, typing.Sequence) or str(origin).endswith("abc.Sequence'>"):
        element = (
            _element(inner[0], name, likely) if inner else (likely or TensorSpec((BATCH, LENGTH, IMAGE)))
        )
        return SequenceSpec((element,) * BATCH, is_tuple=origin is tuple)
    if origin is dict and len(inner) == 2 and inner[0] is str:
        return DictSpec((("x", _element(inner[1], name, likely)),))
    return None


def _element(annotation: Any, name: str, likely: Spec | None) -> Spec:
    singular = name.removesuffix("s")
    found = _by_annotation(annotation, singular, by_name(singular), likely)
    if isinstance(found, TensorSpec) and by_name(singular) is not None and len(found.shape) == 4:
        return found.of(found.shape[1:])
    return found or likely or TensorSpec((BATCH, LENGTH, IMAGE))
