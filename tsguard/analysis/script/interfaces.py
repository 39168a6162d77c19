"""Interfaces: the methods that a class or module must have to implement one.

Source: torch/jit/_recursive.py (``infer_interface_methods_to_compile``),
aten/src/ATen/core/class_type.cpp (``isSubtypeOfExt``), function_schema.cpp (``isSubtypeOf``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import module_attributes, signatures
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Compiled, Method, SugaredModule
from tsguard.language import relations
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.language.schemas import Schema, of_anything


def method_names(interface: t.ClassType) -> list[str]:
    """The methods that an interface declares."""
    cls = interface.key
    if not isinstance(cls, py.ClassValue):
        return []
    return [name for name, member in cls.members.items() if isinstance(member, py.FunctionValue)]


def is_of_modules(compiler: Compiler, interface: t.ClassType) -> bool:
    """Whether an interface derives from nn.Module, so that modules may implement it."""
    cls = interface.key
    return isinstance(cls, py.ClassValue) and ancestry.is_module_class(compiler.interp, cls)


@contextmanager
def asked_of(compiler: Compiler) -> Iterator[None]:
    """Let a compiler tell meanwhile which types implement an interface."""
    before = relations.implements
    relations.implements = lambda type_, interface: _may_stand(compiler, type_, interface)
    try:
        yield
    finally:
        relations.implements = before


def _may_stand(compiler: Compiler, type_: t.Type, interface: t.ClassType) -> bool:
    is_module = isinstance(type_, t.ModuleType) or (
        isinstance(type_, t.ClassType) and type_.interface and is_of_modules(compiler, type_)
    )
    return (is_module or not is_of_modules(compiler, interface)) and not misfit(compiler, type_, interface)


def misfit(compiler: Compiler, type_: t.Type, interface: t.ClassType) -> str:
    """The method that keeps a type from standing for an interface; empty where it may."""
    for name in method_names(interface):
        wanted = _declared(compiler, interface, name)
        given = _schema(compiler, type_, name)
        if given is None or (wanted is not None and not _implements(given, wanted)):
            return name
    return ""


def _implements(given: Schema, wanted: Schema) -> bool:
    """Whether a method takes what an interface says it takes, by the same names, and returns no more."""
    if t.mentions_unknown(given.returns) or given.vararg:
        return True
    if [a.name for a in given.arguments] != [a.name for a in wanted.arguments]:
        return False
    pairs = zip(given.arguments, wanted.arguments, strict=True)
    return is_subtype(given.returns, wanted.returns) and all(is_subtype(w.type, g.type) for g, w in pairs)


def _declared(compiler: Compiler, interface: t.ClassType, name: str) -> Schema | None:
    assert isinstance(interface.key, py.ClassValue)
    function = interface.key.members[name]
    assert isinstance(function, py.FunctionValue)
    if not isinstance(function.node, ast.FunctionDef):
        return None
    signature = signatures.read(compiler, function.node, function.scope, method=True)
    return Schema(name, "", signature.arguments, signature.returns or t.NONE)


def _schema(compiler: Compiler, type_: t.Type, name: str) -> Schema | None:
    """The method of a type by its schema; None where it has none."""
    if isinstance(type_, t.ModuleType):
        instance = compiler.typed.get(type_.key)
        return None if instance is None else _module_method(compiler, instance, name)
    if isinstance(type_, t.ClassType) and isinstance(type_.key, py.ClassValue):
        if type_.interface:
            return _declared(compiler, type_, name) if name in method_names(type_) else None
        return compiler.compiled_class(type_.key).schemas.get(name)
    return None


def _module_method(
    compiler: Compiler, instance: py.ModuleValue, name: str, compiled: list[str] | None = None
) -> Schema | None:
    """The schema of a method of a module, of which some are ``compiled`` for sure; None where it has none."""
    compiled = compiled or []
    owner = SugaredModule(compiler.model(instance))
    place = instance.cls.node if isinstance(instance.cls, py.ClassValue) else ast.Pass()
    found = module_attributes.find(compiler, None, owner, name, place)
    if isinstance(found, Method) and found.function is not None and not found.schemas:
        if name != "forward" and name not in compiled and "export" not in found.function.marks:
            return of_anything(name)  # it may have been reached, and compiled so
        return compiler.method_schemas(None, owner, name, found.function, found.function.node)[0]
    if isinstance(found, (Method, Compiled)) and found.schemas:
        return found.schemas[0]
    return None if found is None else of_anything(name)


def compile_child(compiler: Compiler, owner: py.ModuleValue, name: str, interface: t.ClassType) -> None:
    """Compile a submodule whose attribute is annotated with an interface: the interface's methods alone."""
    child = owner.children[name]
    annotated = compiler.info(owner).places.get(name)
    if not isinstance(child, py.ModuleValue) or annotated is None:
        return
    place, module = annotated
    facts = {"name": name, "interface": str(interface), "child": compiler.name_of(child)}
    if not is_of_modules(compiler, interface):
        compiler.report(Refusal("class-annotation/plain-interface", place, **facts), module)
        return
    lacking = _lacking(compiler, child, method_names(interface))
    if lacking is not None:
        facts |= {"child": compiler.name_of(lacking[0]), "method": lacking[1]}
        compiler.report(Refusal("class-annotation/no-method", place, **facts), module)
        return
    names = method_names(interface)
    compiler.compile_module(child, tuple(names))
    for method in names:
        wanted, given = _declared(compiler, interface, method), _module_method(compiler, child, method, names)
        if wanted is not None and given is not None and not _implements(given, wanted):
            facts["method"] = method
            compiler.report(Refusal("class-annotation/interface", place, **facts), module)
            return


def _lacking(
    compiler: Compiler, instance: py.ModuleValue, names: list[str]
) -> tuple[py.ModuleValue, str] | None:
    """A module without one of an interface's methods: all below it must have them too, so torch looks them up."""
    if ancestry.has_unknown_base(compiler.interp, instance.cls) or instance.open:
        return None
    for name in names:
        if (
            name not in instance.attributes
            and python_classes.class_member(compiler.interp, instance.cls, name) is None
            and not _in_library(compiler, instance, name)
        ):
            return instance, name
    for child in instance.children.values():
        if isinstance(child, py.ModuleValue):
            found = _lacking(compiler, child, names)
            if found is not None:
                return found
    return None


def _in_library(compiler: Compiler, instance: py.ModuleValue, name: str) -> bool:
    """Whether a class of torch.nn in the ancestry has a method."""
    if name != "forward" and name in compiler.tables.module_members:
        return True
    for base in ancestry.mro(compiler.interp, instance.cls):
        entry = compiler.tables.modules.get(base.name) if isinstance(base, py.External) else None
        if isinstance(base, py.External) and entry is None and ancestry.may_lend_forward(base.name):
            return True
        if entry is not None and (name in entry["methods"] or name == "forward"):
            return True
    return False
