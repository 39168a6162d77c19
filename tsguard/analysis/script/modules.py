"""Modules: the attributes of the type that torch gives a module.

Source: torch/jit/_recursive.py (``infer_concrete_type_builder``).
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry, library
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script import classes
from tsguard.analysis.script.annotations import annotation_type, is_final
from tsguard.analysis.script.attribute_conversions import listed_atom, takes
from tsguard.analysis.script.compiled import ModuleInfo
from tsguard.analysis.script.constants import is_callable_attribute, is_no_constant
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.forward_references import are_strings
from tsguard.analysis.script.inference import Refused, Uninferable, type_of
from tsguard.analysis.script.inference import describe as described
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import ABSENT, Value
from tsguard.analysis.terms import IsInstance, Named
from tsguard.language import schemas
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.source import truths

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def describe(compiler: Compiler, instance: py.ModuleValue) -> ModuleInfo:
    """Infer a module's attributes; what its class annotates wrongly is reported."""
    info = ModuleInfo()
    annotations, holder = _annotations(compiler, instance)
    info.ignored = _ignored(compiler, instance)
    slots = _slots(compiler, instance)
    declared = _Declared(compiler, instance, annotations, holder)
    if not compiler.ways.passes_over_text_annotations:
        declared.refuse_text()
    optional = _optional(compiler, instance) if instance.parameters else ()
    for name in (*instance.parameters, *instance.buffers):
        if name not in info.ignored:
            value = {**instance.parameters, **instance.buffers}[name]
            inferred = declared.type(name, _inferred(compiler, value))
            declared.check_tensor(name, inferred, value, is_parameter=name in instance.parameters)
            info.attributes[name] = _OPTIONAL_TENSOR if name in optional else inferred
    for name, child in instance.children.items():
        declared.check_child(name, child, info)
    _constants(compiler, instance, declared, info)
    for name, value in instance.attributes.items():
        if name.startswith("__") or name in slots or name in info.ignored or name in info.constants:
            continue
        _attribute(compiler, info, declared, name, value)
    _from_tables(compiler, instance, info)
    return info


def _ignored(compiler: Compiler, instance: py.ModuleValue) -> frozenset[str]:
    found = python_classes.class_member(compiler.interp, instance.cls, "__jit_ignored_attributes__")
    items = getattr(found[0], "items", ()) if found is not None else ()
    return frozenset(str(py.constant(item)) for item in items if isinstance(item, py.Const))


def _slots(compiler: Compiler, instance: py.ModuleValue) -> frozenset[str]:
    """The attributes that ``__slots__`` of the classes name: torch reads ``__dict__``, where they are not."""
    listed = (
        base.members["__slots__"]
        for base in ancestry.mro(compiler.interp, instance.cls)
        if isinstance(base, py.ClassValue) and "__slots__" in base.members
    )
    named = (name for names in listed for name in (py.constant(names), *_listed(names)))
    return frozenset(name for name in named if isinstance(name, str) and name != "__dict__")


def _annotations(
    compiler: Compiler, instance: py.ModuleValue
) -> tuple[dict[str, ast.expr], py.ClassValue | None]:
    """The annotations that torch consults: those of the nearest class that has any, as nn.Module does."""
    bases = ancestry.mro(compiler.interp, instance.cls)
    own = takewhile(lambda base: base != py.External("torch.nn.Module"), bases)
    found = next((base for base in own if isinstance(base, py.ClassValue) and base.annotations), None)
    return ({}, None) if found is None else (found.annotations, found)


# Classes of torch.nn whose bodies annotate parameters that may be None, and layers derived from them do not
# (torch/nn/modules/conv.py): that is their type where there is a tensor, too.
_ANNOTATED = {"torch.nn.modules.conv._ConvNd": ("bias",)}
_OPTIONAL_TENSOR = t.OptionalType(t.TENSOR)


def _optional(compiler: Compiler, instance: py.ModuleValue) -> tuple[str, ...]:
    """The parameters that the annotations torch consults, those of a class of torch.nn, make optional."""
    for base in ancestry.mro(compiler.interp, instance.cls):
        if isinstance(base, py.ClassValue) and base.annotations:
            return ()
        if isinstance(base, py.External) and base.name in _ANNOTATED:
            return _ANNOTATED[base.name]
    return ()


