"""``isinstance`` and ``issubclass``: asked of Python's own classes where those are known.

A value that stands for an object of Python has a class of Python; a class of the standard
library, abstract or not, is asked itself whether it includes that one.
"""

from __future__ import annotations

import enum
import functools
import importlib
import types
from collections.abc import Iterator

from tsguard.analysis import class_relations
from tsguard.analysis.numpy_numbers import NumpyInt
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import Term
from tsguard.analysis.values import (
    EITHER,
    FALSE,
    TRUE,
    Atom,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    FunctionValue,
    IteratorValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Partial,
    RangeValue,
    SetValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)


class _Tensor:
    """What Python's abstract classes see of a tensor."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[object]:
        raise NotImplementedError

    def __contains__(self, item: object) -> bool:
        raise NotImplementedError

    def __reversed__(self) -> Iterator[object]:
        raise NotImplementedError

    def __int__(self) -> int:
        raise NotImplementedError

    def __float__(self) -> float:
        raise NotImplementedError

    def __complex__(self) -> complex:
        raise NotImplementedError

    def __index__(self) -> int:
        raise NotImplementedError

    def __abs__(self) -> object:
        raise NotImplementedError


class _Module:
    """What Python's abstract classes see of a module that is no container."""

    def __call__(self) -> object:
        raise NotImplementedError


_REPRESENTED: dict[type[Value], type] = {
    ListValue: list,
    TupleValue: tuple,
    DictValue: dict,
    SetValue: set,
    RangeValue: range,
    SliceValue: slice,
    FunctionValue: types.FunctionType,
    BoundMethod: types.MethodType,
    Partial: functools.partial,
    TensorValue: _Tensor,
    Atom: object,
}
_HINTED: dict[str, type] = {
    hinted.__name__: hinted for hinted in (int, float, bool, str, complex, bytes, list, tuple, dict, set)
}
# The methods by which abstract classes know theirs.
_PROTOCOL = frozenset(
    {"__call__", "__contains__", "__enter__", "__exit__", "__iter__", "__len__", "__next__", "__reversed__"}
)
# What the tables say of functions and classes, and of nothing else.
_DEFINED = frozenset({"builtin", "class", "dispatch", "fails", "ignored", "schemas"})
_INT64 = External("numpy.int64")
_OF_INT64 = (
    _INT64,
    *(External(f"numpy.{name}") for name in ("generic", "integer", "number", "signedinteger")),
)
_OBJECT = External("builtins.object")
_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"})


def is_instance_call(interp: Interpreter, value: Value, given: Value, term: Term | None) -> Value:
    """``isinstance(value, given)``; where the source does not tell, as in the usual configuration."""
    value = interp.settled(value)
    answer = is_one_of(interp, value, given)
    if answer is not None:
        return TRUE if answer else FALSE
    wanted = list(given.items) if isinstance(given, TupleValue) else [given]
    is_either = isinstance(value, Unknown) and value.hint == EITHER
    if is_either or any(isinstance(cls, Unknown) for cls in wanted):
        return Unknown(term, "bool")
    usual = is_one_of(interp, value.default, given) if isinstance(value, Unknown) and value.default else None
    if usual is None:
        usual = any(getattr(cls, "name", "") in ("builtins.int", "builtins.str") for cls in wanted)
    return Unknown(term, "bool", Const(usual))


def _iterator_is(cls: Value) -> bool | None:
    """Whether an iterator is of a class; which iterator it is, nobody keeps."""
    is_container = isinstance(cls, External) and cls.name.rpartition(".")[2] in _HINTED
    return False if is_container or isinstance(cls, ClassValue) else None


def is_one_of(interp: Interpreter, value: Value, given: Value) -> bool | None:
    """isinstance of a class or of one of a tuple's, or None where the source does not tell."""
    wanted = list(given.items) if isinstance(given, TupleValue) else [given]
    answers = [is_instance(interp, value, cls) for cls in wanted]
    return True if True in answers else None if None in answers else False


def is_instance(interp: Interpreter, value: Value, cls: Value) -> bool | None:
    """isinstance, or None where the source does not tell."""
    if isinstance(cls, Unknown):
        return None
    if isinstance(value, IteratorValue):
        return _iterator_is(cls)
    if isinstance(value, (ObjectValue, EnumMember)):
        return _object_is(interp, value, cls)
    if isinstance(value, TupleValue) and value.cls is not None and isinstance(cls, ClassValue):
        return cls in ancestry.mro(interp, value.cls)
    if isinstance(value, TensorValue) and isinstance(cls, External) and cls.name in _TENSORS:
        return True
    if isinstance(value, Atom) and cls == External(f"torch.{value.kind}"):
        return True
    if isinstance(cls, ClassValue):
        return None if isinstance(value, Unknown) and not value.hint else False
    if isinstance(value, Const) and isinstance(value.value, NumpyInt) and cls in _OF_INT64:
        return True
    real = _real(cls)
    if real is None:
        is_open = isinstance(value, Unknown) or (
            isinstance(value, External) and not (_is_of_torch(cls) and _is_defined(interp, value))
        )
        return None if is_open else False
    return _includes(interp, real, value)


def _is_of_torch(cls: Value) -> bool:
    return isinstance(cls, External) and cls.name.startswith("torch.")


