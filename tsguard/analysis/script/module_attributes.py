"""Attributes of modules in compiled code: read and tested.

Source: torch/csrc/jit/python/python_sugared_value.cpp (ModuleValue).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Gap, text_of
from tsguard.analysis.python import ancestry, decorators
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import arguments, results, signatures
from tsguard.analysis.script.constants import is_no_constant
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.library_modules import library_member
from tsguard.analysis.script.parametrizations import note_parametrized
from tsguard.analysis.script.python_objects import KEEP_OR_MOVE
from tsguard.analysis.script.refusals import Refusal, unconvertible
from tsguard.analysis.script.sources import source_of, unknown_in, unread_in
from tsguard.analysis.script.submodules import Submodules, child_value
from tsguard.analysis.script.sugared import (
    Function,
    Iterables,
    Method,
    ModuleCall,
    Simple,
    Sugared,
    SugaredModule,
    SugaredPython,
    SugaredUnknown,
    Tuple,
    Value,
    simple,
)
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Schema
from tsguard.source.assigning import assigned_later
from tsguard.source.private_names import is_private, mangled

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def get(compiler: Compiler, fc: FunctionCompiler, owner: SugaredModule, name: str, node: ast.AST) -> Sugared:
    """``module.name``.

    Raises:
        Refusal: the module has no such attribute, or torch could not type it.
    """
    found = find(compiler, fc, owner, name, node)
    if name in owner.instance.parametrized:
        note_parametrized(compiler, owner.instance, name)
    if found is not None:
        source = source_of(found)
        if source is not None:
            compiler.read(source)
            arguments.read(fc, source, name, compiler.name_of(owner.instance), node)
        return found
    info = compiler.info(owner.instance)
    cls = compiler.name_of(owner.instance)
    if name in info.failed:
        held = owner.instance.attributes.get(name)
        if held is not None and unread_in(compiler.interp, held) is not None:
            return SugaredUnknown()  # a module, for all that is known
        raise unconvertible(node, name, cls, info.failed[name])
    if name in info.ignored:
        raise Refusal("unconvertible-attribute/ignored", node, name=name, owner=cls)
    may_have = owner.instance.open or ancestry.has_unknown_base(compiler.interp, owner.instance.cls)
    if may_have and not _lacks(compiler, owner.instance.cls, name):
        if isinstance(owner.instance.cls, py.ClassValue) and not _is_of_torch(compiler, owner.instance.cls):
            compiler.reporter.add_gap(_unread(compiler, owner.instance.cls, node, fc.module))
        elif getattr(owner.instance.cls, "name", "") in compiler.tables.modules:
            fc.unread(node)  # an argument that nobody knows tells
        return SugaredUnknown()
    raise _absent(compiler, owner, name, node)


def _is_of_torch(compiler: Compiler, cls: py.ClassValue) -> bool:
    """Whether a class has attributes from one of torch that the tables do not describe."""
    return bool(_undescribed(compiler, cls))


def _undescribed(compiler: Compiler, cls: py.ClassValue) -> list[str]:
    """The classes of torch that a class derives from and of which the tables have no layer."""
    return [
        base.name
        for base in ancestry.mro(compiler.interp, cls)
        if isinstance(base, py.External)
        and base.name.startswith("torch.")
        and base.name != "torch.nn.Module"
        and base.name not in compiler.tables.modules
    ]


def _lacks(compiler: Compiler, cls: py.Value, name: str) -> bool:
    """Whether neither a class of torch like ``_Loss`` nor anything in its files gives a module an attribute."""
    if not isinstance(cls, py.ClassValue) or ancestry.has_unknown_base(compiler.interp, cls):
        return False
    lenders = _undescribed(compiler, cls)
    lent = [compiler.tables.members_of_base(lender) for lender in lenders]
    if not lent or any(names is None or name in names for names in lent):
        return False
    owners = [base for base in ancestry.mro(compiler.interp, cls) if isinstance(base, py.ClassValue)]
    assigned = [assigned_later(owner.module.file.tree) for owner in owners]
    return all(names is not None and name not in names for names in assigned)


def _unread(compiler: Compiler, cls: py.ClassValue, node: ast.AST, module: Module) -> Gap:
    """Why it is not known which attributes a module has."""
    if ancestry.has_unknown_base(compiler.interp, cls):
        return ancestry.unread_base(compiler.interp, cls)
    return unread.use(module, node)


def _absent(compiler: Compiler, owner: SugaredModule, name: str, node: ast.AST) -> Refusal:
    cls = compiler.name_of(owner.instance)
    found = python_classes.class_member(compiler.interp, owner.instance.cls, name)
    if found is not None:
        return Refusal(_hidden(compiler, found[0]), node, name=name, owner=cls)
    if name in _CONTAINER_METHODS.get(compiler.container_kind(owner.instance), ""):
        return Refusal(
            "unscriptable-function/method", node, name=text_of(node), why=f"it is Python code of {cls}"
        )
    if name in ("__class__", "__dict__"):
        facts = {"name": name, "owner": "self", "kind": "a module", "repair": KEEP_OR_MOVE}
        return Refusal("python-object/attribute", node, **facts)
    kept = _kept_name(compiler, owner.instance, name) if is_private(name) else None
    if kept is not None:
        return Refusal("missing-attribute/private", node, name=name, owner=cls, kept=kept)
    return Refusal("missing-attribute", node, name=name, owner=cls)


def _kept_name(compiler: Compiler, instance: py.ModuleValue, name: str) -> str | None:
    """The name under which Python keeps what one of the classes of a module calls by a private name."""
    for base in ancestry.mro(compiler.interp, instance.cls):
        kept = mangled(name, base.name) if isinstance(base, py.ClassValue) else name
        if compiler.interp.attribute(instance, kept) is not None and kept != name:
            return kept
    return None


# Methods of containers that change or list what they hold, by the container's kind.
_CONTAINER_METHODS = {
    "list": ("append", "extend", "insert", "pop"),
    "dict": ("clear", "pop", "update"),
    "parameters": ("append", "extend"),
    "parameter dict": (
        "clear",
        "copy",
        "get",
        "items",
        "keys",
        "pop",
        "popitem",
        "setdefault",
        "update",
        "values",
    ),
}


def _hidden(compiler: Compiler, member: py.Value) -> RuleName:
    """The rule for a class member that modules have in Python only."""
    if isinstance(member, py.PropertyValue):
        return "class-attribute/property"
    if isinstance(member, py.FunctionValue) and "cached" in member.marks:
        return "class-attribute/cached"
    return "class-attribute/value" if is_no_constant(compiler, member) else "class-attribute"


def find(
    compiler: Compiler, fc: FunctionCompiler | None, owner: SugaredModule, name: str, node: ast.AST
) -> Sugared | None:
    """An attribute in the order in which torch looks, or None."""
    instance = owner.instance
    info = compiler.info(instance)
    chosen = chosen_forward(instance) if name == "forward" else None
    if chosen is not None:
        return Method(owner, name, (), chosen)
    if name in info.attributes:
        type_ = info.attributes[name]
        source = None
        if t.mentions_unknown(type_):
            source = unknown_in(instance.attributes.get(name))
            compiler.reporter.mark_target_specific()  # what is not known is said of its own arguments
        return Simple(Value(type_, node=node, source=source, unlike=info.unlike.get(name)))
    if name in instance.children:
        child = instance.children[name]
        if not isinstance(child, py.ModuleValue):
            compiler.reporter.mark_target_specific()
        return child_value(owner, name, child, info.interfaces.get(name))
    if name in info.constants:
        constant = info.constants[name]
        return Simple(Value(constant.type, constant.const, node=node, source=constant.source))
    special = _container_method(compiler, owner, name, node)
    if special is not None:
        return special
    if name in info.functions:
        return _function_attribute(compiler, fc, info.functions[name], name, owner, node)
    return _class_member(compiler, fc, owner, name, node)


def chosen_forward(instance: py.ModuleValue) -> py.FunctionValue | None:
    """What ``self.forward = self.method`` has put in the place of the class's; a function is taken for a method."""
    chosen = instance.attributes.get("forward")
    function = chosen.function if isinstance(chosen, py.BoundMethod) else chosen
    return function if isinstance(function, py.FunctionValue) else None