class _Declared:
    """Class-level annotations, evaluated for every attribute that exists."""

    def __init__(
        self,
        compiler: Compiler,
        instance: py.ModuleValue,
        annotations: dict[str, ast.expr],
        holder: py.ClassValue | None,
        *,
        written: bool = False,
    ) -> None:
        self.compiler = compiler
        self.instance = instance
        self.annotations = annotations
        self.holder = holder
        self.strings = holder is not None and not written and are_strings(holder)

    def refuse_text(self) -> None:
        """Report the first annotation that is text at run time, whether or not the attribute is ever set."""
        for name, annotation in self.annotations.items():
            if self._is_text(annotation):
                self._refuse(
                    Refusal("class-annotation/text", annotation, name=name, annotation=text_of(annotation))
                )
                return

    def _is_text(self, annotation: ast.expr) -> bool:
        return self.strings or (isinstance(annotation, ast.Constant) and isinstance(annotation.value, str))

    def type(self, name: str, inferred: t.Type) -> t.Type:
        """An attribute's type: annotated, or as inferred."""
        annotation = self.annotations.get(name)
        if annotation is None or self.holder is None:
            return inferred
        if self._is_text(annotation):
            if not self.compiler.ways.passes_over_text_annotations:
                return inferred
            self._refuse(
                Refusal("class-annotation/string", annotation, name=name, annotation=text_of(annotation))
            )
            return inferred
        if is_final(annotation) and not isinstance(annotation, ast.Subscript):
            return inferred
        try:
            return annotation_type(self.compiler, annotation, self.holder.scope)
        except Refusal as refusal:
            facts = {"name": name, "annotation": text_of(annotation)}
            self._refuse(
                Refusal("class-annotation", annotation, **facts)
                if refusal.rule == "unknown-annotation"
                else refusal
            )
            return t.UNKNOWN

    def check_child(self, name: str, child: py.Value, info: ModuleInfo) -> None:
        if py.is_none(child):
            info.attributes[name] = self.type(name, t.NONE)
            return
        annotation = self.annotations.get(name)
        if annotation is None or self.holder is None:
            return
        type_ = self.type(name, t.UNKNOWN)
        if isinstance(type_, t.ClassType) and type_.interface:
            info.interfaces[name] = type_
            info.places[name] = (annotation, self.holder.module)
        elif type_ is not t.UNKNOWN or self._is_final(annotation):
            facts = {"name": name, "annotation": text_of(annotation)}
            self._refuse(Refusal("class-annotation/submodule", annotation, **facts))

    def check_tensor(self, name: str, type_: t.Type, value: py.Value, *, is_parameter: bool) -> None:
        """A parameter or buffer is a Tensor, or None, to what its class annotates, too."""
        annotation = self.annotations.get(name)
        if annotation is None or self.holder is None:
            return
        if self._is_final(annotation) or type_ not in (t.TENSOR, _OPTIONAL_TENSOR, t.NONE, t.UNKNOWN):
            self._refuse_value(name, annotation, "a parameter" if is_parameter else "a buffer")
        elif type_ is t.TENSOR and py.is_none(value):
            self._refuse_value(name, annotation, "None")

    def _is_final(self, annotation: ast.expr) -> bool:
        return is_final(annotation) and not self._is_text(annotation)

    def _refuse_value(self, name: str, annotation: ast.expr, given: str) -> None:
        facts = {"name": name, "annotation": text_of(annotation), "given": given}
        self._refuse(Refusal("class-annotation/value", annotation, **facts))

    def _refuse(self, refusal: Refusal) -> None:
        assert self.holder is not None
        self.compiler.report(refusal, self.holder.module)


def _inferred(compiler: Compiler, value: py.Value) -> t.Type:
    try:
        return type_of(compiler, value)
    except Uninferable:
        return t.UNKNOWN


def _listed(names: py.Value) -> list[object]:
    """What iterating over ``__constants__`` gives; the keys of a dict."""
    if isinstance(names, py.DictValue):
        return list(names.items)
    if isinstance(names, (py.ListValue, py.TupleValue, py.SetValue)):
        return [py.constant(item) for item in names.items]
    return []


