"""Attributes of modules assigned in compiled code.

Source: torch/csrc/jit/python/python_sugared_value.cpp (ModuleValue::setAttr).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import classes
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.forward_references import are_strings
from tsguard.analysis.script.refusals import Refusal, unconvertible
from tsguard.analysis.script.schema_calls import call_schemas
from tsguard.analysis.script.sugared import SugaredModule, Value
from tsguard.language import types as t
from tsguard.language.matching import converted
from tsguard.language.relations import is_subtype

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def assign(
    compiler: Compiler, fc: FunctionCompiler, owner: SugaredModule, name: str, value: Value, node: ast.AST
) -> None:
    """``module.name = value``.

    Raises:
        Refusal: there is no such attribute, or it has another type.
    """
    info = compiler.info(owner.instance)
    cls = compiler.name_of(owner.instance)
    known = info.attributes.get(name)
    if known is None:
        child = owner.instance.children.get(name)
        if isinstance(child, py.ModuleValue) and isinstance(value.type, t.ModuleType):
            wanted = info.interfaces.get(name)
            if wanted is not None and not is_subtype(value.type, wanted):
                raise classes.type_mismatch(name, wanted, value.type, node, owner=cls)
            return
        if child is not None or name in info.constants:
            raise Refusal("attribute-assignment", node, name=name, owner=cls)
        found = python_classes.class_member(compiler.interp, owner.instance.cls, name)
        if found is not None and isinstance(found[0], py.PropertyValue):
            _set_property(compiler, fc, owner, found[0], value, node)
            return
        if name in info.failed:
            raise unconvertible(node, name, cls, info.failed[name])
        if owner.instance.open:
            return
        info.attributes[name] = t.UNKNOWN
        compiler.reporter.mark_target_specific()
        raise Refusal("attribute-assignment/undefined", node, name=name, owner=cls, given=value.type)
    if value.unlike is not None:
        info.unlike.setdefault(name, value.unlike)
    given = converted(value.type, known, allow=False, empty_list=value.empty_list)
    if not is_subtype(given, known):
        info.attributes[name] = t.UNKNOWN
        compiler.reporter.mark_target_specific()
        holder = owner.instance.cls
        in_text = isinstance(holder, py.ClassValue) and are_strings(holder)
        reader = _reader_of_declarations(compiler, owner.instance, fc.module, node)
        raise classes.type_mismatch(name, known, value.type, node, owner=reader, in_text=in_text)


def _reader_of_declarations(
    compiler: Compiler, instance: py.ModuleValue, module: Module, node: ast.AST
) -> str:
    """The class whose annotations torch reads: the most derived one that has any, else the one that assigns."""
    line = getattr(node, "lineno", 0)
    for base in ancestry.mro(compiler.interp, instance.cls):
        if not isinstance(base, py.ClassValue):
            continue
        is_around = base.module is module and base.node.lineno <= line <= (base.node.end_lineno or 0)
        if base.annotations or is_around:
            return base.name
    return compiler.name_of(instance)


def _set_property(
    compiler: Compiler,
    fc: FunctionCompiler,
    owner: SugaredModule,
    found: py.PropertyValue,
    value: Value,
    node: ast.AST,
) -> None:
    """``module.name = value`` where a property stands: a call of its setter."""

    name = str(getattr(node, "attr", ""))
    if found.setter is None:
        raise Refusal(
            "attribute-assignment/read-only", node, name=name, owner=compiler.name_of(owner.instance)
        )
    if isinstance(found.setter, py.FunctionValue):
        schemas = compiler.method_schemas(fc, owner, f"{name} setter", found.setter, node)
        call_schemas(fc, schemas, [value], {}, node, name)
