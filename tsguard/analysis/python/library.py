"""Modules of torch.nn as objects: built from their tables, containers by their rules."""

from __future__ import annotations

from typing import Any

from tsguard.analysis.python import ancestry, inner_layers, losses, parameter_names, parameter_sizes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.python.literals import written
from tsguard.analysis.terms import Attribute, Named
from tsguard.analysis.values import (
    NONE,
    TRUE,
    BoundMethod,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
)
from tsguard.language.modes import observes
from tsguard.report.records import replace

OBSERVER_SWITCHES = ("disable_observer", "enable_observer")

LAYER_IN_PYTHON = "torch.nn.CrossMapLRN2d"
"""The layer whose forward is an ``autograd.Function`` (torch/nn/modules/normalization.py)."""

CONTAINERS = {
    "torch.nn.Sequential",
    "torch.nn.ModuleList",
    "torch.nn.ModuleDict",
    "torch.nn.ParameterList",
    "torch.nn.ParameterDict",
}


def construct(interp: Interpreter, cls: External, args: list[Value], kwargs: dict[str, Value]) -> ModuleValue:
    """An instance of a class of torch.nn."""
    module = ModuleValue(cls)
    initialize(interp, module, cls.name, args, kwargs)
    return module


def initialize(
    interp: Interpreter, module: ModuleValue, base: str, args: list[Value], kwargs: dict[str, Value]
) -> None:
    """Run the constructor of torch.nn's ``base`` on a module of it or of a subclass."""
    module.initialized = True
    module.attributes["training"] = TRUE
    if base in CONTAINERS:
        fill_container(interp, module, base, [*args, *kwargs.values()])
        return
    entry = interp.tables.modules.get(base)
    if entry is None:
        module.open = module.open or base != "torch.nn.Module"
        losses.initialize(module, base, args, kwargs)
        return
    module.arguments = _bind(entry["init"], args, kwargs)
    absent = _absent(interp, entry, module.arguments)
    sizes = parameter_sizes.of_layer(base, module.arguments)
    for registry, kind in ((module.parameters, "parameters"), (module.buffers, "buffers")):
        role, named = kind[:-1], dict(sorted(entry[kind].items(), key=_place))
        if kind == "parameters":
            named = parameter_names.present(base, named, module.arguments)
            module.open = module.open or parameter_names.may_be_others(base, module.arguments)
        for name, present in named.items():
            missing = not present if name not in absent else present
            registry[name] = (
                NONE if missing else TensorValue(role, lazy="Lazy" in base, sizes=sizes.get(name))
            )
    for name in inner_layers.ordered(base, entry["modules"]):
        handed = inner_layers.handed(base, name, module.arguments)
        module.children[name] = _child(interp, entry["modules"][name], handed)


def _place(entry: tuple[str, object]) -> tuple[bool, bool, int]:
    """Where a layer of torch registers a parameter or buffer.

    Biases come last, those of the state after those of the input, and counts of batches; of attention, queries,
    keys, values.
    """
    name = entry[0]
    return (
        "bias" in name or "num_" in name,
        "_hh" in name,
        "qkv".find(name[0]) if name.endswith("_proj_weight") else 0,
    )