def _constants(compiler: Compiler, instance: py.ModuleValue, declared: _Declared, info: ModuleInfo) -> None:
    """Attributes that ``Final`` or ``__constants__`` declares constant."""
    places: dict[str, tuple[ast.AST, Module]] = {}
    if declared.holder is not None and not declared.strings:
        for name, annotation in declared.annotations.items():
            if is_final(annotation) and not isinstance(annotation, ast.Constant):
                places[name] = (annotation, declared.holder.module)
    listed = python_classes.class_member(compiler.interp, instance.cls, "__constants__")
    if listed is not None and isinstance(listed[1], py.ClassValue):
        for constant in _listed(listed[0]):
            if isinstance(constant, str):
                places.setdefault(constant, (_listing(listed[1]), listed[1].module))
    for name in sorted(places):
        if name in info.attributes or name in instance.children:
            continue
        value = _constant_value(compiler, instance, name)
        if value is None:
            continue
        if is_no_constant(compiler, value):
            node, module = places[name]
            facts = {"name": name, "given": described(value)}
            compiler.report(Refusal("class-annotation/constant", node, **facts), module)
        info.constants[name] = _as_constant(compiler, value, instance.cls, name)


def _listing(cls: py.ClassValue) -> ast.AST:
    """The statement in a class's body that lists its constants."""
    for node in cls.node.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__constants__" for target in targets):
            return node
    return cls.node


def _constant_value(compiler: Compiler, instance: py.ModuleValue, name: str) -> py.Value | None:
    try:
        found = compiler.interp.attribute(instance, name)
    except Raised:
        return None
    return compiler.interp.settled(found) if found is not None else None


def _as_constant(compiler: Compiler, found: py.Value, cls: py.Value, name: str) -> Value:
    if isinstance(found, py.ListValue):
        found = py.TupleValue(tuple(found.items), found.open)
    try:
        type_ = type_of(compiler, found)
    except Uninferable:
        return Value(t.UNKNOWN)
    if isinstance(found, py.Unknown) and type_ is t.UNKNOWN and _is_flag(compiler, found, cls, name):
        type_ = t.BOOL
    if isinstance(found, py.Unknown) and type_ is t.BOOL:
        guess = found.default.value if isinstance(found.default, py.Const) else True
        const = ABSENT if found.term is None else compiler.interp.world.decide(found.term, bool(guess))
        return Value(type_, const)
    if isinstance(found, py.Unknown):
        told = found.default.value if isinstance(found.default, py.Const) else ABSENT
        return Value(type_, told, source=found)
    return Value(type_, found.value if isinstance(found, py.Const) else ABSENT)


def _is_flag(compiler: Compiler, value: py.Unknown, cls: py.Value, name: str) -> bool:
    """Whether a constant of which nothing tells the type is a bool in this world: who tests its truth means one."""
    is_told = value.default is not None or value.annotation is not None or value.unread is not None
    if value.term is None or is_told or not isinstance(cls, py.ClassValue):
        return False
    if f"self.{name}" not in truths.tested(cls.node):
        return False
    asked = IsInstance(value.term, Named("builtins.bool", "bool"))
    return compiler.interp.world.decide(asked, True, guess=True)


def _attribute(compiler: Compiler, info: ModuleInfo, declared: _Declared, name: str, value: py.Value) -> None:
    value = compiler.interp.settled(value)
    if isinstance(value, py.Unknown) and isinstance(value.default, (py.FunctionValue, py.External)):
        value = value.default
    if isinstance(value, (py.FunctionValue, py.External)) and is_callable_attribute(compiler, value):
        info.functions[name] = value
        return
    if name in declared.annotations:
        info.attributes[name] = declared.type(name, t.UNKNOWN)
        _check_value(compiler, info, declared, name, value)
        return
    if isinstance(value, py.ObjectValue) and value.cls == py.External("torch.jit.Attribute"):
        _typed(compiler, info, declared, name, value)
        return
    try:
        info.attributes[name] = type_of(compiler, value)
        _check_fields(compiler, info, name, value)
        _check_lists(compiler, declared, name, value, info.attributes[name])
    except Uninferable as reason:
        info.failed[name] = str(reason)
        cls = declared.instance.cls
        if isinstance(reason, Refused) and isinstance(cls, py.ClassValue):
            facts = {"name": name, "owner": cls.name, "reason": str(reason)}
            compiler.report(Refusal(reason.rule, cls.node, **facts), cls.module)
        if isinstance(value, py.EnumMember):  # which torch makes a type of, whether or not anything reads it
            refusal = Refusal("unknown-annotation/enum", value.cls.node, name=value.cls.name)
            compiler.report(refusal, value.cls.module)


