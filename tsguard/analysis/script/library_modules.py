"""What a module has from its class in torch.nn, by the tables.

Source: torch/nn/modules, as tools/torch_tables.py found it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.script import none_defaults
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.names import cause
from tsguard.analysis.script.sugared import (
    Compiled,
    Method,
    Sugared,
    SugaredModule,
    SugaredPython,
    SugaredUnknown,
)
from tsguard.language import schemas
from tsguard.language.schemas import Schema


def library_member(
    compiler: Compiler, owner: SugaredModule, name: str, holder: py.Value | None
) -> Sugared | None:
    """A method that comes from a class of torch.nn, unless the project overrides it."""
    for base in ancestry.mro(compiler.interp, owner.instance.cls):
        if base is holder:
            return None
        if not isinstance(base, py.External):
            continue
        entry = compiler.tables.modules.get(base.name)
        if entry is None:
            if name == "forward" and base.name in _CONTAINER_FORWARD:
                return Method(owner, "forward")
            if name == "forward" and ancestry.may_lend_forward(base.name):
                return SugaredUnknown()
            continue
        if name == "forward":
            return _from_table(owner, name, forward_entry(compiler, entry, owner.instance))
        if name in entry["methods"]:
            return _from_table(owner, name, entry["methods"][name])
    if holder is None and name in compiler.tables.module_members:
        return _base_method(owner, name)
    return None


_CONTAINER_FORWARD = frozenset({"torch.nn.Sequential"})


def static_method(compiler: Compiler, cls: py.External, name: str) -> Sugared | None:
    """A static method of a class of torch.nn."""
    methods = compiler.tables.modules.get(cls.name, {}).get("methods", {})
    return _static(name, methods[name]) if methods.get(name, {}).get("static") else None


def _static(name: str, entry: dict[str, Any]) -> Compiled:
    return Compiled(name, tuple(schemas.parse(text) for text in entry["schemas"]))


def _from_table(owner: SugaredModule, name: str, entry: dict[str, Any]) -> Sugared:
    if "fails" in entry:
        return SugaredPython(py.External(f"torch.nn.{name}"), cause(entry["fails"]), receiver=owner)
    if entry.get("static"):
        return _static(name, entry)
    found = []
    for text in entry["schemas"]:
        schema = schemas.parse(text)
        found.append(Schema(schema.name, schema.overload, none_defaults.of_module(schema), schema.returns))
    return Method(owner, name, tuple(found))


def _base_method(owner: SugaredModule, name: str) -> Sugared:
    return SugaredPython(
        py.External(f"torch.nn.Module.{name}"), "it is Python code of nn.Module", receiver=owner
    )


def forward_entry(compiler: Compiler, entry: dict[str, Any], instance: py.ModuleValue) -> dict[str, Any]:
    """How ``forward`` of a torch.nn class compiles for these constructor arguments."""
    for sample, variant in entry.get("variants", {}).items():
        if _matches(compiler, entry, instance, sample):
            found: dict[str, Any] = variant
            return found
    default: dict[str, Any] = entry["forward"]
    return default


def _matches(compiler: Compiler, entry: dict[str, Any], instance: py.ModuleValue, sample: str) -> bool:
    """Whether an instance is constructed as a sample in what sets it apart from the first."""
    differing = _differing(sample, entry["sample"], tuple(name for name, _ in entry["init"]))
    if not differing:
        return False
    return all(
        _same_argument(compiler, instance.arguments.get(name), node) for name, node in differing.items()
    )


@functools.cache
def _differing(sample: str, usual: str, parameters: tuple[str, ...]) -> dict[str, ast.expr]:
    """The arguments of a sample that the usual one does not give so."""
    given, others = (_sample_arguments(text, parameters) for text in (sample, usual))
    return {
        name: node
        for name, node in given.items()
        if name not in others or ast.dump(others[name]) != ast.dump(node)
    }


def _sample_arguments(text: str, parameters: Sequence[str]) -> dict[str, ast.expr]:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    named = dict(zip(parameters, call.args, strict=False))
    return {**named, **{k.arg: k.value for k in call.keywords if k.arg is not None}}


def _same_argument(compiler: Compiler, value: py.Value | None, node: ast.expr) -> bool:
    """Whether an argument is like a sample's: the same constant, or a tuple with None in it."""
    if value is None:
        return False
    value = compiler.interp.settled(value)
    if isinstance(node, ast.Constant):
        if isinstance(value, py.Unknown):
            value = value.default if value.default is not None else value
        return (
            isinstance(value, py.Const)
            and type(value.value) is type(node.value)
            and (value.value == node.value or not isinstance(node.value, (bool, str)))
        )
    if isinstance(node, ast.Tuple) and isinstance(value, py.TupleValue):
        has_none = any(isinstance(e, ast.Constant) and e.value is None for e in node.elts)
        return has_none == any(py.is_none(item) for item in value.items)
    return False


# Arguments of layers that are kept and never used, and a number that may be of either kind.
_TAKE_ANY = {"norm_type": (str, float), "num_features": (float,), "k": (float,)}


def misfits(instance: py.ModuleValue, entry: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Constants given to a layer's constructor that are of no use to its forward: a text for a number."""
    for described in entry["attributes"].values():
        name = described.get("from")
        value = instance.arguments.get(name) if name else None
        if isinstance(value, py.Const) and _misfits(value.value, name, described["type"]):
            yield {"argument": name, "value": repr(value.value), "type": described["type"]}


def _misfits(value: object, name: str, type_: str) -> bool:
    if isinstance(value, _TAKE_ANY.get(name, ())):
        return False
    if type_ == "int" or type_.startswith("Tuple[int"):
        return isinstance(value, (str, float)) and not (name == "padding" and isinstance(value, str))
    if type_ == "float":
        return isinstance(value, str)
    return type_ == "str" and not isinstance(value, str)
