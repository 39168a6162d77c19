"""Concrete types: modules that torch compiles once, because nothing tells them apart.

Source: torch/jit/_recursive.py (``ConcreteTypeStore``).  Two modules of one class whose
attributes have equal types, whose constants are equal and whose submodules have equal
concrete types are of one type.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.copies import is_closure
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.compiled import ConcreteType
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.layers import layer_key
from tsguard.analysis.script.library_modules import forward_entry

if TYPE_CHECKING:
    from tsguard.analysis.script.compiled import ModuleInfo


_LAYERS: Kept[Hashable, ConcreteType] = Kept()
_TYPES: Kept[Hashable, ConcreteType] = Kept()


def concrete_type(compiler: Compiler, instance: py.ModuleValue) -> ConcreteType:
    """The concrete type of a module that has been described, and all below it."""
    instance = compiler.model(instance)
    known = compiler.concrete_types.get(id(instance))
    if known is None:
        layer = layer_key(compiler.interp, instance)
        if layer is not None:
            return _of_layer(compiler, instance, layer)
        # What holds itself, and what is known by its place, is of a type of its own.
        known = compiler.concrete_types[id(instance)] = ConcreteType()
        if _is_comparable(compiler, instance):
            known = compiler.concrete_types[id(instance)] = _stored(compiler, instance)
    return known


def _of_layer(compiler: Compiler, instance: py.ModuleValue, layer: Hashable) -> ConcreteType:
    kept = _LAYERS.of(compiler.interp.program)
    known = kept.get(layer)
    if known is None:
        known = kept[layer] = _stored(compiler, instance)
    compiler.concrete_types[id(instance)] = known
    return known


def _is_comparable(compiler: Compiler, instance: py.ModuleValue) -> bool:
    if instance.parametrized:
        return False
    functions = (*compiler.info(instance).functions.values(), instance.attributes.get("forward"))
    return not any(isinstance(f, py.FunctionValue) and is_closure(f) for f in functions) and all(
        isinstance(base, py.External) or (isinstance(base, py.ClassValue) and base.scope.is_global)
        for base in ancestry.mro(compiler.interp, instance.cls)
    )


def _stored(compiler: Compiler, instance: py.ModuleValue) -> ConcreteType:
    children = tuple((name, _child(compiler, child)) for name, child in instance.children.items())
    key = (
        instance.cls,
        instance.open,
        instance.traced,
        tuple(instance.parameters),
        tuple(instance.buffers),
        children,
        tuple(_replaced(name, value) for name, value in instance.attributes.items()),
        tuple((kind, *map(_hook, hooks)) for kind, hooks in instance.hooks.items()),
        _library_forward(compiler, instance),
        _described(compiler.info(instance)),
    )
    is_shared = all(type_.is_shared for _, type_ in children if isinstance(type_, ConcreteType))
    types = _TYPES.of(compiler.interp.program) if is_shared else compiler.local_types
    return types.setdefault(key, ConcreteType(is_shared))


def _hook(hook: py.Value) -> Hashable:
    """What stands for a hook: it is compiled for each module, so that of a closure only the code matters."""
    return hook.node if isinstance(hook, py.FunctionValue) else hook


def _is_untold(value: py.Value) -> bool:
    return isinstance(value, py.Unknown) and not value.hint and value.default is None


def _child(compiler: Compiler, child: py.Value) -> Hashable:
    if isinstance(child, py.ModuleValue):
        return concrete_type(compiler, child)
    return (type(child), child.unread if isinstance(child, py.Unknown) else None)


def _replaced(name: str, value: py.Value) -> Hashable:
    """What compiled code sees of an attribute beside its type: a chosen forward, a member of an enum, a gap."""
    if name == "forward" and isinstance(value, py.BoundMethod):
        return value.function
    if isinstance(value, py.Unknown):
        return (name, _is_untold(value), value.unread)
    return (name, value) if isinstance(value, py.EnumMember) else None


def _library_forward(compiler: Compiler, instance: py.ModuleValue) -> tuple[int, ...]:
    """Which forward each class of torch.nn in the ancestry has for these arguments."""
    bases = ancestry.kin(compiler.interp, instance.cls)
    entries = map(compiler.tables.modules.get, bases)
    return tuple(id(forward_entry(compiler, entry, instance)) for entry in entries if entry is not None)


def _described(info: ModuleInfo) -> Hashable:
    return (
        tuple(info.attributes.items()),
        tuple((name, value.type, type(value.const), value.const) for name, value in info.constants.items()),
        tuple(info.functions.items()),
        tuple(info.failed.items()),
        tuple(info.interfaces.items()),
        info.ignored,
    )
