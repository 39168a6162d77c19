"""Classes whose constructor is made from their fields: dataclasses, what packages make like them, named tuples."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, transforms
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.unread_mappings import REST, STARS, perhaps_other
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
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
_MADE = frozenset({"dataclass", "record"})


def construct(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """An instance, where the constructor in force is one made from fields."""
    if is_named_tuple(interp, cls):
        bases = [base for base in ancestry.mro(interp, cls) if isinstance(base, ClassValue)]
        return TupleValue(tuple(_bound(_fields(interp, bases)[0], args, kwargs).values()), cls=cls)
    if made_constructor(interp, cls) is None:
        return None
    instance = ObjectValue(cls)
    if ancestry.is_mapping(interp, cls):
        instance.contents = DictValue({})
    fill(interp, instance, args, kwargs)
    return instance


def constructor(cls: ClassValue) -> Value | None:
    """The ``__init__`` that a dataclass has of its fields; None where it writes its own, or is none."""
    if not _MADE & cls.marks or "__init__" in cls.members:
        return None
    return Partial(External(INITIALIZE), (cls,), {})


def initialize(
    interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """``Base.__init__(self, ...)`` of a dataclass, for an object of it or of a class that derives from it."""
    cls, instance, *given = args if len(args) > 1 else (*args, NONE)
    if not isinstance(instance, ObjectValue):
        return Unknown()
    fill(interp, instance, given, kwargs, cls)
    return NONE


def fill(
    interp: Interpreter,
    instance: ObjectValue,
    args: list[Value],
    kwargs: dict[str, Value],
    cls: Value | None = None,
) -> None:
    """Run the constructor that the class of an object, or a base of it, has of its fields."""
    _hook(interp, instance, "pre_init__")
    fields, others = _fields(interp, _records(interp, cls or instance.cls))
    instance.attributes.update(others)
    instance.attributes.update(_bound(fields, args, kwargs))
    _hook(interp, instance, "post_init__")


def _hook(interp: Interpreter, instance: ObjectValue, ending: str) -> None:
    """Call what runs before or after fields are set: ``__post_init__``, under the name that its package gives it."""
    for base in ancestry.mro(interp, instance.cls):
        for name, member in base.members.items() if isinstance(base, ClassValue) else ():
            if name.startswith("__") and name.endswith(ending):
                interp.call(BoundMethod(member, instance), [], {}, None)
                return


def is_named_tuple(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether the instances of a class are tuples whose items have names."""
    return ancestry.derives_from(interp, cls, "typing.NamedTuple") or "collections.namedtuple" in cls.marks


def made_constructor(interp: Interpreter, cls: Value) -> ClassValue | None:
    """The first class with a constructor, where that is a dataclass or the like which does not write its own."""
    for base in ancestry.mro(interp, cls):
        if isinstance(base, ClassValue) and ("__init__" in base.members or _MADE & base.marks):
            return None if "__init__" in base.members else base
    return None


def _records(interp: Interpreter, cls: Value) -> list[ClassValue]:
    """The dataclasses, and what packages make like them, among a class and its bases."""
    return [b for b in ancestry.mro(interp, cls) if isinstance(b, ClassValue) and _MADE & b.marks]


def _fields(interp: Interpreter, bases: list[ClassValue]) -> tuple[dict[str, Value | None], dict[str, Value]]:
    """The fields that classes declare, those of the last base first, and their defaults; apart what none may give."""
    found: dict[str, Value | None] = {}
    others: dict[str, Value] = {}
    for base in reversed(bases):
        if "record" not in base.marks:
            found.update({n: base.members.get(n) for n, a in base.annotations.items() if not _is_of_class(a)})
            continue
        for field in transforms.fields(interp, base):
            if field.name in base.annotations and _is_of_class(base.annotations[field.name]):
                continue
            if field.is_parameter:
                found[field.name] = field.default
            elif field.default is not None:
                others[field.name] = field.default
    return found, others


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
    declared, _ = _fields(interp, _records(interp, subject))
    return ListValue([_field(name, default) for name, default in declared.items()])


def _field(name: str, default: Value | None) -> Value:
    """A ``dataclasses.Field``; what its factory makes is its default."""
    known = {"name": Const(name), "default": default or _MISSING, "default_factory": _MISSING}
    return ObjectValue(External("dataclasses.Field"), known, open=True)
