"""The TorchScript type of a Python value: what torch infers for attributes.

Source: torch/csrc/jit/python/pybind_utils.h (``tryToInferType``).
"""

from __future__ import annotations

from typing import ClassVar

from tsguard.analysis import values as py
from tsguard.analysis.events import with_article
from tsguard.analysis.numpy_numbers import NumpyInt
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.declared import allows_none, declared_class, plain_type
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.terms import NONE, Is
from tsguard.language import types as t
from tsguard.language.relations import unify
from tsguard.language.rule_names import RuleName

_CONSTANTS: dict[type, t.Type] = {
    bool: t.BOOL, int: t.INT, float: t.FLOAT, complex: t.COMPLEX, str: t.STR, bytes: t.STR, type(None): t.NONE,
}  # fmt: skip
_HINTS: dict[str, t.Type] = {
    "int": t.INT, "float": t.FLOAT, "bool": t.BOOL, "str": t.STR, "Tensor": t.TENSOR, "complex": t.COMPLEX,
    "dtype": t.INT, "device": t.DEVICE,
}  # fmt: skip


# An enum member that is also a string or a number is inferred as that.
_MIXINS: dict[str, t.Type] = {
    "builtins.str": t.STR,
    "builtins.int": t.INT,
    "enum.IntEnum": t.INT,
    "enum.StrEnum": t.STR,
}


class Uninferable(Exception):
    """A value that has no TorchScript type; the message says what it is."""


class Refused(Uninferable):
    """A value for which torch refuses the whole module, by this ``rule``: of a dict the message says what its keys are."""

    rule: ClassVar[RuleName] = "unconvertible-attribute/keys"


class TooLarge(Refused):
    """An int of which torch infers a type that cannot hold it."""

    rule: ClassVar[RuleName] = "unconvertible-attribute/large"


def type_of(compiler: Compiler, value: py.Value, around: tuple[py.Value, ...] = ()) -> t.Type:
    """The type that torch infers for a value; ``around`` are the containers that hold it.

    Raises:
        Uninferable: it infers none.
        BudgetExceeded: what it holds is held so often that there is no end to it.
    """
    value = compiler.interp.settled(value)
    if any(value is outer for outer in around):
        raise Uninferable("itself")
    if isinstance(value, py.Const):
        return _of_constant(value)
    if isinstance(value, py.Unknown):
        return _unknown(compiler, value)
    if isinstance(value, py.TensorValue):
        return t.TENSOR
    if isinstance(value, py.Atom):
        if value.kind == "memory_format":
            raise Uninferable(describe(value))
        return t.DEVICE if value.kind == "device" else t.INT
    if isinstance(value, (py.TupleValue, py.ListValue, py.DictValue)):
        compiler.spend()
    if isinstance(value, py.TupleValue):
        if value.open:
            return t.UNKNOWN
        return t.TupleType(tuple(type_of(compiler, item, (*around, value)) for item in value.items))
    if isinstance(value, py.ListValue) and not isinstance(value, py.IteratorValue):
        return t.ListType(_element(compiler, value, value.items, around))
    if isinstance(value, py.DictValue):
        return _dict(compiler, value, around)
    return _instance(compiler, value)


def _of_constant(value: py.Const) -> t.Type:
    if value.value is Ellipsis:
        raise Uninferable("an ellipsis")
    if isinstance(value.value, NumpyInt):
        raise Uninferable(describe(value))
    if isinstance(value.value, int) and not -(2**63) <= value.value < 2**63:
        raise TooLarge("an int of more than 64 bits")
    return _CONSTANTS[type(value.value)]


def _instance(compiler: Compiler, value: py.Value) -> t.Type:
    if isinstance(value, py.EnumMember):
        for base in ancestry.mro(compiler.interp, value.cls):
            if isinstance(base, py.External) and base.name in _MIXINS:
                return _MIXINS[base.name]
        try:
            return compiler.class_type(value.cls, value.cls.node)
        except Refusal:
            raise Uninferable("an enum member") from None
    if isinstance(value, py.ModuleValue):
        raise Uninferable("an nn.Module")
    if isinstance(value, py.ObjectValue):
        return _object(compiler, value)
    raise Uninferable(describe(value))


def _unknown(compiler: Compiler, value: py.Unknown) -> t.Type:
    """By its annotation or its default, in a world that has decided whether it is None."""
    default = value.default
    if py.is_none(default) if default is not None else False:
        if value.term is None or compiler.interp.world.decide(Is(value.term, NONE), True):
            return t.NONE
        default = None
    elif _is_declared_none(compiler, value):
        return t.NONE
    if value.hint in _HINTS:
        return _HINTS[value.hint]
    if default is not None and not isinstance(default, py.Unknown):
        return type_of(compiler, default)
    return _declared(compiler, value)


def _is_declared_none(compiler: Compiler, value: py.Unknown) -> bool:
    """Whether an argument is None which may be that as its annotation says, or as compiled code asks."""
    world = compiler.interp.world
    if value.term is None or not (allows_none(value) or Is(value.term, NONE) in world.given):
        return False
    return world.decide(Is(value.term, NONE), False, guess=value.default is None)