def _bind(
    parameters: list[list[str | None]], args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    bound: dict[str, Value] = {}
    for (name, default), value in zip(parameters, [*args, *[None] * len(parameters)], strict=False):
        assert name is not None
        if value is None:
            value = kwargs.get(name)
        if value is None and default is not None:
            value = default_value(default)
        bound[name] = value if value is not None else Unknown()
    return bound


def default_value(text: str) -> Value:
    try:
        return written(text)
    except (ValueError, SyntaxError):
        return Unknown(Named(text, text))


def _absent(interp: Interpreter, entry: dict[str, Any], arguments: dict[str, Value]) -> set[str]:
    """Parameters and buffers whose presence a flag among the arguments turns round."""
    found: set[str] = set()
    for flag, names in entry["absent"].items():
        name, _, value = flag.partition("=")
        given = interp.settled(arguments.get(name, Unknown()))
        known = given.default if isinstance(given, Unknown) else given
        if isinstance(known, Const) and bool(known.value) == (value == "True"):
            found.update(names)
    return found


def _child(interp: Interpreter, dotted: str, handed: dict[str, Value]) -> ModuleValue:
    name = interp.tables.canonical(dotted)
    child = ModuleValue(External(name), initialized=True)
    initialize(interp, child, name, [], handed)
    child.open = child.open or name in CONTAINERS
    return child


def fill_container(interp: Interpreter, module: ModuleValue, base: str, args: list[Value]) -> None:
    """Register what a container is constructed with."""
    if base == "torch.nn.Sequential":
        if len(args) == 1 and isinstance(interp.settled(args[0]), DictValue):
            extend(interp, module, args[0])
            return
        for child in args:
            append(interp, module, child)
        return
    for contents in args[:1]:
        if not is_none(contents):
            extend(interp, module, contents)


def extend(interp: Interpreter, module: ModuleValue, contents: Value) -> None:
    """Register the items of an iterable or a mapping."""
    contents = interp.settled(contents)
    if isinstance(contents, DictValue):
        for key, value in contents.items.items():
            register(module, str(key) if not isinstance(key, Value) else f"?{len(module.children)}", value)
        module.open = module.open or contents.open
        return
    if isinstance(contents, ModuleValue) and ancestry.derives_from(
        interp, contents.cls, "torch.nn.ModuleDict"
    ):
        module.children.update(contents.children)
        return
    items, is_open = iterate(interp, contents)
    keyed = is_dict_container(interp, module)
    for item in items:
        if keyed and isinstance(item, (TupleValue, ListValue)) and len(item.items) == 2:
            name = constant(item.items[0])
            register(
                module, str(name) if isinstance(name, str) else f"?{len(module.children)}", item.items[1]
            )
            module.open = module.open or not isinstance(name, str)
        else:
            append(interp, module, item)
    module.open = module.open or is_open


def is_dict_container(interp: Interpreter, module: ModuleValue) -> bool:
    return any(
        ancestry.derives_from(interp, module.cls, f"torch.nn.{kind}")
        for kind in ("ModuleDict", "ParameterDict")
    )


def append(interp: Interpreter, module: ModuleValue, child: Value) -> None:
    """Register a child under the next index."""
    register(module, str(len(module.parameters) + len(module.children)), child)
    module.open = module.open or interp.open_loops > 0


def register(module: ModuleValue, name: str, child: Value) -> None:
    if isinstance(child, TensorValue):
        module.parameters[name] = TensorValue("parameter", sizes=child.sizes)
    else:
        module.children[name] = child


def member(interp: Interpreter, owner: ModuleValue, name: str) -> Value | None:
    """An attribute or method that a module has from torch.nn, by the tables.

    The entry of a layer tells all that instances have, so that its private bases add nothing.
    """
    told: list[str] = []
    for base in ancestry.kin(interp, owner.cls):
        patched = interp.program.patches.get((base, name))
        if patched is not None:
            return BoundMethod(patched, owner) if isinstance(patched, FunctionValue) else patched
        entry = interp.tables.modules.get(base)
        if entry is not None:
            told += entry["bases"]
            if name in entry["attributes"]:
                return _table_attribute(owner, name, entry)
            if name in entry["methods"] or name in ("forward", "extra_repr", "reset_parameters"):
                return BoundMethod(External(f"{base}.{name}"), owner)
        if base in CONTAINERS and name in _CONTAINER_METHODS:
            return BoundMethod(External(f"{base}.{name}"), owner)
        if name in OBSERVER_SWITCHES and observes(base):
            return BoundMethod(External(f"{base}.{name}"), owner)
        if base in told and base.rpartition(".")[2].startswith("_"):
            continue
        described = interp.tables.entry(base)
        if entry is None and base not in CONTAINERS and base != "torch.nn.Module" and described is not None:
            return (
                Unknown(Attribute(Named(base, base), name))
                if name not in interp.tables.module_members
                else _inherited(owner, name)
            )
    known = name in interp.tables.module_members or name in ("__getattr__", "__setattr__")
    return _inherited(owner, name) if known else None


def _inherited(owner: ModuleValue, name: str) -> Value:
    return BoundMethod(External(f"torch.nn.Module.{name}"), owner)


_CONTAINER_METHODS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "clear",
        "update",
        "keys",
        "values",
        "items",
        "get",
        "setdefault",
        "popitem",
        "forward",
        "copy",
    ]
)


