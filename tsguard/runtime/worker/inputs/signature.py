"""The parameters of ``forward`` and what their names and annotations suggest."""

from __future__ import annotations

import collections.abc
import enum
import inspect
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch import nn

from tsguard.runtime.worker.constructing.arguments import name_of
from tsguard.runtime.worker.constructing.uses import Use, use_of
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.inputs.declared import declared_types, in_python
from tsguard.runtime.worker.inputs.specs import (
    BATCH,
    FRAMES,
    IMAGE,
    INVENTED_KEY,
    LENGTH,
    Argument,
    DictSpec,
    Guess,
    MadeSpec,
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
    (r"(.*_)?(length|lengths|lens|seq_lens)", TensorSpec((BATCH,), "int", LENGTH + 1, low=1)),
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
    """One parameter of the callee; ``use`` is what it does with it."""

    name: str
    annotation: Any
    required: bool
    keyword: bool
    default: Any = None
    use: Use | None = None


def parameters(callee: Any) -> tuple[list[Parameter], bool]:
    """The parameters, and whether any further keyword is accepted.

    Raises:
        TypeError, ValueError: the callee has no signature that can be read.
    """
    if isinstance(callee, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return _compiled_parameters(callee), False
    function = callee.forward if isinstance(callee, nn.Module) else callee
    owner = type(callee) if isinstance(callee, nn.Module) else None
    signature = inspect.signature(function)
    hints = declared_types(function)
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
        default = None if required else p.default
        use = use_of(getattr(function, "__func__", function), p.name, owner)
        found.append(Parameter(p.name, annotation, required, p.kind is p.KEYWORD_ONLY, default, use))
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
                Parameter(
                    argument.name,
                    in_python(str(argument.type.annotation_str)),
                    required,
                    argument.kwarg_only,
                    default,
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known besides the parameter: what the first layer takes, and the target's file."""

    likely: Spec | None = None
    module: ModuleType | None = None


def first_guess(found: Sequence[Parameter], hints: Hints) -> Guess:
    """A value for each required parameter; what the first layer takes is for the first plain tensor."""
    arguments: list[Argument] = []
    skipped = False
    for parameter in found:
        if not parameter.required:
            skipped = True
            continue
        spec = value_for(parameter, hints)
        if isinstance(spec, TensorSpec) and spec == hints.likely and not arguments:
            hints = replace(hints, likely=None)
        arguments.append(Argument(parameter.name, spec, parameter.keyword or skipped))
    return Guess(tuple(arguments))


def several(guess: Guess, found: Sequence[Parameter]) -> Guess:
    """The guess with lists for tensors that are only iterated, or taken one by one."""
    lists = {
        p.name
        for p in found
        if p.use is not None and p.use.items and not p.use.attributes and p.annotation is None
    }
    return guess.mapped(
        lambda path, spec: (
            SequenceSpec((spec, spec)) if path in lists and isinstance(spec, TensorSpec) else spec
        )
    )


def usual_shapes(guess: Guess, likely: Spec | None) -> dict[str, tuple[int, ...]]:
    """The shapes that mean something: by the names of parameters and of their parts, and what the first layer takes."""
    found: dict[str, tuple[int, ...]] = {}
    for place, (path, spec) in enumerate(guess.tensors().items()):
        if path.endswith("[]"):
            continue
        words = re.findall(r"[A-Za-z_]\w*", path)
        named = by_name(words[-1]) if words else None
        if isinstance(named, TensorSpec):
            found[path] = named.shape
        elif place == 0 and likely is not None and (len(spec.shape) > 2 or spec.kind != "float"):
            found[path] = spec.shape
    return found


def value_for(parameter: Parameter, hints: Hints) -> Spec:
    """The most likely value of a parameter: by its declared type, then its use, its name and the first layer."""
    likely, named, use = hints.likely, by_name(parameter.name), parameter.use
    if parameter.annotation is not None and not _is_tensor(parameter.annotation):
        declared = _by_annotation(parameter.annotation, parameter.name, hints)
        if declared is not None:
            return _as_used(declared, use, hints)
    if parameter.annotation is None and use is not None:
        used = _by_use(use, parameter.name, hints)
        if used is not None:
            return used
        if isinstance(named, Verbatim) and named.text == _LITERALS[str]:
            named = None  # a text would be compared with others
        if isinstance(named, Verbatim) and _is_used_as_tensor(use):
            named = None
    return _tensor(named if _is_tensor_like(named) or parameter.annotation is None else None, likely)


def _is_used_as_tensor(use: Use) -> bool:
    """Whether methods are called on it that tensors have, and numbers and texts do not."""
    read = set(use.attributes)
    return bool(read) and read <= set(dir(torch.Tensor)) and not any(read <= set(dir(k)) for k in (int, str))


def _as_used(declared: Spec, use: Use | None, hints: Hints) -> Spec:
    """A value of the declared type with the keys, or the text, that the code asks for."""
    if use is None:
        return declared
    if isinstance(declared, DictSpec) and use.keys:
        element = declared.items[0][1]
        return DictSpec(
            tuple((key, (_by_use(part, key, hints) or element)) for key, part in use.keys.items())
        )
    if declared == Verbatim(_LITERALS[str]) and use.texts:
        return Verbatim(repr(next(iter(use.texts))))
    return declared


def _is_tensor(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, torch.Tensor)


def _is_tensor_like(spec: Spec | None) -> bool:
    return isinstance(spec, TensorSpec)


def _tensor(named: Spec | None, likely: Spec | None) -> Spec:
    """The name's word against the first layer's."""
    if isinstance(likely, TensorSpec) and likely.kind == "int" and _are_ids(named):
        return likely
    if not isinstance(named, TensorSpec):
        return named or likely or TensorSpec((BATCH, LENGTH, IMAGE))
    if _is_picture(named):
        # The name says a picture or a film: more than the first layer does, which may follow patching.
        return likely if isinstance(likely, TensorSpec) and len(likely.shape) == len(named.shape) else named
    if named.kind == "float" and isinstance(likely, TensorSpec) and len(likely.shape) >= 2:
        return likely
    return named


def _is_picture(spec: Spec | None) -> bool:
    return isinstance(spec, TensorSpec) and len(spec.shape) >= 4 and spec.shape[1] == 3


def _are_ids(spec: Spec | None) -> bool:
    return isinstance(spec, TensorSpec) and spec.kind == "int" and len(spec.shape) == 2


def by_name(name: str) -> Spec | None:
    """What a parameter of this name usually takes."""
    for pattern, spec in _NAMES:
        if re.fullmatch(pattern, name):
            return spec
    return None


_TENSOR_KINDS: dict[Any, TensorSpec] = {
    torch.LongTensor: TensorSpec((BATCH, LENGTH), "int"),
    torch.IntTensor: TensorSpec((BATCH, LENGTH), "int"),
    torch.BoolTensor: TensorSpec((BATCH, LENGTH), "bool"),
}
_LITERALS: dict[Any, str] = {float: "0.5", bool: "False", str: "''", complex: "1j", type(None): "None"}


def _by_annotation(annotation: Any, name: str, hints: Hints) -> Spec | None:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        wanted = [a for a in inner if a is not type(None)]
        return _by_annotation(wanted[0], name, hints) if wanted else Verbatim("None")
    if origin is typing.Literal:
        return Verbatim(repr(inner[0]))
    if annotation is int:
        named = by_name(name)
        return named if isinstance(named, Verbatim) and named.text.isdigit() else Verbatim("4")
    if annotation in _LITERALS:
        return Verbatim(_LITERALS[annotation])
    if annotation in _TENSOR_KINDS:
        return _tensor(_TENSOR_KINDS[annotation], hints.likely)
    if _is_tensor(annotation):
        named = by_name(name)
        return _tensor(named if isinstance(named, TensorSpec) else None, hints.likely)
    return _container(origin or annotation, inner, name, hints) or _instance(annotation, hints)


def _container(kind: Any, inner: tuple[Any, ...], name: str, hints: Hints) -> Spec | None:
    if not isinstance(kind, type):
        return None
    if kind is tuple and inner and inner[-1] is not Ellipsis:
        return SequenceSpec(tuple(_element(a, name, hints) for a in inner), is_tuple=True)
    if kind in (list, tuple) or kind in (collections.abc.Sequence, collections.abc.Iterable):
        return _several(_element(inner[0] if inner else torch.Tensor, name, hints), kind is tuple)
    if kind is dict or kind in (collections.abc.Mapping, collections.abc.MutableMapping):
        value = inner[1] if len(inner) == 2 else torch.Tensor
        key = INVENTED_KEY if not inner or inner[0] is str else 0
        return DictSpec(((key, _element(value, name, hints)),))
    return None


def _several(element: Spec, is_tuple: bool) -> SequenceSpec:
    """Two of a kind; a list of pictures is there because they differ in size."""
    other = element
    if isinstance(element, TensorSpec) and len(element.shape) == 3 and element.shape[0] == 3:
        other = element.resized(-1, element.shape[-1] * 5 // 4)
    return SequenceSpec((element, other), is_tuple)


def _element(annotation: Any, name: str, hints: Hints) -> Spec:
    singular = name.removesuffix("s")
    found = _by_annotation(annotation, singular, hints)
    if isinstance(found, TensorSpec) and _is_picture(by_name(singular)) and len(found.shape) == 4:
        return found.of(found.shape[1:])
    return found or hints.likely or TensorSpec((BATCH, LENGTH, IMAGE))


def _instance(annotation: Any, hints: Hints) -> Spec | None:
    """A dictionary of declared keys, or a named tuple, dataclass or other class of the project."""
    if not isinstance(annotation, type) or annotation.__module__ in ("builtins", "typing"):
        return None
    if typing.is_typeddict(annotation):
        return DictSpec(_elements(typing.get_type_hints(annotation), hints))
    name = name_of(annotation, hints.module) if hints.module is not None else None
    if name is None or issubclass(annotation, (nn.Module, enum.Enum)):
        return Verbatim(f"next(iter({name}))") if name and issubclass(annotation, enum.Enum) else None
    fields: dict[str, Any] | None = value_or(None, lambda: _fields(annotation))
    return None if fields is None else MadeSpec(name, _elements(fields, hints))


def _elements(fields: Mapping[str, Any], hints: Hints) -> tuple[tuple[str, Spec], ...]:
    return tuple((key, _element(kind, key, hints)) for key, kind in fields.items())


def _fields(cls: Any) -> dict[str, Any]:
    """What a constructor has to be given, with its types."""
    kinds = {**declared_types(cls.__init__), **typing.get_type_hints(cls)}
    parameters = inspect.signature(cls).parameters.values()
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {p.name: kinds.get(p.name) for p in named if p.default is p.empty}


def _by_use(use: Use, name: str, hints: Hints) -> Spec | None:
    """What a parameter without a declared type must be, because of what is done with it."""
    read = set(use.attributes)
    if use.keys:
        return DictSpec(tuple((key, _part(part, key, hints)) for key, part in use.keys.items()))
    if read and not any(read <= set(dir(kind)) for kind in (torch.Tensor, dict, list, str, nn.Module)):
        parts = tuple((key, _part(part, key, hints)) for key, part in use.attributes.items())
        return MadeSpec("SimpleNamespace", parts)
    if use.texts and not read:
        return Verbatim(repr(next(iter(use.texts))))
    if use.exact and use.length and not read:
        elements, named = use.elements or Use(), by_name(name)
        if isinstance(named, TensorSpec) and named.kind == "int" and named.shape[0] == use.length:
            return named
        return SequenceSpec((_part(elements, name.removesuffix("s"), hints),) * use.length, is_tuple=True)
    return None


def _part(use: Use, name: str, hints: Hints) -> Spec:
    return _by_use(use, name, hints) or _tensor(by_name(name), hints.likely)
