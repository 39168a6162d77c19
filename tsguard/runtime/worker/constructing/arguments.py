"""Small values that constructor arguments usually take, by name, annotation and default."""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from torch import nn

_NAMES: list[tuple[str, tuple[str, ...]]] = [
    (r"ndims?|n_dims|spatial_dims|dimensions", ("2",)),
    (r"(num_|n_)?classes|num_labels|n_class|num_outputs", ("10",)),
    (r"(in_|n_|num_|input_|image_|img_)?(channels|chans|chs|ch)|in_c|nc|channel", ("3", "64", "16")),
    (r"image_size|img_size|input_size_hw|resolution|crop_size", ("64", "(64, 64)", "224")),
    (r"(image_|img_|freq_|time_)?patch_size", ("8", "(8, 8)", "16")),
    (r"frame_patch_size|frame_kernel_size", ("2",)),
    (r"frames|num_frames|max_frames|n_frames", ("8",)),
    (r"dim_head|head_dim|d_k|d_v|d_head|dim_key|dim_value", ("16",)),
    (r"(num_|n_|nb_|attn_)?heads?|nheads?|n_head", ("4",)),
    (
        r"depths?|num_layers|n_layers?|layers|.*_depth|num_blocks|n_blocks|nlayers|blocks|block_repeats|repeats?",
        ("2", "(1, 1, 1, 1)", "(2, 2)"),
    ),
    (r"mlp_dim|dim_feedforward|ffn_dim|d_ff|d_inner|.*_mlp_dim|intermediate_size", ("128",)),
    (r"mlp_ratio|mult|mlp_mult|expansion|expand_ratio|expansion_factor|.*_mult|exp_factor", ("2",)),
    (r"vocab(_size)?|num_tokens|ntoken|n_vocab|num_embeddings|n_token|dictionary_size", ("100",)),
    (
        r"max_(seq_)?len(gth)?|block_size|seq_len(gth)?|context_length|num_patches|n_positions|num_pos.*|max_position.*|length|num_tokens.*",
        ("64", "16"),
    ),
    (r"kernel(_size)?|k|ks|proj_kernel|window|filter_size", ("3", "(3, 3)", "1")),
    (r"kernel_sizes", ("(3, 5)",)),
    (r"(.*_)?strides?|s", ("1", "(1, 1)", "2")),
    (r"(.*_)?padding|pad", ("1", "0")),
    (r"dilation", ("1",)),
    (r"groups|num_groups|n_groups|cardinality", ("4", "1")),
    (r"[hw]_s|p|patch", ("4", "2")),
    (r"window_size|local_window_size|global_window_size|local_patch_size", ("4", "8", "(4, 4)")),
    (r"fmap_size|feat_size|input_resolution|grid_size", ("(8, 8)", "8", "16")),
    (r"input_shape|spatial_shape|img_shape|image_shape", ("(64, 64)", "(3, 64, 64)")),
    (
        r"shape|size|scale_factor|scale|factor|upscale|ratio|reduction(_ratio|_factor)?|r|scales",
        ("2", "4", "(8, 8)"),
    ),
    (
        r".*(dropout|drop|prob|p|rate|ratio|eps|momentum|alpha|beta|gamma|temperature|slope|weight|decay|threshold|tau)",
        ("0.1", "0.5"),
    ),
    (
        r"(hidden|embed(ding)?|model|feature|inner|inter|mid|latent|bottleneck|out(put)?|in(put)?|proj(ection)?|base|sm|lg|decoder|encoder|context|key|query|value|d|c|n|h|z)?_?(dim|dims|size|features|units|width|planes|filters|hidden|nc|feat|dimension|hidden_size)",
        ("64", "(64, 64)", "(32, 64)"),
    ),
    (
        r"d_model|n_embd|nhid|ninp|nout|nin|hidden|width|planes|inplanes|inp|oup|in_ch(annels)?|out_ch(annels)?|n_filters|features|units|num_features|dim_.*|.*_dim|.*_channels|.*_features|.*_size",
        ("64", "16", "3"),
    ),
    (
        r"(num|n|max|min|nb|top|depth)_.*|.*_(num|idx|index|id|steps|count|len|length)|layer_index|i|n|m",
        ("4", "2"),
    ),
    (r"mean|std", ("0.5", "(0.5, 0.5, 0.5)")),
    (
        r"(use|is|has|with|no|return|bias|causal|learn|enable)(_.*)?|.*_(flag|enabled)|bidirectional|bias|residual|inplace|batch_first|training",
        ("True", "False"),
    ),
    (r".*(norm)(_layer|_class|_cls|_type)?", ("nn.LayerNorm", "nn.BatchNorm2d", "'batch'")),
    (
        r".*(act|activation|nonlinearity)(_layer|_fn|_func|_class)?",
        ("nn.ReLU", "nn.ReLU()", "F.relu", "'relu'"),
    ),
    (r".*(_fn|func|function)|fn|f", ("nn.Identity()", "torch.relu")),
    (
        r"net|model|module|layer|block|backbone|encoder|decoder|network|student|teacher|vit|transformer|attn|attention|to_.*|sublayer|branch|main|base|ff|head|body",
        ("nn.Identity()", "nn.Linear(64, 64)"),
    ),
    (r"modules|layers|blocks|nets|branches|convs|models", ("[nn.Identity()]",)),
    (r".*mode|.*type|.*_name|name|variant|arch|pool(ing)?", ("'mean'", "'default'")),
]


