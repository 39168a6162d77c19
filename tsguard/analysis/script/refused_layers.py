"""Layers of torch.nn that torch does not script: for their arguments, without parameters, or parametrised."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from tsguard.analysis import values as py
from tsguard.analysis.optimized import Optimized
from tsguard.analysis.python import ancestry, library, numpy_arrays
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script import saving
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.derived_layers import inherited_overloads, never_compiles
from tsguard.analysis.script.library_modules import forward_entry, misfits
from tsguard.analysis.script.names import cause
from tsguard.analysis.script.parametrizations import UNSCRIPTABLE_PARAMETRIZATIONS
from tsguard.analysis.script.refusals import Refusal
from tsguard.language.rule_names import RuleName

_WHOLE_NUMBER = "but instead found type 'int'."


_Refused = tuple[tuple[RuleName, dict[str, str]], ...]
_LAYERS: Kept[Hashable, _Refused] = Kept()


def check_layer(compiler: Compiler, instance: py.ModuleValue, layer: Hashable) -> None:
    """A layer that holds nothing but what its arguments make: what is refused of it is the same for all targets."""
    known = _LAYERS.of(compiler.interp.program)
    if layer not in known:
        known[layer] = tuple(_refusals(compiler, instance))
    _report(compiler, instance, known[layer])


def check(compiler: Compiler, instance: py.ModuleValue) -> None:
    """What torch refuses of a module for its class or what is derived from."""
    _report(compiler, instance, _refusals(compiler, instance))


def _report(
    compiler: Compiler, instance: py.ModuleValue, refused: Iterable[tuple[RuleName, dict[str, str]]]
) -> None:
    for rule, facts in refused:
        place, module = compiler.reporter.place_of(instance)
        compiler.report(Refusal(rule, place, name=compiler.name_of(instance), **facts), module)


def _refusals(compiler: Compiler, instance: py.ModuleValue) -> Iterator[tuple[RuleName, dict[str, str]]]:
    """Layers of torch.nn that do not script, uninitialised and parametrised ones."""
    if isinstance(instance.cls, py.External):
        yield from _of_torch(compiler, instance, instance.cls.name)
    yield from _of_optimized(instance)
    recurrent = inherited_overloads(compiler.interp, instance)
    if recurrent and (instance is compiler.root or never_compiles(instance, recurrent)):
        yield "unscriptable-layer/derived", {"layer": recurrent}
    yield from _of_numpy(compiler, instance)
    bases = ancestry.kin(compiler.interp, instance.cls)
    embedding = next((base for base in bases if base in ("torch.nn.Embedding", "torch.nn.EmbeddingBag")), "")
    max_norm = py.constant(instance.arguments.get("max_norm", py.NONE)) if embedding else None
    if isinstance(max_norm, (int, float)):
        yield "embedding-max-norm/layer", {"layer": f"nn.{embedding.rpartition('.')[2]}"}
    if any(base.startswith("torch.distributions.") for base in bases):
        yield "unscriptable-layer/distribution", {}
    if any(map(_is_lazy, (*instance.parameters.values(), *instance.buffers.values()))):
        yield "unscriptable-layer/lazy", {}
    for parameter, how in instance.parametrized.items():
        if how in UNSCRIPTABLE_PARAMETRIZATIONS:
            facts = {"parameter": parameter, "how": how.rpartition(".")[2]}
            yield "unscriptable-layer/parametrization", facts


def _of_torch(
    compiler: Compiler, instance: py.ModuleValue, name: str
) -> Iterator[tuple[RuleName, dict[str, str]]]:
    """What the tables tell of a layer of torch."""
    entry = compiler.tables.modules.get(name)
    if entry is not None:
        forward = forward_entry(compiler, entry, instance)
        if "fails" in forward and not any(map(_is_lazy, instance.parameters.values())):
            why = cause(forward["fails"])
            is_number = why.endswith(_WHOLE_NUMBER)
            yield "unscriptable-layer/number" if is_number else "unscriptable-layer", {"why": why}
        elif name == library.LAYER_IN_PYTHON:
            yield "unsaveable-script/dependency", saving.OF_LAYER
        for facts in misfits(instance, entry):
            yield "unscriptable-layer/argument", facts
    elif name == "torch.nn.DataParallel":
        yield "unscriptable-layer", {"why": "it splits its input over devices"}


def _of_optimized(instance: py.ModuleValue) -> Iterator[tuple[RuleName, dict[str, str]]]:
    """What ``torch.compile`` makes of a module has annotations of its own that torch.jit.script cannot read."""
    held = (*instance.attributes.values(), *instance.children.values())
    if any(isinstance(value, Optimized) and value.is_module for value in held):
        yield "unscriptable-layer/optimized", {}


def _of_numpy(compiler: Compiler, instance: py.ModuleValue) -> Iterator[tuple[RuleName, dict[str, str]]]:
    """The arguments that a layer, or one derived from it, keeps as constants, and that are numbers of numpy."""
    if python_classes.class_member(compiler.interp, instance.cls, "__constants__") is not None:
        return  # of the project's own
    entries = map(compiler.tables.modules.get, ancestry.kin(compiler.interp, instance.cls))
    attributes: dict[str, Any] = next((entry["attributes"] for entry in entries if entry is not None), {})
    kept = dict.fromkeys(described.get("from") for described in attributes.values())
    for name in kept:
        value = instance.arguments.get(name) if name and name not in _CONVERTED else None
        items = value.items if isinstance(value, (py.ListValue, py.TupleValue)) else [value]
        if any(item is not None and numpy_arrays.is_scalar(item) for item in items):
            yield "unscriptable-layer/numpy", {"argument": name}


# Arguments of which layers make a float before they keep them (torch/nn/modules/upsampling.py).
_CONVERTED = frozenset({"scale_factor"})


def _is_lazy(value: py.Value) -> bool:
    return isinstance(value, py.TensorValue) and value.lazy
