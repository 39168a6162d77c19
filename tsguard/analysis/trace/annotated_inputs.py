"""Inputs by their annotations: the types that torch.jit.trace takes, and those that it refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import types as exported
from tsguard.analysis.python import ancestry, metaclasses, records
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.extents import ANY
from tsguard.analysis.trace.values import InputDict, InputList, InputRecord, Opaque, Traced
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

_SCALARS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.str", "builtins.complex"})
_LISTS = frozenset(
    {"builtins.list", "typing.List", "typing.Sequence", "collections.abc.Sequence", "typing.Iterable"}
)
_DICTS = frozenset({"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"})
_TUPLES = frozenset({"builtins.tuple", "typing.Tuple"})


def of_annotation(tracer: Tracer, parameter: ast.arg, scope: Scope) -> py.Value:
    """What a parameter is given by its annotation; without one, a tensor until its uses tell otherwise."""
    origin = Origin(parameter.arg)
    if parameter.annotation is None and parameter.arg in tracer.facts.numbers:
        tracer.report("untraceable-input/scalar", parameter, name=parameter.arg)
        return Opaque(None, origin=origin)
    if parameter.annotation is None:
        tracer.untold[parameter.arg] = parameter
        return Traced(origin=origin, extent=shaping.of_input(tracer.facts, parameter.arg))
    value = of_type(tracer, parameter.annotation, Annotated(scope, origin))
    meant = _meant(tracer, parameter.annotation, scope)
    exported.check_annotated(tracer, meant, parameter)
    rule: RuleName | None = "untraceable-input/scalar" if value is None else None
    if isinstance(value, Traced):
        tracer.exports.tensors.add(parameter.arg)
        value.extent = shaping.of_input(tracer.facts, parameter.arg)
    else:
        rule = _of_objects(tracer, parameter, scope) or rule
    if isinstance(value, Opaque) and meant in _REFUSED:
        rule = "untraceable-input/object"
    if rule is not None:
        tracer.report(rule, parameter, name=parameter.arg)
    if value is None:
        tracer.scalars.add(parameter.arg)
    return Opaque(None, origin=origin) if value is None else value


# Classes that say nothing of what their instances are to torch.jit.trace, and those of what it refuses.
_NEUTRAL = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
_REFUSED = frozenset(
    {
        "builtins.float",
        "builtins.int",
        "builtins.str",
        "collections.abc.Callable",
        "enum.Enum",
        "numpy.ndarray",
        "torch.Generator",
        "torch.device",
        "torch.dtype",
        "typing.Callable",
    }
)


def _of_objects(tracer: Tracer, parameter: ast.arg, scope: Scope) -> RuleName | None:
    """The rule that inputs of annotated classes break; None where torch.jit.trace may take them."""
    assert parameter.annotation is not None
    classes = list(_classes(tracer, parameter.annotation, scope))
    if classes:
        tracer.exports.annotated.add(parameter.arg)
    objects = [cls for cls in classes if not records.is_named_tuple(tracer, cls)]
    for cls in objects:
        exported.check_annotated_class(tracer, cls, parameter)
    known = (name for cls in objects for name in ancestry.kin(tracer, cls) if name not in _NEUTRAL)
    return "untraceable-input/object" if objects and _REFUSED.issuperset(known) else None


def _classes(tracer: Tracer, annotation: ast.expr, scope: Scope) -> Iterator[py.ClassValue]:
    """The classes of the project of which an input is or holds an instance, as its annotation says."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return
    if isinstance(annotation, ast.BinOp):
        yield from _of_each(tracer, [annotation.left, annotation.right], scope)
        return
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    if not isinstance(head, (ast.Name, ast.Attribute)):
        return
    meaning = tracer.plain.evaluate(head, scope)
    if isinstance(meaning, py.ClassValue):
        if not (isinstance(annotation, ast.Subscript) and metaclasses.subscripts(tracer, meaning)):
            yield meaning
    elif isinstance(annotation, ast.Subscript) and isinstance(meaning, py.External):
        inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        if meaning.name in _LISTS | _TUPLES | _DICTS:
            for element in inner:
                yield from _classes(tracer, element, scope)
        elif meaning.name in ("typing.Optional", "typing.Union"):
            yield from _of_each(tracer, inner, scope)


def _of_each(tracer: Tracer, options: list[ast.expr], scope: Scope) -> list[py.ClassValue]:
    """The classes of a choice, None beside which there is nothing else."""
    found: list[py.ClassValue] = []
    for option in options:
        is_none = isinstance(option, ast.Constant) and option.value is None
        held = list(_classes(tracer, option, scope))
        if not held and not is_none:
            return []
        found += held
    return found


