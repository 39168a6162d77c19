"""Attributes of values, read and written as Python and ``nn.Module`` do."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from tsguard.analysis import unread
from tsguard.analysis.python import (
    ancestry,
    classes,
    descriptors,
    library,
    mappings,
    names,
    numpy_arrays,
    operations,
    own_parameters,
    plain_attributes,
    records,
    regular_expressions,
    supers,
    usual_texts,
)
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.unread_mappings import gathers
from tsguard.analysis.terms import COMPOUND, Attribute, Item, Named, Term, bounded, member_of
from tsguard.analysis.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    FunctionValue,
    ListValue,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    PropertyValue,
    StaticMethod,
    SuperValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    by_name,
    constant,
    is_none,
)
from tsguard.project.modules import Module
from tsguard.report.records import replace

_CONTAINERS = (ListValue, DictValue, TupleValue)


def get(interp: Interpreter, owner: Value, name: str) -> Value | None:
    """An attribute, or None where the value certainly has none of this name."""
    if isinstance(owner, Unknown):
        owner = interp.settled(owner)
    if isinstance(owner, ModuleValue):
        return module_attribute(interp, owner, name)
    if isinstance(owner, ObjectValue):
        return _object_attribute(interp, owner, name)
    if isinstance(owner, ModuleReference):
        return _of_file(interp, owner.module, name)
    if name == "__mro__" and isinstance(owner, (ClassValue, External)):
        return _order(interp, owner)
    if isinstance(owner, External):
        return names.external(interp, f"{owner.name}.{name}")
    if isinstance(owner, ClassValue):
        return _class_attribute(interp, owner, name)
    if isinstance(owner, SuperValue):
        return supers.get(interp, owner, name)
    if isinstance(owner, Unknown):
        return _unknown_attribute(owner, name)
    if isinstance(owner, EnumMember):
        return plain_attributes.of_member(interp, owner, name)
    return plain_attributes.get(interp, owner, name)


def _of_file(interp: Interpreter, module: Module, name: str) -> Value | None:
    """What a name means in a file; ``module.__dict__`` is asked for one when somebody looks it up."""
    if name == "__dict__":
        return DictValue({}, open=True, names_of=module)
    found = names.global_name(interp, name, interp.program.scope(module))
    return found or _submodule(interp, module, name)


def _submodule(interp: Interpreter, package: Module, name: str) -> Value:
    found = interp.program.project.finder.find(f"{package.name}.{name}", package)
    return ModuleReference(found) if found is not None else Unknown(member_of(package.name, name))


def _order(interp: Interpreter, cls: ClassValue | External) -> Value:
    """``cls.__mro__``, where each class that it names is known with its bases."""
    classes_ = [base for base in ancestry.mro(interp, cls) if base != _OBJECT]
    is_told = all(isinstance(base, ClassValue) or base == _TENSOR for base in classes_)
    return (
        TupleValue((*classes_, _OBJECT))
        if is_told
        else Unknown(member_of(getattr(cls, "name", ""), "__mro__"))
    )


_OBJECT, _TENSOR = External("builtins.object"), External("torch.Tensor")
APPLY = External("torch.autograd.Function.apply")
"""A class method, of which the class tells what it runs."""


def of_object(owner: ObjectValue, name: str) -> Term:
    """An attribute of an instance of a class; instances of one class are not told apart."""
    cls = operations.term_of(owner.cls)
    return Attribute(cls, name) if cls is not None else Named(name, name)


def _unknown_attribute(owner: Unknown, name: str) -> Value:
    term: Term | None = Attribute(owner.term, name) if owner.term is not None else None
    if term is not None and isinstance(owner.term, COMPOUND):
        term = bounded(term, None)
    return Unknown(term, default=usual_texts.method(owner, name), unread=owner.unread)


# What every class has, and ``__members__`` of an enumeration.
_OF_CLASSES: dict[str, Callable[[ClassValue], Value]] = {
    "__name__": lambda cls: Const(cls.name),
    "__module__": lambda cls: Const(cls.module.name),
    "__dict__": lambda cls: by_name(cls.members),
    "__members__": lambda cls: by_name({n: m for n, m in cls.members.items() if isinstance(m, EnumMember)}),
}


def _class_attribute(interp: Interpreter, owner: ClassValue, name: str) -> Value | None:
    if name in _OF_CLASSES:
        return _OF_CLASSES[name](owner)
    if name == "__subclasses__":
        return BoundMethod(External("builtins.type.__subclasses__"), owner)
    found = classes.class_member(interp, owner, name)
    if found is not None:
        value = found[0]
        if isinstance(value, StaticMethod):
            return value.function
        if isinstance(value, ClassMethod):
            return BoundMethod(value.function, owner)
        return value
    if name == "__init__" and (made := records.constructor(owner)) is not None:
        return made
    if name == "__new__" and ancestry.is_module_class(interp, owner):
        return External("builtins.object.__new__")
    for base in ancestry.mro(interp, owner):
        if isinstance(base, External) and (name.startswith("__") or supers.has_member(interp, base, name)):
            member = External(f"{base.name}.{name}")
            return BoundMethod(member, owner) if member == APPLY else member
        if isinstance(base, Unknown):
            return Unknown(member_of(owner.name, name), unread=base.unread)
    return None


def _live(owner: ObjectValue) -> DictValue:
    """``object.__dict__``: what is set in it is set on the object."""
    return DictValue(cast("dict[object, Value]", owner.attributes), owner.open)


# Bases that give an instance nothing but what every object has.
_BARE = frozenset({"builtins.object", "typing.Generic", "abc.ABC", "typing.Protocol"})
_OF_MAPPINGS = frozenset(name for name in dir(dict) if name not in dir(object))


def _object_attribute(interp: Interpreter, owner: ObjectValue, name: str) -> Value | None:
    if name in owner.attributes:
        return owner.attributes[name]
    if name == "__class__":
        return owner.cls
    if name == "__dict__":
        return _live(owner)
    if name == "__module__" and isinstance(owner.cls, ClassValue):
        return Const(owner.cls.module.name)
    found = classes.class_member(interp, owner.cls, name)
    if found is not None:
        return descriptors.read(interp, found[0], owner, name)
    if isinstance(owner.cls, External) and owner.cls.name.startswith("numpy."):
        return numpy_arrays.attribute(owner, name)
    if (computed := regular_expressions.attribute(owner, name)) is not None:
        return computed
    if owner.contents is not None and name in _OF_MAPPINGS:
        return BoundMethod(External(f"builtins.dict.{name}"), owner)
    hook = classes.class_member(interp, owner.cls, "__getattr__")
    if hook is not None and isinstance(hook[0], (FunctionValue, External)) and not name.startswith("__"):
        return interp.call(BoundMethod(hook[0], owner), [Const(name)], {}, None)
    return _from_unread_base(interp, owner, name)


def _gives_nothing(base: External, name: str) -> bool:
    """Whether instances have no attribute of this name from a base beyond those that are told already."""
    return base.name in _BARE or (base.name in ancestry.MAPPINGS and name != "data")  # that of a UserDict


def _from_unread_base(interp: Interpreter, owner: ObjectValue, name: str) -> Value | None:
    """An attribute that only a base that is not read can have, or what was not followed; None for none."""
    for base in ancestry.mro(interp, owner.cls):
        if isinstance(base, External) and mappings.mixes_in(base, name):
            return BoundMethod(External(f"{base.name}.{name}"), owner)
        if isinstance(base, External) and External(f"{base.name}.{name}") == APPLY:
            return BoundMethod(APPLY, owner.cls)
        is_known = isinstance(base, External) and _gives_nothing(base, name)
        if isinstance(base, External) and not is_known:
            return Unknown(member_of(base.name, name))
        if isinstance(base, Unknown):
            return Unknown(of_object(owner, name), unread=base.unread)
    return Unknown(of_object(owner, name)) if owner.open else None


def module_attribute(interp: Interpreter, owner: ModuleValue, name: str) -> Value | None:
    """An attribute of a module, at last by a ``__getattr__`` of its class."""
    found = held_by_module(interp, owner, name)
    if found is not None:
        return found
    hook = classes.own_hook(interp, owner, "__getattr__")
    if hook is not None and not name.startswith("__"):
        return _by_hook(interp, owner, hook, name)
    if owner.open or ancestry.has_unknown_base(interp, owner.cls):
        return Unknown(of_object(owner, name))
    return None


def _by_hook(interp: Interpreter, owner: ModuleValue, hook: FunctionValue, name: str) -> Value | None:
    """What a ``__getattr__`` gives; None where it raises, or where only keywords that nobody named could hold it."""
    ask = BoundMethod(hook, owner)
    try:
        found = interp.plain.call(ask, [Const(name)], {}, None)
    except Raised as error:
        if error.name == "AttributeError":
            return None
        raise
    if isinstance(found, Unknown) and isinstance(found.term, Item) and gathers(found.term.owner, "kwarg"):
        return None
    is_told = not isinstance(found, Unknown) or found.hint or found.default is not None
    if interp.plain is not interp and (isinstance(found, TensorValue) or not is_told):
        return interp.call(ask, [Const(name)], {}, None)  # what it computes is a part of the walk
    if is_told or not isinstance(found, Unknown) or found.unread is not None:
        return found
    return replace(found, unread=unread.hooked(hook.module, hook.node, name))


def held_by_module(interp: Interpreter, owner: ModuleValue, name: str) -> Value | None:
    """An attribute that a module is known to have: its registries first, then its class, then torch's."""
    for registry in (owner.attributes, owner.parameters, owner.buffers, owner.children):
        if name in registry:
            return registry[name]
    if name in ("_modules", "_parameters", "_buffers"):
        kinds = {"_modules": owner.children, "_parameters": owner.parameters, "_buffers": owner.buffers}
        # Shared with the module: containers.put adds no key that is not a str.
        return DictValue(cast("dict[object, Value]", kinds[name]), registry_of=owner)
    if name in ("__class__", "__dict__"):
        return owner.cls if name == "__class__" else _live(owner)
    if name == "__module__" and isinstance(owner.cls, ClassValue):
        return Const(owner.cls.module.name)
    found = classes.class_member(interp, owner.cls, name)
    if found is not None:
        return descriptors.read(interp, found[0], owner, name)
    return library.member(interp, owner, name)