def _typed(
    compiler: Compiler, info: ModuleInfo, declared: _Declared, name: str, value: py.ObjectValue
) -> None:
    """``self.name = torch.jit.Attribute(value, type)``, which says the type where it is assigned."""
    told, cls = value.attributes["type"], declared.instance.cls
    if not isinstance(told, py.Unknown) or told.annotation is None or not isinstance(cls, py.ClassValue):
        info.attributes[name] = t.UNKNOWN
        return
    said = _Declared(compiler, declared.instance, {name: told.annotation}, cls, written=True)
    info.attributes[name] = said.type(name, t.UNKNOWN)
    _check_value(compiler, info, said, name, value.attributes["value"])


def _check_fields(compiler: Compiler, info: ModuleInfo, name: str, value: py.Value) -> None:
    """Torch copies the attributes of an object by the types that its class gives them."""
    type_ = info.attributes[name]
    compiled = classes.script_class(compiler, type_)
    if compiled is None or not isinstance(value, py.ObjectValue) or isinstance(value, py.ModuleValue):
        return
    for attribute, wanted in compiled.attributes.items():
        given = _inferred(compiler, value.attributes.get(attribute, py.NONE))
        if wanted is t.TENSOR and given in (t.INT, t.FLOAT, t.STR, t.BOOL):
            facts = {"name": name, "cls": compiled.cls.name, "field": attribute, "given": given}
            refusal = Refusal("attribute-type-mismatch/object", compiled.cls.node, **facts, declared=wanted)
            compiler.report(refusal, compiled.cls.module)


def _check_lists(compiler: Compiler, declared: _Declared, name: str, value: py.Value, type_: t.Type) -> None:
    """Torch reads a dtype or layout as an int, except in a list of ints, whether or not anything uses it."""
    kind, cls = listed_atom(value), declared.instance.cls
    if kind and isinstance(cls, py.ClassValue):
        refusal = Refusal("attribute-type-mismatch/dtypes", cls.node, name=name, kind=kind, given=type_)
        compiler.report(refusal, cls.module)


def _check_value(
    compiler: Compiler, info: ModuleInfo, declared: _Declared, name: str, value: py.Value
) -> None:
    """An annotated attribute must hold a value of its type: torch copies it."""
    type_ = info.attributes[name]
    if isinstance(type_, t.ClassType):
        return  # torch copies the attributes of any object into it
    if isinstance(type_, t.EnumType) and isinstance(value, py.EnumMember):
        return  # also of an enum that is a str or an int, which without an annotation is only that
    taken = takes(compiler, type_, value)
    if taken:
        return
    try:
        given, told = type_of(compiler, value), ""
    except Uninferable as reason:
        given, told = None, str(reason)
    is_open = given is not None and (t.mentions_unknown(given) or is_subtype(given, type_))
    if taken is None and (type_ is t.UNKNOWN or is_open):
        return
    declared._refuse_value(name, declared.annotations[name], told if given is None else str(given))


def _from_tables(compiler: Compiler, instance: py.ModuleValue, info: ModuleInfo) -> None:
    """Attributes that a torch.nn class in the ancestry sets."""
    for base in ancestry.kin(compiler.interp, instance.cls):
        entry = compiler.tables.modules.get(base)
        if entry is None:
            continue
        for name, attribute in entry["attributes"].items():
            if name in info.attributes or name in info.constants or attribute["type"] == "?":
                continue
            given = library.given_for(attribute, instance)
            type_ = schemas.parse_type(attribute["type"])
            if isinstance(given, py.Unknown):
                given = compiler.interp.settled(given)
                if isinstance(given, py.Unknown) and type_ is t.NONE and given.term is not None:
                    type_ = _inferred(compiler, given)
                given = given.default if isinstance(given, py.Unknown) and type_ is not t.UNKNOWN else given
            const: object = ABSENT
            if isinstance(given, py.Const) and name in entry["constants"] and not attribute.get("tuple"):
                const = given.value
                type_ = _inferred(compiler, given)
            elif isinstance(given, (py.TupleValue, py.ListValue)):
                type_ = _inferred(compiler, given)
            info.attributes[name] = type_
            if name in entry["constants"] and const is not ABSENT:
                info.constants[name] = Value(type_, const)
                del info.attributes[name]
        return
