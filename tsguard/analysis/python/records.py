"""Classes whose constructor is made from their fields: dataclasses and named tuples."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.unread_mappings import REST, STARS, perhaps_other
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassValue,
    Const,
    External,
    ListValue,
    ObjectValue,
    Partial,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.source.unparsing import unparsed

_MISSING = External("dataclasses.MISSING")
INITIALIZE = "dataclasses.dataclass.__init__"


def construct(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """An instance, where the constructor in force is one made from fields."""
    if is_named_tuple(interp, cls):
        bases = [base for base in ancestry.mro(interp, cls) if isinstance(base, ClassValue)]
        return TupleValue(tuple(_bound(_fields(bases), args, kwargs).values()), cls=cls)
    if not has_made_constructor(interp, cls):
        return None
    instance = ObjectValue(cls)
    _fill(interp, instance, _bound(_fields(_dataclasses(interp, cls)), args, kwargs))
    return instance


def constructor(cls: ClassValue) -> Value | None:
    """The ``__init__`` that a dataclass has of its fields; None where it writes its own, or is none."""
    if "dataclass" not in cls.marks or "__init__" in cls.members:
        return None
    return Partial(External(INITIALIZE), (cls,), {})


def initialize(
    interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """``Base.__init__(self, ...)`` of a dataclass, for an object of it or of a class that derives from it."""
    cls, instance, *given = args if len(args) > 1 else (*args, NONE)
    if not isinstance(instance, ObjectValue):
        return Unknown()
    _fill(interp, instance, _bound(_fields(_dataclasses(interp, cls)), given, kwargs))
    return NONE


def _fill(interp: Interpreter, instance: ObjectValue, values: dict[str, Value]) -> None:
    instance.attributes.update(values)
    post = classes.class_member(interp, instance.cls, "__post_init__")
    if post is not None:
        interp.call(BoundMethod(post[0], instance), [], {}, None)


def is_named_tuple(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether the instances of a class are tuples whose items have names."""
    return ancestry.derives_from(interp, cls, "typing.NamedTuple") or "collections.namedtuple" in cls.marks


def has_made_constructor(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether the first class with a constructor is a dataclass that does not write its own."""
    for base in ancestry.mro(interp, cls):
        if isinstance(base, ClassValue):
            if "__init__" in base.members:
                return False
            if "dataclass" in base.marks:
                return True
    return False


def _dataclasses(interp: Interpreter, cls: Value) -> list[ClassValue]:
    """The dataclasses among a class and its bases."""
    return [b for b in ancestry.mro(interp, cls) if isinstance(b, ClassValue) and "dataclass" in b.marks]


def _fields(bases: list[ClassValue]) -> dict[str, Value | None]:
    """The fields that classes declare, those of the last base first, and their defaults."""
    found: dict[str, Value | None] = {}
    for base in reversed(bases):
        found.update({n: base.members.get(n) for n, a in base.annotations.items() if not _is_of_class(a)})
    return found


def _is_of_class(annotation: ast.expr) -> bool:
    """Whether an annotation is ``ClassVar``, which declares no field."""
    text = annotation.value if isinstance(annotation, ast.Constant) else unparsed(annotation)
    return str(text).partition("[")[0].rpartition(".")[2] == "ClassVar"


def _bound(fields: dict[str, Value | None], args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    bound: dict[str, Value] = {}
    for index, (name, default) in enumerate(fields.items()):
        if index < len(args):
            bound[name] = args[index]
        elif name in kwargs:
            bound[name] = kwargs[name]
        else:
            known = default if default is not None else Unknown()
            found = perhaps_other(known, name, kwargs.get(REST))
            bound[name] = perhaps_other(found, index - len(args) + 1, kwargs.get(STARS))
    return bound


def make(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``dataclass(cls)`` as a call."""
    if not args or not isinstance(args[0], ClassValue):
        return Unknown()
    args[0].marks = args[0].marks | {"dataclass"}
    return args[0]


def fields(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``dataclasses.fields``."""
    subject = args[0].cls if args and isinstance(args[0], ObjectValue) else args[0] if args else None
    if not isinstance(subject, ClassValue):
        return Unknown()
    declared = _fields(_dataclasses(interp, subject))
    return ListValue([_field(name, default) for name, default in declared.items()])


def _field(name: str, default: Value | None) -> Value:
    """A ``dataclasses.Field``; what its factory makes is its default."""
    known = {"name": Const(name), "default": default or _MISSING, "default_factory": _MISSING}
    return ObjectValue(External("dataclasses.Field"), known, open=True)