def _bind(interp: Interpreter, owner: dict[str, Value], name: str, value: Value) -> None:
    if not interp.is_defining:
        interp.program.shared_state.changing(owner, name)
    owner[name] = value


def set_(interp: Interpreter, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``."""
    owner = interp.settled(owner)
    if isinstance(owner, ModuleValue):
        hook = classes.own_hook(interp, owner, "__setattr__")
        if hook is None:
            set_on_module(interp, owner, name, value)
        else:
            interp.call(BoundMethod(hook, owner), [Const(name), value], {}, None)
    elif isinstance(owner, ObjectValue):
        if not descriptors.write(interp, owner, name, value):
            _set_on_object(interp, owner, name, value)
    elif isinstance(owner, ClassValue):
        _bind(interp, owner.members, name, value)
        interp.program.members.clear()
    elif isinstance(owner, FunctionValue):
        _bind(interp, owner.attributes, name, value)
    elif isinstance(owner, TensorValue) and name == "requires_grad":
        owner.grad = constant(interp.settled(value)) is True
    elif isinstance(owner, TensorValue) and name == "data":
        owner.sizes = value.sizes if isinstance(value, TensorValue) else None
        owner.rank = owner.filling = None
    elif isinstance(owner, TensorValue):
        owner.given |= {name}


def _set_on_object(interp: Interpreter, owner: ObjectValue, name: str, value: Value) -> None:
    """As the class says by a ``__setattr__`` of its own, which may keep it as an item."""
    if name == "__dict__" and isinstance(value, DictValue):
        owner.attributes, owner.open = cast("dict[str, Value]", value.items), value.open
        return
    hook = classes.class_member(interp, owner.cls, "__setattr__")
    if hook is not None and isinstance(hook[0], (FunctionValue, External)):
        interp.call(BoundMethod(hook[0], owner), [Const(name), value], {}, None)
        if owner.contents is not None and name in owner.contents.items:
            return
    if hook is None or name not in owner.attributes:
        owner.attributes[name] = value


# What is no module, no parameter and no buffer for certain.
_NO_MODULES = (Const, FunctionValue, ListValue, TupleValue, DictValue)


def set_on_module(interp: Interpreter, owner: ModuleValue, name: str, value: Value) -> None:
    """Assignment on a module, which registers parameters and submodules.

    Source: torch/nn/modules/module.py, Module.__setattr__.
    """
    found = classes.class_member(interp, owner.cls, name)
    is_fixed = found is not None and isinstance(found[0], PropertyValue) and not found[0].is_cached
    if descriptors.write(interp, owner, name, value) or is_fixed:
        return
    value = own_parameters.registered(interp, value)
    registries = (owner.attributes, owner.parameters, owner.buffers, owner.children)
    if isinstance(value, TensorValue) and value.role == "parameter":
        home = owner.parameters
    elif isinstance(value, ModuleValue):
        home = owner.children
    elif name in owner.parameters and is_none(value):
        home = owner.parameters
    elif name in owner.children and is_none(value):
        home = owner.children
    elif (isinstance(value, TensorValue) and value.role == "buffer") or (
        name in owner.buffers and (isinstance(value, TensorValue) or is_none(value))
    ):
        home = owner.buffers
    elif isinstance(value, _NO_MODULES) and any(name in registry for registry in registries[1:]):
        raise Raised("TypeError", None)  # what is registered is replaced by its like or None only
    else:
        home = owner.attributes
    for registry in registries:
        if registry is not home:
            registry.pop(name, None)
    if home is owner.buffers and type(value) is TensorValue:
        value = replace(value, role="buffer")
    home[name] = value
