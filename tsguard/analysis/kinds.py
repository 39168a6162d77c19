"""What kinds of modules a target has: two constructions of the same kinds run the same code, but for sizes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import (
    ClassValue,
    Const,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.language.modes import LAYERS


def kinds_of(value: Value, *, of_layers: bool) -> frozenset[Hashable]:
    """What kinds of modules there are below a value, and of what kinds is what they hold.

    Two are of one kind where nothing but sizes, or what nobody knows, tells them apart.  With ``of_layers`` it counts
    which of torch's own layers there are, and what they are given.
    """
    modules = [module for _, module in descendants(value)] if isinstance(value, ModuleValue) else []
    return frozenset(kind for module in modules for kind in _kinds_within(module, of_layers))


def classes_in(kinds: Iterable[Hashable]) -> frozenset[Hashable]:
    """The classes that some kinds are about: of the project or a package, and of torch those that tell the modes apart."""
    classes = (kind[0] for kind in kinds if isinstance(kind, tuple))
    return frozenset(
        cls
        for cls in classes
        if isinstance(cls, ClassValue) or (isinstance(cls, External) and cls.name in LAYERS)
    )


def _kinds_within(module: ModuleValue, of_layers: bool) -> Iterator[Hashable]:
    hooks = tuple((name, *map(_kind, functions)) for name, functions in module.hooks.items() if functions)
    registries = [module.attributes, module.parameters, module.buffers, module.children]
    cls: Hashable = module.cls
    if isinstance(cls, External):
        registries = [module.arguments] if of_layers else []
        cls = (
            cls
            if of_layers
            else any(isinstance(p, TensorValue) and p.lazy for p in module.parameters.values())
        )
    yield (cls, module.scripted, module.traced, module.training, hooks, *module.parametrized.items())
    for registry in registries:
        for name, part in registry.items():
            kind = _kind(part)
            if kind is not None:
                yield (module.cls, name, kind)


def _kind(value: Value) -> Hashable | None:
    if isinstance(value, Const):
        return (type(value.value), _size(value.value))
    if isinstance(value, Unknown):
        if value.unread is not None:
            return value.unread.key
        return None if value.default is None else _kind(value.default)
    if isinstance(value, (ListValue, TupleValue)):
        held = (
            type(part) if isinstance(part, (ListValue, TupleValue)) else _kind(part) for part in value.items
        )
        return (type(value), frozenset(held))
    if isinstance(value, TensorValue):
        return (TensorValue, value.role, value.lazy)
    if isinstance(value, ObjectValue):
        return (ObjectValue, None if isinstance(value, ModuleValue) else value.cls)
    if isinstance(value, FunctionValue):
        return value.node
    if isinstance(value, (ClassValue, External)):
        return value
    return str(type(value))


def _size(value: object) -> Hashable:
    """A number by what code mostly asks of it: whether it is 0, 1, less or more."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value if isinstance(value, Hashable) else None
    if value in (0, 1):
        return value
    return -1 if value < 0 else 2 if value > 1 else 0.5
