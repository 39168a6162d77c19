"""Sugared values: all that an expression may mean before it is a typed value.

Source: torch/csrc/jit/frontend/sugared_value.h, torch/csrc/jit/python/python_sugared_value.h
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from tsguard.analysis import values as py
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from tsguard.language.schemas import Schema


class _Absent:
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unlike:
    """What Python has in place of a value, and the rule that is broken where that comes out.

    ``kind`` is "int" (TorchScript has a float), "Tensor" (a bool), "number" (a Tensor, and
    TorchScript a float), "text" (another text), "dtype" (a Tensor of another dtype) or "object" (the number of a torch.dtype).
    ``parts`` tells of a tuple what each of its items is unlike; the first of them stands for all.
    """

    kind: Literal["int", "Tensor", "number", "text", "dtype", "object"]
    rule: RuleName
    node: ast.AST
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[Unlike | None, ...] = ()


ABSENT = _Absent()


@dataclass(eq=False, slots=True)
class Value:
    """A typed value of the graph.

    ``const`` is the constant it certainly is, ``parameter`` the un-annotated parameter
    that it comes from, ``missing`` tells that its default is None though its type is
    Tensor, ``opaque`` that it is what a Python call returned, which unpacks as asked.
    ``source`` is the Python value of which nothing tells the type.
    ``untyped`` is the variable that has its type only because an empty container must
    have one (or the empty container itself), ``unlike`` what Python has instead.
    """

    type: t.Type
    const: Hashable = ABSENT
    empty_list: bool = False
    parameter: str = ""
    missing: bool = False
    static: bool | None = None
    node: ast.AST | None = None
    source: py.Unknown | None = None
    opaque: bool = False
    untyped: str = ""
    unlike: Unlike | None = None

    @property
    def is_constant(self) -> bool:
        return self.const is not ABSENT


# The arguments of a call: positional and by keyword.
Args = Sequence[Value]
Kwargs = Mapping[str, Value]


class Sugared:
    """Anything that an expression may mean."""

    __slots__ = ()
    kind = "value"


@dataclass(eq=False, slots=True)
class Simple(Sugared):
    value: Value
    kind = "simple value"


@dataclass(eq=False, slots=True)
class SugaredModule(Sugared):
    """A module; of one whose attribute is annotated with an ``interface``, only that is seen."""

    instance: py.ModuleValue
    path: str = ""
    interface: t.ClassType | None = None
    kind = "module"


@dataclass(eq=False, slots=True)
class Method(Sugared):
    """Methods of a module or class object, of which the first that fits is called."""

    receiver: Sugared
    name: str
    schemas: tuple[Schema, ...] = ()
    function: py.FunctionValue | None = None
    kind = "method"


@dataclass(eq=False, slots=True)
class Function(Sugared):
    function: py.FunctionValue
    kind = "function"


@dataclass(eq=False, slots=True)
class Compiled(Sugared):
    """A Python function of torch that compiles, by its schemas."""

    name: str
    schemas: tuple[Schema, ...]
    kind = "function"


@dataclass(eq=False, slots=True)
class Builtin(Sugared):
    """An operator, with the value it is a method of."""

    symbol: str
    receiver: Value | None = None
    kind = "builtin function"


@dataclass(eq=False, slots=True)
class SugaredPython(Sugared):
    """A Python object that stays one: calling it is an opaque Python call.

    ``ignored`` and ``dropped`` are ``@ignore`` and ``@unused``; ``opaque`` takes any
    arguments.
    """

    value: py.Value
    name: str = ""
    ignored: bool = False
    dropped: bool = False
    opaque: bool = False
    receiver: Sugared | None = None
    kind = "Python object"


@dataclass(eq=False, slots=True)
class PythonModule(Sugared):
    value: py.Value
    kind = "Python module"


@dataclass(eq=False, slots=True)
class SugaredClass(Sugared):
    type: t.ClassType
    cls: py.ClassValue
    kind = "class"


@dataclass(eq=False, slots=True)
class SugaredNamedTuple(Sugared):
    type: t.TupleType
    kind = "named tuple"


@dataclass(eq=False, slots=True)
class SugaredEnum(Sugared):
    type: t.EnumType
    cls: py.ClassValue
    kind = "enum"


@dataclass(eq=False, slots=True)
class SugaredException(Sugared):
    name: str
    kind = "exception"


@dataclass(eq=False, slots=True)
class Special(Sugared):
    """A form with evaluation rules of its own: isinstance, getattr, range, zip, ..."""

    form: str
    kind = "builtin function"


@dataclass(eq=False, slots=True)
class Cast(Sugared):
    """``int``, ``float``, ``bool``, ``str``: an operator, or a class's own method."""

    type: t.Type
    symbol: str
    magic: str
    kind = "type"


@dataclass(eq=False, slots=True)
class TensorCast(Sugared):
    receiver: Value
    kind = "tensor cast"


@dataclass(eq=False, slots=True)
class Magic(Sugared):
    """An operator unless the first argument's class defines the method."""

    name: str
    base: Builtin
    kind = "builtin function"


@dataclass(eq=False, slots=True)
class Print(Sugared):
    kind = "builtin function"


@dataclass(eq=False, slots=True)
class SugaredNone(Sugared):
    kind = "None"


@dataclass(eq=False, slots=True)
class SugaredRange(Sugared):
    static_length: int | None = None
    kind = "range"


@dataclass(eq=False, slots=True)
class Tuple(Sugared):
    """A tuple of sugared values: what unrolled loops run over."""

    items: list[Sugared]
    open: bool = False
    kind = "tuple"


@dataclass(eq=False, slots=True)
class Iterables(Sugared):
    """``zip`` and ``enumerate``: iterables run together."""

    children: list[Sugared] = field(default_factory=list)
    kind = "iterable"


@dataclass(eq=False, slots=True)
class ModuleCall(Sugared):
    """``children()``, ``items()`` and the like, which give an iterable when called."""

    result: Sugared
    kind = "method"


@dataclass(eq=False, slots=True)
class SugaredSlice(Sugared):
    kind = "slice"


@dataclass(eq=False, slots=True)
class Dispatch(Sugared):
    """A function that a constant flag chooses between two (``return_indices``)."""

    flag: str
    index: int
    default: bool
    if_true: Sugared
    if_false: Sugared
    kind = "function"


@dataclass(eq=False, slots=True)
class SugaredUnknown(Sugared):
    """What the source does not tell; ``source`` is the Python value that it is, where it is one."""

    source: py.Unknown | None = None
    kind = "unknown"


@dataclass(eq=False, slots=True)
class SugaredGlobal(SugaredUnknown):
    """What a ``name`` outside a function means where nothing tells: it may be called, and is no value."""

    name: str = ""


def source_of(value: Sugared) -> py.Unknown | None:
    """The Python value that something of unknown type is, or comes out of."""
    if isinstance(value, SugaredUnknown):
        return value.source
    return value.value.source if isinstance(value, Simple) and value.value.type is t.UNKNOWN else None


def simple(type_: t.Type, const: object = ABSENT) -> Simple:
    return Simple(Value(type_, const))