# What a layer holds where it is given None (torch/nn/modules/pooling.py, activation.py).
_STANDING_IN = {"stride": "kernel_size", "kdim": "embed_dim", "vdim": "embed_dim"}


def given_for(entry: dict[str, Any], owner: ModuleValue) -> Value | None:
    """The argument that an attribute of a layer holds, as the constructor keeps it; None where it holds none."""
    source = entry.get("from")
    value = owner.arguments.get(source) if source is not None else None
    if value is None or source is None:
        return None
    if is_none(value) and source in _STANDING_IN and entry["type"] != "NoneType":
        stands_in = owner.arguments.get(_STANDING_IN[source], Unknown())
        is_several = entry["type"].startswith("Tuple[") and isinstance(stands_in, Const)
        return TupleValue((stands_in,) * (entry["type"].count(",") + 1)) if is_several else stands_in
    return _as_floats(value) if source == "scale_factor" else value


def _as_floats(value: Value) -> Value:
    """The factor of an Upsample, or one for each dimension (torch/nn/modules/upsampling.py)."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple(map(_as_floats, value.items)))
    return Const(float(value.value)) if isinstance(value, Const) and type(value.value) is int else value


# What a layer computes from these arguments, so that the value of the layer that the tables were made from is no
# other's (torch/nn/modules/activation.py, adaptive.py, distance.py, rnn.py, transformer.py).
_COMPUTED = {
    "_qkv_same_embed_dim": ("kdim", "vdim"),
    "activation_relu_or_gelu": ("activation",),
    "bias_k": ("add_bias_kv",),
    "bias_v": ("add_bias_kv",),
    "head_dim": ("embed_dim",),
    "head_size": ("cutoffs",),
    "mode": ("nonlinearity",),
    "n_clusters": ("cutoffs",),
    "nonlinearity": ("nonlinearity",),
    "norm": ("p",),
    "shortlist_size": ("cutoffs",),
    "use_nested_tensor": ("enable_nested_tensor", "encoder_layer"),
}


def _table_attribute(owner: ModuleValue, name: str, layer: dict[str, Any]) -> Value:
    entry = layer["attributes"][name]
    value = given_for(entry, owner)
    if value is not None:
        return _paired(value, entry["tuple"]) if entry.get("tuple") else value
    defaults = {parameter: default for parameter, default in layer["init"] if default is not None}
    is_as_described = all(
        argument in defaults and owner.arguments.get(argument) == default_value(defaults[argument])
        for argument in _COMPUTED.get(name, ())
        if argument in owner.arguments or argument in layer["attributes"]
    )
    if "const" in entry and is_as_described:
        return default_value(entry["const"])
    simple = entry["type"] if entry["type"] in ("int", "float", "bool", "str") else ""
    return Unknown(None, simple)


def _paired(value: Value, count: int) -> Value:
    """A size for each dimension, of one for all or of any sequence (torch/nn/modules/utils.py)."""
    if isinstance(value, ListValue):
        return TupleValue(tuple(value.items), value.open)
    is_one = isinstance(value, Const) and not isinstance(value.value, str)
    is_one = is_one or (isinstance(value, Unknown) and value.hint != "tuple")
    return TupleValue((value,) * count) if is_one else value


def descendants(root: ModuleValue) -> list[tuple[str, ModuleValue]]:
    """A module and all below it, each once, with the path from the root ("" for itself)."""
    if not root.children:
        return [("", root)]
    paths: dict[ModuleValue, str] = {}
    todo = [("", root)]
    while todo:
        path, module = todo.pop()
        if module in paths:
            continue
        paths[module] = path
        if module.children:
            before = f"{path}." if path else ""
            children = reversed(module.children.items())
            todo += [(before + name, child) for name, child in children if isinstance(child, ModuleValue)]
    return [(path, module) for module, path in paths.items()]


def known_flag(interp: Interpreter, value: Value) -> bool | None:
    """A flag's value where it is known, by its default else."""
    value = interp.settled(value)
    if isinstance(value, Unknown):
        value = value.default if value.default is not None else value
    return bool(value.value) if isinstance(value, Const) else None
