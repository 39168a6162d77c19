"""Script classes: plain classes that torch compiles when compiled code uses them.

All their own methods are compiled; inherited ones are not found.
Source: torch/jit/frontend.py (``get_jit_class_def``), sugared_value.cpp (ClassValue).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.script import dataclass_methods, late_defaults, notes, results, signatures, spelled_out
from tsguard.analysis.script.compiled import ScriptClass
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.names import context_schema
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.reports import Settled
from tsguard.analysis.script.schema_calls import call_schemas
from tsguard.analysis.script.sugared import (
    Method,
    Simple,
    Sugared,
    SugaredClass,
    SugaredUnknown,
    Value,
    simple,
)
from tsguard.language import types as t
from tsguard.language.matching import converted
from tsguard.language.relations import is_subtype
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Schema, of_anything


def script_class(compiler: Compiler, type_: t.Type) -> ScriptClass | None:
    """The compiled class of a type; None for torch's own classes."""
    key = type_.key if isinstance(type_, t.ClassType) else None
    return compiler.compiled_class(key) if isinstance(key, py.ClassValue) else None


def compile_class(compiler: Compiler, cls: py.ClassValue) -> ScriptClass:
    """Compile a class: ``__init__`` first, which tells its attributes, then the rest."""
    name = cls.name
    compiled = ScriptClass(cls, t.ClassType(name, cls, "interface" in cls.marks))
    compiler.script_classes[id(cls)] = compiled
    if "interface" in cls.marks:
        compiled.initialized = True
        return compiled
    if "dataclass" in cls.marks:
        _write_dataclass(compiler, compiled)
    order = sorted(cls.members, key=lambda member: member != "__init__")
    with late_defaults.together(compiler, cls, frozenset(order)):
        for member_name in order:
            function = cls.members[member_name]
            if isinstance(function, py.FunctionValue) and "unused" not in function.marks:
                _compile(compiler, compiled, member_name, function)
    return compiled


def _write_dataclass(compiler: Compiler, compiled: ScriptClass) -> None:
    compiled.attributes.update(dataclass_methods.fields(compiler, compiled.cls))
    compiled.schemas.update(dataclass_methods.methods(compiler, compiled.cls, compiled.type))
    compiled.initialized = True


def _compile(compiler: Compiler, compiled: ScriptClass, name: str, function: py.FunctionValue) -> Schema:
    done = compiled.schemas.get(name)
    if done is not None:
        return done
    if name in compiled.compiling or not isinstance(function.node, ast.FunctionDef):
        return of_anything(name)
    compiled.compiling.add(name)
    receiver = Simple(Value(compiled.type))
    try:
        schema = compiler.compile_function(function, receiver, f"{compiled.cls.name}.{name}")
    except Settled:
        compiled.compiling.discard(name)
        raise
    compiled.schemas[name] = schema
    if name == "__init__":
        compiled.initialized = True
    return schema


def construct(
    fc: FunctionCompiler,
    callee: SugaredClass,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    node: ast.Call,
) -> Sugared:
    """An object of a script class, constructed in compiled code."""
    if "torch" in callee.cls.marks:
        torch_schema = context_schema(str(callee.type.key))
        if torch_schema is not None:
            call_schemas(fc, (torch_schema,), args, kwargs, node, callee.cls.name)
        else:
            notes.autocast(fc, callee.cls.name, args, kwargs, node)
        return simple(callee.type)
    compiled = fc.compiler.compiled_class(callee.cls)
    if "dataclass" in callee.cls.marks and "script" not in callee.cls.marks:
        raise Refusal("class-built-in-forward/dataclass", node, name=callee.cls.name)
    init = callee.cls.members.get("__init__")
    if isinstance(init, py.FunctionValue):
        schema = _compile(fc.compiler, compiled, "__init__", init)
    elif "__init__" in compiled.schemas:
        schema = compiled.schemas["__init__"]
    else:
        raise Refusal("class-built-in-forward/no-init", node, name=callee.cls.name)
    made = Simple(Value(compiled.type))
    late_defaults.call(fc, made, "__init__", (schema,), args, kwargs, node, callee.cls.name)
    return simple(compiled.type)


def member(fc: FunctionCompiler, owner: Simple, name: str, node: ast.AST) -> Sugared | None:
    """A method or attribute of an object; None where its class has none."""
    compiled = script_class(fc.compiler, owner.value.type)
    if compiled is None:
        return SugaredUnknown()
    found = compiled.cls.members.get(name)
    if isinstance(found, py.FunctionValue):
        return SugaredUnknown() if "unused" in found.marks else Method(owner, name, (), found)
    if isinstance(found, py.PropertyValue) and isinstance(found.getter, py.FunctionValue):
        schema = _compile(fc.compiler, compiled, name, found.getter)
        return Simple(results.result(fc, schema, schema.returns, node))
    if name in compiled.attributes:
        return simple(compiled.attributes[name])
    if name in compiled.schemas:
        return Method(owner, name, (compiled.schemas[name],))
    if "__init__" in compiled.cls.members and not compiled.initialized and not compiled.compiling:
        return SugaredUnknown()
    return None