def _is_defined(interp: Interpreter, value: External) -> bool:
    """Whether a name of torch is known to be a function or a class: an instance of no class of torch, and no plain value."""
    entry = interp.tables.entry(value.name)
    return isinstance(entry, str) or (isinstance(entry, dict) and not _DEFINED.isdisjoint(entry))


def includes_tensors(name: str) -> bool:
    """Whether every tensor is of a class of Python's own, as of ``object``, or of an abstract one as ``Iterable``."""
    real = class_relations.named(name)
    return real is not None and class_relations.is_subclass(_Tensor, real)


def includes_numbers(name: str) -> bool:
    """Whether every number of Python's own is of a class: of ``int`` or ``float``, or an abstract one as ``Number``."""
    real = class_relations.named(name)
    return real is not None and any(class_relations.is_subclass(kind, real) for kind in (int, float))


def is_subclass(interp: Interpreter, cls: Value, wanted: Value) -> bool | None:
    """issubclass, or None where the source does not tell."""
    if not isinstance(cls, (ClassValue, External)) or isinstance(wanted, Unknown):
        return None
    if any(
        base is wanted or (isinstance(base, External) and base == wanted)
        for base in ancestry.mro(interp, cls)
    ):
        return True
    if isinstance(cls, External):
        if isinstance(wanted, ClassValue) and cls.name.startswith(("torch.", "builtins.")):
            return False  # these know nothing of classes that import them
        # torch describes all of its modules; of its other classes nothing is known here.
        is_layer_asked = wanted == External("torch.nn.Module") and cls.name.startswith("torch.nn.")
        return False if is_layer_asked else None
    mixed_in = [_real(base) for base in ancestry.mro(interp, cls) if base != _OBJECT]
    real = _real(wanted)
    if real is not None and any(
        base is not None and class_relations.is_subclass(base, real) for base in mixed_in
    ):
        return True
    return None if ancestry.has_unknown_base(interp, cls) else False


def type_of(interp: Interpreter, value: Value) -> Value | None:
    """``type(value)``, None where it is not known."""
    if isinstance(value, (ObjectValue, EnumMember)):
        return value.cls
    if isinstance(value, TupleValue) and value.cls is not None:
        return value.cls
    if isinstance(value, Const) and isinstance(value.value, NumpyInt):
        return _INT64
    found = type(value.value) if isinstance(value, Const) else _REPRESENTED.get(type(value))
    if found is None or found.__module__ != "builtins":
        return None
    return External(f"builtins.{found.__name__}")


def _includes(interp: Interpreter, real: type, value: Value) -> bool | None:
    if isinstance(value, Unknown):
        hinted = _HINTED.get(value.hint)
        return None if hinted is None else class_relations.is_subclass(hinted, real)
    if isinstance(value, Const):
        if isinstance(value.value, NumpyInt):
            return real is not int and class_relations.is_subclass(int, real)
        return isinstance(value.value, real)
    if isinstance(value, ClassValue):
        is_enum = ancestry.derives_from(interp, value, "enum.Enum")
        return class_relations.is_subclass(enum.EnumMeta if is_enum else type, real)
    if isinstance(value, External):
        return _external_is(interp, value, real)
    if isinstance(value, DictValue) and real is not dict and issubclass(real, dict):
        return None
    represented = _REPRESENTED.get(type(value))
    return None if represented is None else class_relations.is_subclass(represented, real)


def _object_is(interp: Interpreter, value: ObjectValue | EnumMember, cls: Value) -> bool | None:
    lineage = ancestry.mro(interp, value.cls)
    if any(base is cls or (isinstance(base, External) and base == cls) for base in lineage):
        return True
    real = _real(cls)
    if real is None:
        return False
    bases = [base for base in map(_real, lineage) if base is not None and base is not object]
    if isinstance(value, ModuleValue) and not _is_container(interp, value):
        bases.append(_Module)
    defined = {name for base in lineage if isinstance(base, ClassValue) for name in base.members}
    own = type("Defined", (), dict.fromkeys(_PROTOCOL & defined, _Module.__call__))
    return any(class_relations.is_subclass(base, real) for base in (*bases, own))


def _is_container(interp: Interpreter, value: ModuleValue) -> bool:
    containers = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
    return any(ancestry.derives_from(interp, value.cls, f"torch.nn.{name}") for name in containers)


def _external_is(interp: Interpreter, value: External, real: type) -> bool | None:
    """Of something that is not read: a class or a function, by the tables or by its name."""
    if value.name in interp.tables.modules:
        return class_relations.is_subclass(type, real)
    module, _, attribute = value.name.rpartition(".")
    if module in class_relations.READ:  # Optional and Tuple are no classes, however they are spelled
        found = getattr(importlib.import_module(module), attribute, None)
        return None if found is None else isinstance(found, real)
    entry = interp.tables.entry(value.name)
    is_class = attribute[:1].isupper() if entry is None else isinstance(entry, dict) and "class" in entry
    if real is type:
        return is_class
    if real is types.FunctionType:
        return not is_class
    if class_relations.is_subclass(types.FunctionType, real):
        return True
    return False if real in _HINTED.values() and _is_defined(interp, value) else None


def _real(cls: Value) -> type | None:
    return class_relations.named(cls.name) if isinstance(cls, External) else None