def _declared(compiler: Compiler, value: py.Unknown) -> t.Type:
    """As an argument's annotation says, where that leaves no choice."""
    cls = declared_class(compiler, value)
    if isinstance(cls, py.ClassValue):
        if ancestry.derives_from(compiler.interp, cls, "enum.Enum"):
            return compiler.class_type(cls, cls.node)
        if ancestry.derives_from(compiler.interp, cls, "typing.NamedTuple"):
            named = compiler.class_type(cls, cls.node)
            return t.TupleType(named.elements) if isinstance(named, t.TupleType) else named
        return _instance_of(compiler, cls)
    if cls is not None:
        return _object(compiler, py.ObjectValue(cls))
    return plain_type(compiler, value) or t.UNKNOWN


def _element(
    compiler: Compiler,
    container: py.ListValue | py.DictValue,
    items: list[py.Value],
    around: tuple[py.Value, ...],
) -> t.Type:
    kind = "dict" if isinstance(container, py.DictValue) else "list"
    if not items:
        if container.open:
            return t.UNKNOWN
        raise Uninferable(f"an empty {kind}")
    element: t.Type | None = None
    for item in items:
        try:
            type_ = type_of(compiler, item, (*around, container))
        except Refused:
            raise
        except Uninferable as reason:
            raise Uninferable(f"a {kind} that holds {reason}") from None
        joint = type_ if element is None else unify(element, type_)
        if joint is None:
            raise Uninferable(f"a {kind} that mixes {element} and {type_}")
        element = joint
    assert element is not None
    return element


def _dict(compiler: Compiler, value: py.DictValue, around: tuple[py.Value, ...]) -> t.Type:
    values = _element(compiler, value, list(value.items.values()), around)
    refused = _refused_keys(list(value.items))
    if refused and not value.open:
        raise Refused(refused)
    keys: set[t.Type] = {
        t.UNKNOWN if key in value.untold else _CONSTANTS.get(type(key), t.UNKNOWN)
        for key in value.items
        if not isinstance(key, tuple)
    }
    if len(keys) != 1 or any(isinstance(key, tuple) for key in value.items):
        if value.open:
            return t.UNKNOWN
        raise Uninferable("a dict whose keys have no single simple type")
    return t.DictType(keys.pop(), values)


def _refused_keys(keys: list[object]) -> str:
    """What all keys of a dict are, where torch has a type for them and makes no dict of it.

    Source: torch/csrc/jit/python/pybind_utils.h (``tryToInferContainerType``), aten/src/ATen/core/type.cpp.
    """
    if all(key is None for key in keys):
        return "None"
    if not all(isinstance(key, tuple) for key in keys):
        return ""
    kinds = {tuple(map(type, key)) for key in keys if isinstance(key, tuple)}
    simple = all(kind in _CONSTANTS for key in kinds for kind in key)
    return "tuples" if len(kinds) == 1 and simple else ""


def _object(compiler: Compiler, value: py.ObjectValue) -> t.Type:
    if isinstance(value.cls, py.ClassValue):
        return _instance_of(compiler, value.cls)
    name = getattr(value.cls, "name", "")
    if name == "torch.Generator":
        return t.GENERATOR
    if name == "torch.device":
        return t.DEVICE
    raise Uninferable(with_article(f"{name.rpartition('.')[2] or 'Python'} object"))


def _instance_of(compiler: Compiler, cls: py.ClassValue) -> t.Type:
    if ancestry.derives_from(compiler.interp, cls, "torch.Tensor"):
        return t.TENSOR
    unscripted = "dataclass" in cls.marks and "script" not in cls.marks
    if unscripted or not compiler.can_compile_class(cls):
        raise Uninferable(with_article(f"{cls.name} object"))
    if not compiler.compiles(cls):
        raise Uninferable(with_article(f"{cls.name} object, whose class does not compile"))
    return compiler.class_type(cls, cls.node)


def describe(value: py.Value) -> str:
    """A value's kind in the user's terms."""
    kinds: dict[type[py.Value], str] = {
        py.SetValue: "a set",
        py.RangeValue: "a range",
        py.Partial: "a functools.partial",
        py.BoundMethod: "a bound method",
        py.ClassValue: "a class",
        py.FunctionValue: "a function",
        py.ModuleReference: "a Python module",
        py.ModuleValue: "an nn.Module",
        py.SliceValue: "a slice",
        py.IteratorValue: "an iterator",
        py.ListValue: "a list",
        py.TupleValue: "a tuple",
        py.DictValue: "a dict",
        py.TensorValue: "a tensor",
        py.EnumMember: "an enum member",
    }
    if isinstance(value, py.Const):
        if isinstance(value.value, NumpyInt):
            return "an int64 object"
        return "None" if value.value is None else with_article(type(value.value).__name__)
    if isinstance(value, py.External):
        return f"{value.name}"
    if isinstance(value, py.ObjectValue):
        return with_article(f"{getattr(value.cls, 'name', 'Python').rpartition('.')[2]} object")
    if isinstance(value, py.Atom):
        return f"a torch.{value.kind}"
    return kinds.get(type(value), "a Python object")