def _meant(tracer: Tracer, annotation: ast.expr, scope: Scope) -> str:
    """The full name of an annotation that is one name, subscripted or not."""
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    if not isinstance(head, (ast.Name, ast.Attribute)):
        return ""
    meaning = tracer.plain.evaluate(head, scope)
    return meaning.name if isinstance(meaning, py.External) else ""


@dataclass(frozen=True, slots=True)
class Annotated:
    """Where an annotation stands: its scope, the input it is of, and the named tuples around it."""

    scope: Scope
    origin: Origin
    within: tuple[py.ClassValue, ...] = ()


def of_type(tracer: Tracer, annotation: ast.expr, at: Annotated) -> py.Value | None:
    """An input of an annotated type; None for a number or a string."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return Opaque(None, origin=at.origin)
    if isinstance(annotation, ast.BinOp):
        left = of_type(tracer, annotation.left, at)
        return left if not py.is_none(left or py.FALSE) else of_type(tracer, annotation.right, at)
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return py.NONE
    head = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    meaning = tracer.plain.evaluate(head, at.scope)
    name = meaning.name if isinstance(meaning, py.External) else ""
    if isinstance(annotation, ast.Subscript):
        if isinstance(meaning, py.ClassValue) and metaclasses.subscripts(tracer, meaning):
            return _of_metaclass(tracer, annotation.slice, at)
        return _of_generic(tracer, name, annotation.slice, at)
    if name in _SCALARS:
        return None
    if name in (
        "torch.Tensor",
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
        "torch.LongTensor",
        "torch.FloatTensor",
        "torch.BoolTensor",
    ):
        return Traced(origin=at.origin)
    if name in _LISTS | _TUPLES:
        return InputList([Traced(origin=at.origin, extent=ANY)], True, origin=at.origin)
    if name in _DICTS:
        return InputDict({}, True, origin=at.origin)
    if isinstance(meaning, py.ClassValue) and records.is_named_tuple(tracer, meaning):
        return _of_record(tracer, meaning, at)
    return Opaque(None, origin=at.origin)


def _of_record(tracer: Tracer, cls: py.ClassValue, at: Annotated) -> py.Value | None:
    """A named tuple of what its fields are annotated with; None for one that holds a number or a string."""
    if cls in at.within:
        return Opaque(None, origin=at.origin)
    field_of = Annotated(cls.scope, at.origin, (*at.within, cls))
    untyped = "collections.namedtuple" in cls.marks and "annotated" not in cls.marks
    parts = [
        Traced(origin=at.origin) if untyped else of_type(tracer, annotation, field_of)
        for annotation in cls.annotations.values()
    ]
    items = tuple([part for part in parts if part is not None])
    return InputRecord(items, cls=cls, name=at.origin.name) if len(items) == len(parts) else None


def _of_metaclass(tracer: Tracer, inner: ast.expr, at: Annotated) -> py.Value | None:
    """Brackets of a metaclass, or around a type and texts about it: the type is first, if it is a tensor's."""
    first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
    if isinstance(first, (ast.Name, ast.Attribute)):
        value = of_type(tracer, first, at)
        if isinstance(value, Traced):
            return value
    return Opaque(None, origin=at.origin)


def _of_generic(tracer: Tracer, name: str, inner: ast.expr, at: Annotated) -> py.Value | None:
    elements = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "typing.Optional":
        return of_type(tracer, elements[0], at)
    if name in ("typing.Union", "typing.Annotated"):
        found = [of_type(tracer, e, at) for e in (elements if name == "typing.Union" else elements[:1])]
        return next(
            (v for v in found if v is not None and not py.is_none(v)),
            None if None in found else Opaque(None, origin=at.origin),
        )
    if name in _LISTS | _TUPLES:
        every = name in _LISTS or (len(elements) == 2 and isinstance(elements[1], ast.Constant))
        parts = [of_type(tracer, e, at) for e in (elements[:1] if every else elements)]
        if None in parts:
            return None
        if every:
            for part in parts:
                if isinstance(part, Traced):
                    part.extent = ANY
        return InputList([part for part in parts if part is not None], every, origin=at.origin)
    if name in _DICTS:
        return InputDict({}, True, origin=at.origin)
    if len(elements) > 1 and all(_is_text(element) for element in elements[1:]):
        return _of_metaclass(tracer, inner, at)
    return Opaque(None, origin=at.origin)


def _is_text(element: ast.expr) -> bool:
    return isinstance(element, ast.Constant) and isinstance(element.value, str)
