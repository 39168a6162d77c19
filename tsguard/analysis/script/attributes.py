"""Attributes of sugared values: read, tested, written.

Source: torch/csrc/jit/frontend/sugared_value.cpp (``SimpleValue::attr``),
torch/csrc/jit/python/python_sugared_value.cpp (``ModuleValue::tryGetAttr``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import arguments, classes, differences, library_modules, python_objects
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.sugared import (
    Builtin,
    PythonModule,
    Simple,
    Special,
    Sugared,
    SugaredClass,
    SugaredEnum,
    SugaredModule,
    SugaredPython,
    SugaredUnknown,
    TensorCast,
    Value,
    simple,
)
from tsguard.language import types as t
from tsguard.language.relations import evaluate_variables, is_subtype, match_variables

# What does in TorchScript what a member of Tensor does that only Python has.
_INSTEAD = {
    "bool": "{}.to(torch.bool)",
    "bfloat16": "{}.to(torch.bfloat16)",
    "unique": "torch.unique({})",
    "nelement": "{}.numel()",
    "ndimension": "{}.dim()",
    "new": "{0}.new_empty(...) or {0}.new_zeros(...)",
    "new_tensor": "torch.tensor(..., dtype={0}.dtype, device={0}.device)",
    "__len__": "len({})",
}
_TIGHT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_CASTS = frozenset(["byte", "char", "double", "float", "cfloat", "cdouble", "int", "long", "short", "half"])
# Source: sugared_value.cpp, builtin_properties.
_PROPERTIES: dict[str, t.Type] = {
    **dict.fromkeys(["grad", "data", "T", "H", "mT", "mH", "real", "imag"], t.TENSOR),
    **dict.fromkeys(
        [
            "is_cuda",
            "is_cpu",
            "is_xla",
            "is_xpu",
            "is_sparse",
            "is_sparse_csr",
            "is_mkldnn",
            "is_mps",
            "is_mtia",
            "is_quantized",
            "is_vulkan",
            "is_ipu",
            "is_meta",
            "is_leaf",
            "is_nested",
            "requires_grad",
            "is_maia",
            "retains_grad",
        ],
        t.BOOL,
    ),
    **dict.fromkeys(["dtype", "layout", "itemsize", "nbytes", "ndim"], t.INT),
    "device": t.DEVICE,
    "shape": t.ListType(t.INT),
    "name": t.OptionalType(t.STR),
}


def get_attribute(fc: FunctionCompiler, owner: Sugared, name: str, node: ast.Attribute | ast.AST) -> Sugared:
    """``owner.name``.

    Raises:
        Refusal: torch finds no such attribute.
    """
    if isinstance(owner, Simple):
        return _value_attribute(fc, owner, name, node)
    if isinstance(owner, SugaredModule):
        if owner.interface is not None:
            return _value_attribute(fc, simple(owner.interface), name, node)
        return fc.compiler.module_attribute(fc, owner, name, node)
    if isinstance(owner, PythonModule):
        return fc.compiler.names.member(fc, owner, name, node)
    if isinstance(owner, SugaredUnknown):
        return SugaredUnknown(arguments.below(fc, owner.source, node))
    if isinstance(owner, SugaredEnum):
        return _enum_member(owner, name, node)
    if isinstance(owner, SugaredClass):
        return _class_attribute(fc, owner, name, node)
    if isinstance(owner, SugaredPython):
        return _python_attribute(fc, owner, name, node)
    raise Refusal(
        "python-object", node, value=text_of(node), kind=f"an attribute of {with_article(owner.kind)}"
    )


def _value_attribute(fc: FunctionCompiler, owner: Simple, name: str, node: ast.AST) -> Sugared:
    value = owner.value
    type_ = value.type
    if type_ is t.UNKNOWN:
        return SugaredUnknown(arguments.attribute(fc, value.source, value.node, node))
    if is_subtype(type_, t.TENSOR) and name in _CASTS:
        return TensorCast(value)
    if type_ is t.TENSOR and name in _PROPERTIES:
        unlike = differences.dtype_object(node) if name == "dtype" else None
        return Simple(Value(_PROPERTIES[name], node=node, unlike=unlike))
    if type_ is t.DEVICE and name in ("type", "index"):
        return simple(t.STR if name == "type" else t.OptionalType(t.INT))
    if isinstance(type_, t.TupleType) and name in type_.fields:
        index = type_.fields.index(name)
        return Simple(differences.item(value, type_.elements[index], index))
    if isinstance(type_, t.ClassType):
        found = classes.member(fc, owner, name, node)
        if found is not None:
            return found
    if isinstance(type_, t.EnumType) and name in ("name", "value"):
        return simple(t.STR if name == "name" else type_.value)
    if isinstance(type_, t.ModuleType):
        instance = fc.compiler.typed.get(type_.key)
        if name == "forward" and instance is not None:
            return fc.compiler.module_attribute(fc, SugaredModule(instance), name, node)
        fc.unread(node)
        return SugaredUnknown()
    return _method(fc, value, name, node)


def _method(fc: FunctionCompiler, value: Value, name: str, node: ast.AST) -> Sugared:
    symbol = "aten::to" if name == "type" else f"aten::{name}"
    if has_self_overload(fc, symbol, value.type):
        return Builtin(symbol, value)
    if is_subtype(value.type, t.TENSOR) and name in ("tolist", "__getitem__"):
        return Special(name)
    if name == "unchecked_unwrap_optional":
        return SugaredUnknown()
    raise _no_attribute(fc, value, name, node)


def has_self_overload(fc: FunctionCompiler, symbol: str, type_: t.Type) -> bool:
    """Whether an operator has an overload whose ``self`` takes a value of this type."""
    for schema in fc.compiler.operators.overloads(symbol):
        for argument in schema.arguments:
            if argument.name == "self":
                bound: dict[str, t.Type] = {}
                if match_variables(argument.type, type_, bound):
                    concrete = evaluate_variables(argument.type, bound)
                    if t.mentions_unknown(type_) if concrete is None else is_subtype(type_, concrete):
                        return True
    return False


def _no_attribute(fc: FunctionCompiler, value: Value, name: str, node: ast.AST) -> Refusal:
    type_ = value.type
    owner = text_of(node.value) if isinstance(node, ast.Attribute) else text_of(node)
    if isinstance(type_, (t.OptionalType, t.UnionType)):
        return not_refined(node, owner, type_)
    if type_ is t.NONE:
        return Refusal("unknown-method/none", node, name=name, value=owner)
    if value.parameter and type_ is t.TENSOR and not fc.compiler.is_tensor_member(name):
        return Refusal(
            "untyped-parameter/container", node, parameter=value.parameter, use=f'Tensor has no "{name}"'
        )
    if type_ is t.TENSOR:
        if name in _INSTEAD:
            short = owner if not owner.endswith("...") else "x"
            if isinstance(node, ast.Attribute) and not isinstance(node.value, _TIGHT):
                short = f"({short})"
            return Refusal("tensor-member/replaced", node, name=name, instead=_INSTEAD[name].format(short))
        return Refusal("tensor-member", node, name=name)
    if isinstance(type_, t.ClassType):
        return Refusal("unknown-method/attribute", node, name=name, type=type_, value=owner)
    return Refusal("unknown-method", node, name=name, type=type_, value=owner)


def _enum_member(owner: SugaredEnum, name: str, node: ast.AST) -> Sugared:
    member = owner.cls.members.get(name)
    if isinstance(member, py.EnumMember) and member.name == name:
        return simple(owner.type)
    if isinstance(member, py.EnumMember):
        facts = {"name": name, "owner": owner.cls.name, "member": member.name}
        raise Refusal("unknown-method/alias", node, **facts)
    raise Refusal("unknown-method/attribute", node, name=name, type=owner.type, value=owner.cls.name)


def _class_attribute(fc: FunctionCompiler, owner: SugaredClass, name: str, node: ast.AST) -> Sugared:
    found = fc.compiler.interp.attribute(owner.cls, name)
    if found is None:
        raise Refusal("unknown-method/attribute", node, name=name, type=owner.cls.name, value=owner.cls.name)
    return fc.compiler.names.sugar(fc, found, node)


def _python_attribute(fc: FunctionCompiler, owner: SugaredPython, name: str, node: ast.AST) -> Sugared:
    if isinstance(owner.value, py.Unknown):
        return SugaredUnknown(owner.value)
    if isinstance(owner.value, py.ClassValue):
        member = _python_class_member(fc, owner.value, name, node)
        if member is not None:
            return member
    if isinstance(owner.value, py.External):
        fc.compiler.reporter.mark_target_specific()
        static = library_modules.static_method(fc.compiler, owner.value, name)
        if static is not None and any(owner.value == cls for cls in fc.compiler.model_classes):
            return static
    raise python_objects.attribute_refusal(fc.compiler, owner, name, node)


def _python_class_member(
    fc: FunctionCompiler, cls: py.ClassValue, name: str, node: ast.AST
) -> Sugared | None:
    """A member of the class of a module under compilation, or of an ``autograd.Function``."""
    interp = fc.compiler.interp
    if ancestry.derives_from(interp, cls, "torch.autograd.Function"):
        if fc.compiler.ways.compiles_autograd_properties:
            raise Refusal("unscriptable-function/autograd", node, name=text_of(node))
        member = interp.attribute(cls, name)
        return fc.compiler.names.sugar(fc, member, node) if member is not None else None
    fc.compiler.reporter.mark_target_specific()
    if cls in fc.compiler.model_classes:
        found = python_classes.class_member(interp, cls, name)
        if found is not None and isinstance(found[0], py.StaticMethod):
            return fc.compiler.names.sugar(fc, found[0].function, node)
    return None


def has_attribute(fc: FunctionCompiler, owner: Sugared, name: str, node: ast.AST) -> bool | None:
    """``hasattr(owner, name)``; None where the source does not tell.

    Raises:
        Refusal: torch does not answer for values of this kind.
    """
    if isinstance(owner, SugaredModule):
        return fc.compiler.has_module_attribute(owner, name)
    if isinstance(owner, SugaredUnknown):
        return None
    if isinstance(owner, Simple):
        type_ = owner.value.type
        if type_ is t.UNKNOWN:
            return None
        if isinstance(type_, t.ClassType):
            return classes.has_member(fc, owner, name)
        if isinstance(type_, t.TupleType) and type_.fields:
            return name in type_.fields
    if isinstance(owner, SugaredClass):
        return fc.compiler.interp.attribute(owner.cls, name) is not None
    given = owner.value.type if isinstance(owner, Simple) else with_article(owner.kind)
    raise Refusal("dynamic-attribute/subject", node, value=text_of(node), type=given)


def set_attribute(fc: FunctionCompiler, owner: Sugared, name: str, value: Value, node: ast.AST) -> None:
    """``owner.name = value``.

    Raises:
        Refusal: there is no such attribute, or it has another type.
    """
    if isinstance(owner, SugaredModule):
        fc.compiler.set_module_attribute(fc, owner, name, value, node)
        return
    if isinstance(owner, Simple) and isinstance(owner.value.type, t.ClassType):
        classes.set_member(fc, owner, name, value, node)
        return
    if isinstance(owner, SugaredUnknown) or (isinstance(owner, Simple) and owner.value.type is t.UNKNOWN):
        return
    kind = str(owner.value.type) if isinstance(owner, Simple) else owner.kind
    raise Refusal("attribute-assignment", node, name=name, owner=kind)