def _container_method(compiler: Compiler, owner: SugaredModule, name: str, node: ast.AST) -> Sugared | None:
    submodules = Submodules(compiler, owner)
    is_dict = compiler.container_kind(owner.instance) == "dict"
    own = python_classes.class_member(compiler.interp, owner.instance.cls, name)
    if own is not None:
        return None
    if is_dict and name == "keys":
        return ModuleCall(submodules.keys())
    if (is_dict and name == "values") or name == "children":
        return ModuleCall(submodules.values())
    if (is_dict and name == "items") or name == "named_children":
        return ModuleCall(submodules.items())
    if name in ("modules", "named_modules") and submodules.has_interfaces():
        raise Refusal("module-not-iterable/interface", node, value=text_of(node))
    if name == "modules":
        return ModuleCall(submodules.deep())
    if name == "named_modules":
        deep = submodules.deep()
        return ModuleCall(Iterables([Tuple([simple(t.STR) for _ in deep.items], deep.open), deep]))
    if name == "named_buffers":
        buffers = [simple(t.TENSOR) for _ in owner.instance.buffers]
        return ModuleCall(Iterables([Tuple([simple(t.STR) for _ in buffers]), Tuple(list(buffers))]))
    return None


def _function_attribute(
    compiler: Compiler,
    fc: FunctionCompiler | None,
    value: py.Value,
    name: str,
    owner: SugaredModule,
    node: ast.AST,
) -> Sugared:
    if fc is None:
        return SugaredUnknown()
    cls = compiler.name_of(owner.instance)
    if _compiles_only_by_name(compiler, value):
        function = getattr(value, "name", "")
        raise Refusal("unconvertible-attribute/function", node, name=name, owner=cls, function=function)
    if isinstance(value, py.FunctionValue):
        if value.marks & {"ignore", "unused"}:
            return SugaredPython(value, name, ignored=True, dropped="unused" in value.marks)
        if isinstance(value.node, ast.Lambda):
            raise Refusal("unconvertible-attribute", node, name=name, owner=cls, reason="a lambda")
        return Function(value)
    return compiler.names.sugar(fc, value, node)


