"""The TorchScript types of the project's classes: enums, named tuples, compiled classes."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.annotations import annotation_type
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.forward_references import reference, refuse_unreadable, refused_field
from tsguard.analysis.script.refusals import Refusal
from tsguard.language import types as t


def class_type(compiler: Compiler, cls: py.ClassValue, node: ast.AST) -> t.Type:
    interp = compiler.interp
    if ancestry.derives_from(interp, cls, "enum.Enum"):
        return _enum_type(cls, node)
    if ancestry.derives_from(interp, cls, "typing.NamedTuple") or "collections.namedtuple" in cls.marks:
        return _tuple_type(compiler, cls, node)
    if "interface" in cls.marks:
        return compiler.compiled_class(cls).type
    if ancestry.is_module_class(interp, cls) or not compiler.can_compile_class(cls):
        if ancestry.has_unknown_base(interp, cls):
            return t.UNKNOWN
        raise Refusal("unknown-annotation", node, annotation=text_of(node), part=cls.name)
    if "dataclass" in cls.marks and "script" not in cls.marks:
        raise Refusal("class-built-in-forward/dataclass", node, name=cls.name)
    return compiler.compiled_class(cls).type


_ENUM_VALUES: dict[type, t.Type] = {int: t.INT, str: t.STR, float: t.FLOAT}


def _types_of_values(values: list[py.Value]) -> set[t.Type | None]:
    """The types of the values of members; one that is equal to an earlier one is another name of that: 1 and True.

    A dtype, layout or memory format is an int to torch.
    """
    found: dict[object, t.Type | None] = {}
    for value in values:
        if isinstance(value, py.Atom):
            found.setdefault(value.name, None if value.kind == "device" else t.INT)
        else:
            told = py.constant(value)
            found.setdefault(told, _ENUM_VALUES.get(type(told)))
    return set(found.values())


def _enum_type(cls: py.ClassValue, node: ast.AST) -> t.Type:
    members = [member for member in cls.members.values() if isinstance(member, py.EnumMember)]
    if any(isinstance(member.value, py.Unknown) for member in members):
        return t.EnumType(cls.name, id(cls), t.UNKNOWN)
    found = _types_of_values([member.value for member in members])
    value = found.pop() if len(found) == 1 else None
    if value is None:
        raise Refusal("unknown-annotation/enum", node, name=cls.name)
    return t.EnumType(cls.name, id(cls), value)


def _tuple_type(compiler: Compiler, cls: py.ClassValue, node: ast.AST) -> t.Type:
    fields: dict[str, t.Type] = {}
    # A field of its own type is not resolved: what it says of itself must end.
    compiler.class_types[id(cls)] = t.UNKNOWN
    for base in reversed(ancestry.mro(compiler.interp, cls)):
        if not isinstance(base, py.ClassValue):
            continue
        for name, annotation in base.annotations.items():
            if "collections.namedtuple" in base.marks and "annotated" not in base.marks:
                fields[name] = t.TENSOR
                continue
            refuse_unreadable(base, name, annotation, node)
            try:
                fields[name] = annotation_type(compiler, annotation, base.scope)
            except Refusal as refusal:
                text = reference(annotation, base)
                if text is not None:
                    raise refused_field(base, name, text, node) from None
                compiler.report(refusal, base.module)
                fields[name] = t.UNKNOWN
            if (
                isinstance(default := base.members.get(name), (py.ListValue, py.DictValue))
                and not default.items
            ):
                raise Refusal("unknown-annotation/default", node, field=name, name=cls.name)
    defaults = sum(name in cls.members for name in fields)
    return t.TupleType(tuple(fields.values()), tuple(fields), cls.name, defaults)