_MODELS = r"net|model|encoder|backbone|network|student|teacher|vit|transformer|base_model"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constructor parameter that must be given, and what it may be given, best first."""

    name: str
    values: tuple[str, ...]


def required(cls: type, module: ModuleType, *, optional: bool = False) -> list[Parameter]:
    """The parameters to give; with ``optional`` also those whose default is None.

    A constructor that passes ``*args, **kwargs`` on takes what its base classes take.
    """
    found: dict[str, Parameter] = {}
    for owner in cls.__mro__:
        init = owner.__dict__.get("__init__")
        if init is None or owner in (nn.Module, object):
            continue
        try:
            signature = inspect.signature(init)
        except (TypeError, ValueError):
            break
        passes_on = False
        for p in list(signature.parameters.values())[1:]:
            if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                passes_on = True
            elif p.default is p.empty or (optional and p.default is None):
                found.setdefault(p.name, Parameter(p.name, tuple(values(p, init, module, cls))))
        if not passes_on:
            break
    return list(found.values())


def values(p: inspect.Parameter, init: Callable[..., Any], module: ModuleType, cls: type) -> list[str]:
    """Expressions for one parameter, most likely first."""
    annotation = _annotation(p, init)
    typed = list(_by_annotation(annotation, p.name, module, cls))
    classes = _like_named(p.name, module, cls)
    named = next((options for pattern, options in _NAMES if re.fullmatch(pattern, p.name.lower())), ())
    if typed and annotation not in (int, float):
        return [*typed, *classes, *named]
    if annotation is int:
        named = tuple(text for text in named if text.isdigit())
    elif annotation is float:
        named = tuple(text for text in named if re.fullmatch(r"[\d.]+", text))
    return [*classes, *named, *typed] or ["64", "4", "2", "nn.Identity()"]


def _annotation(p: inspect.Parameter, init: Callable[..., Any]) -> Any:
    try:
        return typing.get_type_hints(init).get(p.name)
    except Exception:
        return None if isinstance(p.annotation, str) or p.annotation is p.empty else p.annotation


def _by_annotation(annotation: Any, name: str, module: ModuleType, cls: type) -> typing.Iterator[str]:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for option in inner:
            if option is not type(None):
                yield from _by_annotation(option, name, module, cls)
    elif origin is typing.Literal:
        yield from map(repr, inner)
    elif annotation in (int, float):
        yield "4" if annotation is int else "0.5"
    elif annotation is bool:
        yield from ("False", "True")
    elif annotation is str:
        yield from ("'relu'", "'mean'")
    elif origin in (list, tuple) and inner:
        element = next(iter(_by_annotation(inner[0], name, module, cls)), "8")
        if origin is tuple and inner[-1] is not Ellipsis:
            yield (
                "("
                + "".join(f"{next(iter(_by_annotation(i, name, module, cls)), '8')}, " for i in inner)
                + ")"
            )
        else:
            yield from (f"[{element}, {element}]", f"[{element}] * 4")
    elif isinstance(annotation, type):
        yield from _instances(annotation, module)
    elif origin is type or "Callable" in str(origin):
        yield from _like_named(name, module, cls)
        yield from ("nn.Identity", "nn.ReLU", "nn.BatchNorm2d", "nn.Conv2d")


def _instances(annotation: type, module: ModuleType) -> typing.Iterator[str]:
    """An instance of a class that the file knows by name."""
    if annotation is nn.Module:
        yield from ("nn.Identity()", "nn.Linear(64, 64)")
        return
    for name, value in vars(module).items():
        if value is annotation:
            yield f"{name}()"


def _like_named(name: str, module: ModuleType, cls: type) -> list[str]:
    """Module classes whose name says the parameter's (``block`` and ``BasicBlock``), of the file.

    Then, for parameters that take a whole model, those that the file's package exports.
    """
    wanted = name.lower().replace("_", "").removesuffix("layer").removesuffix("s") or name
    found = [n for n in _classes(vars(module), cls) if len(wanted) > 2 and wanted in n.lower()]
    if re.fullmatch(_MODELS, name):
        package = module.__name__.partition(".")[0]
        exported = _classes(vars(sys.modules.get(package, module)), cls)[:3] if "." in module.__name__ else []
        own = [n for n in _classes(vars(module), cls) if n not in found][-4:]
        found += ["nn.Identity()", *(f"{package}.{n}" for n in exported), *own]
    return found


def _classes(names: Mapping[str, Any], cls: type) -> list[str]:
    return [
        name
        for name, value in names.items()
        if isinstance(value, type)
        and issubclass(value, nn.Module)
        and value is not cls
        and not value.__module__.startswith("torch.")
    ]


def named_class(text: str, module: ModuleType) -> type[nn.Module] | None:
    """The module class that ``Name`` or ``package.Name`` means in the file."""
    package, _, name = text.rpartition(".")
    found = getattr(sys.modules.get(package) if package else module, name, None)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None