# Called by name they are operators; as the value of an attribute they are functions of Python that do
# not compile.  Source: torch/functional.py, torch/jit/_builtins.py.
WRITTEN_IN_PYTHON = frozenset(
    f"torch.{name}"
    for name in (
        "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
        "cartesian_prod", "chain_matmul", "einsum", "meshgrid", "split", "unravel_index",
    )
)  # fmt: skip


def _compiles_only_by_name(compiler: Compiler, value: py.Value) -> bool:
    """Whether torch compiles a function in calls that name it, and not as the value of an attribute."""
    if isinstance(value, py.FunctionValue):
        return bool(decorators.overloads(compiler.interp, value))
    if not isinstance(value, py.External):
        return False
    entry = compiler.tables.entry(value.name)
    if isinstance(entry, dict):
        return "dispatch" in entry or len(entry.get("schemas", ())) > 1
    return value.name in WRITTEN_IN_PYTHON


def _check_name(function: py.FunctionValue, name: str, node: ast.AST) -> None:
    """A method that is compiled because it is called must have the name of its def."""
    defined = function.wrapped if function.wrapped is not None else function
    if isinstance(defined.node, ast.FunctionDef) and defined.name != name:
        raise Refusal("renamed-method", node, name=name, function=defined.name)


def _class_member(
    compiler: Compiler, fc: FunctionCompiler | None, owner: SugaredModule, name: str, node: ast.AST
) -> Sugared | None:
    found = python_classes.class_member(compiler.interp, owner.instance.cls, name)
    if found is None and name == "extra_repr" and fc is not None:
        fc.unread(node)  # torch compiles what a layer has of its own, and no table tells what that is
        return SugaredUnknown()
    library = library_member(compiler, owner, name, found[1] if found is not None else None)
    if library is not None:
        return library
    if found is None:
        return None
    value = found[0]
    if isinstance(value, py.FunctionValue):
        if value.marks & {"ignore", "unused"}:
            return SugaredPython(value, name, ignored=True, dropped="unused" in value.marks, receiver=owner)
        if "cached" in value.marks:
            return None
        if name != "forward" and "export" not in value.marks:
            _check_name(value, name, node)
        return Method(owner, name, overloads_of(compiler, owner, name), value)
    if isinstance(value, py.StaticMethod) and fc is not None:
        return compiler.names.sugar(fc, value.function, node)
    if isinstance(value, py.ClassMethod) and isinstance(value.function, py.FunctionValue):
        return Method(owner, name, (), value.function)
    if isinstance(value, py.PropertyValue):
        return _property(compiler, fc, owner, name, value, node)
    if not isinstance(value, py.Unknown) or value.hint:
        return None
    return SugaredUnknown(value) if value.unread is not None or _is_called(fc, node) else None