def has_member(fc: FunctionCompiler, owner: Simple, name: str) -> bool | None:
    compiled = script_class(fc.compiler, owner.value.type)
    if compiled is None:
        return None
    return name in compiled.attributes or isinstance(compiled.cls.members.get(name), py.FunctionValue)


def method_schema(
    fc: FunctionCompiler, type_: t.Type, name: str, function: py.FunctionValue, node: ast.AST
) -> Schema:
    """The schema of an object's method, compiled if it has not been.

    Raises:
        Refusal: it is being compiled: a recursive call.
    """
    compiled = script_class(fc.compiler, type_)
    assert compiled is not None
    if compiled.cls.marks & {"interface"} and isinstance(function.node, ast.FunctionDef):
        signature = signatures.read(fc.compiler, function.node, function.scope, method=True)
        return Schema(name, "", signature.arguments, signature.returns or t.NONE)
    if name in compiled.compiling and name not in compiled.schemas:
        raise Refusal("recursive-call", node, function=f"{compiled.cls.name}.{name}")
    return _compile(fc.compiler, compiled, name, function)


def set_member(fc: FunctionCompiler, owner: Simple, name: str, value: Value, node: ast.AST) -> None:
    """``object.name = value``: ``__init__`` declares attributes, the rest must keep types.

    Raises:
        Refusal: there is no such attribute, or it has another type.
    """
    compiled = script_class(fc.compiler, owner.value.type)
    if compiled is None:
        return
    known = compiled.attributes.get(name)
    if known is None:
        if fc.node.name != "__init__" or compiled.initialized:
            if isinstance(compiled.cls.members.get(name), py.PropertyValue):
                _set_property(fc, compiled, name, value, node)
                return
            raise Refusal("attribute-assignment/undefined", node, name=name, owner=compiled.cls.name)
        if fc.frame.parent is not None:
            compiled.attributes[name] = t.UNKNOWN
            raise Refusal("attribute-assignment/in-block", node, name=name, owner=compiled.cls.name)
        compiled.attributes[name] = value.type
        return
    if not is_subtype(converted(value.type, known, allow=False, empty_list=value.empty_list), known):
        raise type_mismatch(name, known, value.type, node, owner=compiled.cls.name)


def _set_property(
    fc: FunctionCompiler, compiled: ScriptClass, name: str, value: Value, node: ast.AST
) -> None:

    found = compiled.cls.members.get(name)
    if isinstance(found, py.PropertyValue) and found.setter is None:
        raise Refusal("attribute-assignment/read-only", node, name=name, owner=compiled.cls.name)
    if isinstance(found, py.PropertyValue) and isinstance(found.setter, py.FunctionValue):
        schema = _compile(fc.compiler, compiled, f"{name} setter", found.setter)
        call_schemas(fc, (schema,), [value], {}, node, name)


def type_mismatch(
    name: str, declared: t.Type, given: t.Type, node: ast.AST, *, owner: str, in_text: bool = False
) -> Refusal:
    """The refusal of a value that does not have its attribute's type.

    Args:
        owner: the class in whose body torch would read a declaration of it.
        in_text: whether declarations are text there.
    """
    wanted = f"Optional[{given}]" if declared is t.NONE else str(given)
    rule: RuleName = "attribute-type-mismatch/text" if in_text else "attribute-type-mismatch"
    is_taken = is_subtype(declared, given) or (declared, given) == (t.INT, t.FLOAT)
    if declared is not t.NONE and not is_taken:
        rule = "attribute-type-mismatch/start"  # no declaration fits the value that it starts with
    facts = {"name": name, "declared": declared, "given": given, "wanted": wanted, "owner": owner}
    optional = "Optional[{}]" if declared is t.NONE else "{}"
    return Refusal(rule, node, **facts, annotation=optional.format(spelled_out.annotation(given)))


def can_compile(compiler: Compiler, cls: py.ClassValue) -> bool:
    """Whether torch would compile a class.  Source: torch/_jit_internal.py."""
    for base in ancestry.mro(compiler.interp, cls):
        if isinstance(base, py.External) and base.name not in (
            "builtins.object",
            "typing.Generic",
            "abc.ABC",
        ):
            return False
        if isinstance(base, py.Unknown):
            return False
    return not cls.marks & {"ignore", "unused"}
