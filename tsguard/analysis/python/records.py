"""Classes whose constructor is made from their fields: dataclasses, what packages make like them, named tuples."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tsguard.analysis.python import ancestry, transforms
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.unread_mappings import REST, STARS, perhaps_other
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    ListValue,
    ModuleValue,
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
    bound = _bound(fields, args, kwargs)
    passed = [bound.pop(name) for name in _passed_on(interp, cls or instance.cls) if name in bound]
    instance.attributes.update(bound)
    _hook(interp, instance, "post_init__", passed)


def _passed_on(interp: Interpreter, cls: Value) -> list[str]:
    """The fields that are ``InitVar``: ``__post_init__`` is given them, the object does not keep them."""
    bases = [base for base in reversed(_records(interp, cls)) if "dataclass" in base.marks]
    return [n for base in bases for n, a in base.annotations.items() if _is_named(a, "InitVar")]


def _hook(interp: Interpreter, instance: ObjectValue, ending: str, passed: Sequence[Value] = ()) -> None:
    """Call what runs before or after fields are set: ``__post_init__``, under the name that its package gives it."""
    for base in ancestry.mro(interp, instance.cls):
        for name, member in base.members.items() if isinstance(base, ClassValue) else ():
            if name.startswith("__") and name.endswith(ending):
                interp.call(BoundMethod(member, instance), list(passed), {}, None)
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
            specified = transforms.specified(interp, base)
            for name, annotation in base.annotations.items():
                field = specified.get(name) or transforms.Field(name, base.members.get(name))
                if not _is_of_class(annotation):
                    _declare(field, found, others)
            continue
        for field in transforms.fields(interp, base):
            if field.name in base.annotations and _is_of_class(base.annotations[field.name]):
                continue
            _declare(field, found, others)
    return found, others


def _declare(field: transforms.Field, found: dict[str, Value | None], others: dict[str, Value]) -> None:
    if field.is_parameter:
        found[field.name] = field.default
    elif field.default is not None:
        others[field.name] = field.default


def _is_of_class(annotation: ast.expr) -> bool:
    """Whether an annotation is ``ClassVar``, which declares no field."""
    return _is_named(annotation, "ClassVar")


def _is_named(annotation: ast.expr, name: str) -> bool:
    text = annotation.value if isinstance(annotation, ast.Constant) else unparsed(annotation)
    return str(text).partition("[")[0].rpartition(".")[2] == name


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
    declared, others = _fields(interp, _records(interp, subject))
    return ListValue([_field(name, default) for name, default in {**declared, **others}.items()])


def parameters(interp: Interpreter, cls: ClassValue) -> list[str]:
    """The names of the fields that the constructor of a class takes, in their order."""
    bases = [base for base in ancestry.mro(interp, cls) if isinstance(base, ClassValue)]
    return list(_fields(interp, bases if is_named_tuple(interp, cls) else _records(interp, cls))[0])


def replaced(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``dataclasses.replace(record, **changes)``."""
    record = interp.settled(args[0]) if args else NONE
    if not isinstance(record, ObjectValue) or not isinstance(record.cls, ClassValue):
        return Unknown(placed(node))
    kept = {name: record.attributes.get(name) for name in parameters(interp, record.cls)}
    given = {name: value for name, value in kept.items() if value is not None}
    return interp.instantiate(record.cls, [], {**given, **kwargs}, node)


def as_dict(interp: Interpreter, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``dataclasses.asdict(record)``."""
    record = interp.settled(args[0]) if len(args) == 1 and not kwargs else NONE
    held = _held(interp, record)
    return Unknown(placed(node)) if held is None else _plain(interp, record)


def _plain(interp: Interpreter, value: Value) -> Value:
    """A record as a dict, in lists, tuples and dicts too."""
    value = interp.settled(value)
    interp.spend()
    held = _held(interp, value)
    if held is not None:
        return DictValue({name: _plain(interp, item) for name, item in held.items()})
    if isinstance(value, ListValue):
        return ListValue([_plain(interp, item) for item in value.items], value.open)
    if isinstance(value, TupleValue):
        return TupleValue(tuple(_plain(interp, item) for item in value.items), value.open, value.cls)
    if isinstance(value, DictValue):
        return replace(value, items={key: _plain(interp, item) for key, item in value.items.items()})
    return value


def _held(interp: Interpreter, value: Value) -> dict[str, Value] | None:
    """What a dataclass's object holds in its fields; None where that is not told, or it is none."""
    if not isinstance(value, ObjectValue) or isinstance(value, ModuleValue) or value.open:
        return None
    declared, others = _fields(interp, _records(interp, value.cls))
    kept = [name for name in (*declared, *others) if name not in _passed_on(interp, value.cls)]
    held = {name: value.attributes.get(name) for name in kept}
    told = {name: item for name, item in held.items() if item is not None}
    return told if told and len(told) == len(held) else None


def alike(interp: Interpreter, op: ast.cmpop, left: Value, right: Value) -> tuple[Value, Value] | None:
    """The fields that a dataclass compares of two of its objects; None where its class does not compare them so.

    Source: Python's documentation of ``dataclasses.dataclass``, ``eq`` and ``order``.
    """
    cls = left.cls if isinstance(left, ObjectValue) else None
    if not isinstance(cls, ClassValue) or not isinstance(right, ObjectValue) or right.cls is not cls:
        return None
    asked = {k.arg: k.value for d in cls.node.decorator_list if isinstance(d, ast.Call) for k in d.keywords}
    wanted, usual = ("eq", True) if isinstance(op, (ast.Eq, ast.NotEq)) else ("order", False)
    says = asked.get(wanted)
    if "dataclass" not in cls.marks or (says.value if isinstance(says, ast.Constant) else usual) is not True:
        return None
    sides = [_held(interp, side) for side in (left, right)]
    if None in sides or any("compare" in unparsed(statement) for statement in cls.node.body):
        return None
    one, other = (TupleValue(tuple(side.values())) for side in sides if side is not None)
    return one, other


def _field(name: str, default: Value | None) -> Value:
    """A ``dataclasses.Field``; what its factory makes is its default."""
    known = {"name": Const(name), "default": default or _MISSING, "default_factory": _MISSING}
    return ObjectValue(External("dataclasses.Field"), known, open=True)