def _is_called(fc: FunctionCompiler | None, node: ast.AST) -> bool:
    return fc is None or (isinstance(node, ast.expr) and fc.is_called(node))


def _property(
    compiler: Compiler,
    fc: FunctionCompiler | None,
    owner: SugaredModule,
    name: str,
    value: py.PropertyValue,
    node: ast.AST,
) -> Sugared | None:
    if name in unused_properties(compiler, owner.instance) or not isinstance(value.getter, py.FunctionValue):
        return None
    if "unused" in value.getter.marks:
        return None
    compiler.reporter.note_read({(owner.instance.cls, name)})
    found = compiler.method_schemas(fc, owner, f"{name}", value.getter, node)
    if fc is None:
        return simple(found[0].returns)
    return Simple(results.result(fc, found[0], found[0].returns, node))


def unused_properties(compiler: Compiler, instance: py.ModuleValue) -> set[str]:
    found = python_classes.class_member(compiler.interp, instance.cls, "__jit_unused_properties__")
    items = getattr(found[0], "items", ()) if found is not None else ()
    return {str(py.constant(item)) for item in items if isinstance(item, py.Const)}


def overload_declarations(owner: SugaredModule, name: str) -> list[py.FunctionValue]:
    """The declarations of a method under ``@torch.jit._overload_method``, which no subclass inherits."""
    cls = owner.instance.cls
    return cls.overloads.get(name, []) if isinstance(cls, py.ClassValue) else []


def overloads_of(compiler: Compiler, owner: SugaredModule, name: str) -> tuple[Schema, ...]:
    """The schemas of a method's overloads."""
    found = []
    for function in overload_declarations(owner, name):
        if isinstance(function.node, ast.FunctionDef):
            signature = signatures.read(compiler, function.node, function.scope, method=True)
            found.append(Schema(name, "", signature.arguments, signature.returns or t.UNKNOWN))
    return tuple(found)


def has(compiler: Compiler, owner: SugaredModule, name: str) -> bool | None:
    """``hasattr(module, name)`` as torch answers it."""
    instance = owner.instance
    info = compiler.info(instance)
    if name in info.failed:
        return False
    try:
        found = find(
            compiler,
            None,
            owner,
            name,
            instance.cls.node if isinstance(instance.cls, py.ClassValue) else ast.Pass(),
        )
    except Refusal:
        return True
    if found is not None:
        return True
    may_have = instance.open or ancestry.has_unknown_base(compiler.interp, instance.cls)
    return None if may_have and not _lacks(compiler, instance.cls, name) else False
