"""Subscripts: indexing and slicing of tensors, lists, tuples, dicts and modules.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitSubscript``,
``emitIntAndSliceIndexing``, ``emitSubscriptAssign``).
"""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script import arguments, differences, python_objects
from tsguard.analysis.script.calls import call_builtin, call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.sugared import (
    Simple,
    Sugared,
    SugaredModule,
    SugaredPython,
    SugaredSlice,
    SugaredUnknown,
    Value,
    simple,
)
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.language.rule_names import RuleName


def load(fc: FunctionCompiler, node: ast.Subscript, hint: t.Type | None) -> Sugared:
    """``owner[index]``."""
    owner = fc.sugared(node.value)
    if isinstance(owner, SugaredUnknown):
        _emit_index(fc, node.slice)
        return owner
    if isinstance(owner, SugaredModule):
        return fc.compiler.module_item(fc, owner, node, hint)
    if isinstance(owner, SugaredPython) and not isinstance(node.slice, ast.Slice):
        return python_objects.subscripted(fc.compiler, owner, node)
    value = as_value(fc, owner, node.value)
    indices = _indices(node)
    if len(indices) > 1:
        return Simple(_multidimensional(fc, value, node))
    index = indices[0]
    if isinstance(index, ast.Slice):
        return Simple(_sliced(fc, value, index, node))
    return _item(fc, value, index, node)


def _indices(node: ast.Subscript) -> list[ast.expr]:
    """What stands between the brackets; an empty tuple is one index."""
    return (node.slice.elts if isinstance(node.slice, ast.Tuple) else None) or [node.slice]


def _is_dots(node: ast.expr) -> bool:
    """Whether an expression is ``...``, which torch knows by its name too."""
    if isinstance(node, ast.Name):
        return node.id == "Ellipsis"
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _emit_index(fc: FunctionCompiler, index: ast.expr) -> None:
    """Refusals inside an index count even where what is indexed is unknown."""
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(part, ast.Slice):
            for bound in (part.lower, part.upper, part.step):
                if bound is not None:
                    fc.attempt(bound)
        elif not _is_dots(part):
            fc.attempt(part)


def _item(fc: FunctionCompiler, value: Value, index: ast.expr, node: ast.Subscript) -> Sugared:
    type_ = value.type
    if type_ is t.UNKNOWN:
        arguments.item(fc, value, index)
        _emit_index(fc, index)
        return SugaredUnknown(value.source)
    if is_subtype(type_, t.TENSOR):
        if _is_dots(index) and isinstance(node.ctx, ast.Load):
            raise Refusal("unsupported-expression/ellipsis", index)
        return Simple(_multidimensional(fc, value, node))
    sugared = fc.sugared(index)
    if isinstance(sugared, SugaredSlice):
        return simple(type_)
    key = as_value(fc, sugared, index)
    if isinstance(type_, t.TupleType):
        place = key.const if isinstance(key.const, int) else None
        return Simple(differences.item(value, _tuple_item(type_, key, node), place))
    if isinstance(type_, (t.ListType, t.DictType)) or type_ is t.STR:
        return Simple(call_builtin(fc, "aten::__getitem__", [value, key], {}, node))
    if isinstance(type_, t.ClassType):
        result = call_method(fc, Simple(value), "__getitem__", [key], node)
        if result is not None:
            return result
    if isinstance(type_, (t.OptionalType, t.UnionType)):
        raise not_refined(node, text_of(node.value), type_)
    if type_ is t.NONE:
        raise Refusal("not-subscriptable/none", node, value=text_of(node.value))
    rule: RuleName = "not-subscriptable/bare" if type_ in (t.ANY_LIST, t.ANY_TUPLE) else "not-subscriptable"
    raise Refusal(rule, node, value=text_of(node.value), type=type_)


def _tuple_item(type_: t.TupleType, key: Value, node: ast.Subscript) -> t.Type:
    if key.type is t.UNKNOWN:
        return type_.elements[0] if len(set(type_.elements)) == 1 else t.UNKNOWN
    if key.type is not t.INT:
        raise Refusal(
            "tuple-index/type", node, tuple=text_of(node.value), index=text_of(node.slice), type=key.type
        )
    if isinstance(key.const, int):
        if not -len(type_.elements) <= key.const < len(type_.elements):
            facts = {"tuple": text_of(node.value), "index": key.const, "length": len(type_.elements)}
            raise Refusal("tuple-index/range", node, **facts)
        return type_.elements[key.const]
    if type_.elements and all(is_subtype(e, type_.elements[0]) for e in type_.elements):
        return type_.elements[0]
    raise Refusal("tuple-index", node, tuple=text_of(node.value), index=text_of(node.slice))


def _sliced(fc: FunctionCompiler, value: Value, index: ast.Slice, node: ast.Subscript) -> Value:
    bounds = {name: fc.expression(part) for name, part in _bounds(index)}
    type_ = value.type
    if type_ is t.UNKNOWN:
        return Value(t.UNKNOWN, node=node, source=value.source)
    if isinstance(type_, t.TupleType):
        return Value(_tuple_slice(type_, bounds, node), node=node)
    if isinstance(type_, (t.OptionalType, t.UnionType)):
        raise not_refined(node, text_of(node.value), type_)
    if is_subtype(type_, t.TENSOR):
        for name, part in _bounds(index):
            _check_bound(bounds[name], part, node)
    args = [value, *([Value(t.INT, 0)] if is_subtype(type_, t.TENSOR) else [])]
    bounds.setdefault("step", Value(t.INT, 1))
    bounds.setdefault("start", Value(t.NONE))
    bounds.setdefault("end", Value(t.NONE))
    return call_builtin(fc, "aten::slice", args, bounds, node)


def _bounds(index: ast.Slice) -> list[tuple[str, ast.expr]]:
    named = (("start", index.lower), ("end", index.upper), ("step", index.step))
    return [(name, part) for name, part in named if part is not None]


def _tuple_slice(type_: t.TupleType, bounds: dict[str, Value], node: ast.Subscript) -> t.Type:
    constants: list[int | None] = []
    for name in ("start", "end", "step"):
        bound = bounds.get(name)
        if bound is None or bound.type is t.NONE:
            constants.append(None)
        elif bound.type is t.UNKNOWN:
            return t.UNKNOWN
        elif isinstance(bound.const, int):
            constants.append(bound.const)
        else:
            raise Refusal("tuple-index/slice", node, tuple=text_of(node.value))
    return t.TupleType(type_.elements[slice(*constants)])


def _multidimensional(fc: FunctionCompiler, value: Value, node: ast.Subscript) -> Value:
    if value.type is t.UNKNOWN:
        _emit_index(fc, node.slice)
        return Value(t.UNKNOWN, node=node)
    if not is_subtype(value.type, t.TENSOR):
        if isinstance(value.type, (t.OptionalType, t.UnionType)):
            raise not_refined(node, text_of(node.value), value.type)
        raise Refusal("not-subscriptable/several", node, value=text_of(node.value), type=value.type)
    seen_dots = False
    for part in _indices(node):
        if _is_dots(part):
            if seen_dots:
                raise Refusal("tensor-index/ellipses", node, tensor=text_of(node.value))
            seen_dots = True
        else:
            _check_index(fc, value, part, node, seen_dots)
    return Value(t.TENSOR, node=node)


def _check_index(
    fc: FunctionCompiler, tensor: Value, part: ast.expr, node: ast.Subscript, after_dots: bool
) -> None:
    if isinstance(part, ast.Slice):
        for _, bound in _bounds(part):
            _check_bound(fc.expression(bound), bound, node)
        return
    sugared = fc.sugared(part)
    if isinstance(sugared, SugaredSlice):
        return
    index = as_value(fc, sugared, part)
    differences.index(fc, index)
    if index.type in (t.UNKNOWN, t.NONE, t.INT):
        return
    if isinstance(index.type, t.ListType) or is_subtype(index.type, t.OptionalType(t.TENSOR)):
        if after_dots and isinstance(node.slice, ast.Tuple):
            raise Refusal("tensor-index/ellipsis", node, index=text_of(part), tensor=text_of(node.value))
        _note_list(fc, index.type, part, text_of(node.value))
        return
    if isinstance(index.type, (t.OptionalType, t.UnionType)):
        raise not_refined(node, text_of(part), index.type)
    if tensor.parameter and index.type is t.STR:
        raise Refusal(
            "untyped-parameter/container", node, parameter=tensor.parameter, use="a Tensor has no keys"
        )
    raise _unusable_index(node, part, index.type)


def _note_list(fc: FunctionCompiler, type_: t.Type, part: ast.expr, tensor: str) -> None:
    """A list that torch makes a Tensor of ints of, to index with."""
    element = type_.element if isinstance(type_, t.ListType) else None
    if element not in (t.TENSOR, t.BOOL):
        return
    rule: RuleName = "tensor-of-values/index" if element is t.TENSOR else "tensor-of-values/mask"
    fc.note(Refusal(rule, part, index=text_of(part), tensor=tensor))


def _check_bound(value: Value, bound: ast.expr, node: ast.Subscript) -> None:
    if value.type not in (t.INT, t.NONE, t.UNKNOWN, t.TENSOR, t.BOOL, t.NUMBER, t.OptionalType(t.INT)):
        raise _unusable_index(node, bound, value.type)


def _unusable_index(node: ast.Subscript, index: ast.expr, type_: t.Type) -> Refusal:
    rule: RuleName = "tensor-index/number" if type_ in (t.FLOAT, t.NUMBER) else "tensor-index"
    if isinstance(type_, t.TupleType):
        items = ", ".join(f"{text_of(index)}[{i}]" for i in range(len(type_.elements)))
        return Refusal(
            "tensor-index/tuple",
            node,
            index=text_of(index),
            type=type_,
            tensor=text_of(node.value),
            items=items,
        )
    return Refusal(rule, node, index=text_of(index), type=type_, tensor=text_of(node.value))


def assign(fc: FunctionCompiler, target: ast.Subscript, value: Value, node: ast.AST) -> None:
    """``owner[index] = value``."""
    owner = fc.expression(target.value)
    type_ = owner.type
    if type_ is t.UNKNOWN:
        _emit_index(fc, target.slice)
        return
    if is_subtype(type_, t.TENSOR):
        _multidimensional(fc, owner, target)
        if value.type not in (t.TENSOR, t.INT, t.FLOAT, t.BOOL, t.NUMBER, t.COMPLEX, t.UNKNOWN):
            if isinstance(value.type, (t.OptionalType, t.UnionType)):
                raise not_refined(node, text_of(value.node or target), value.type)
            raise Refusal("item-assignment/tensor", node, target=text_of(target), given=value.type)
        return
    if type_ is t.NONE:
        facts = {"target": text_of(target), "value": text_of(target.value)}
        raise Refusal("item-assignment/none", node, **facts)
    single = not isinstance(target.slice, (ast.Slice,)) and not (
        isinstance(target.slice, ast.Tuple) and len(target.slice.elts) != 1
    )
    if not single:
        raise Refusal("item-assignment/slice", node, target=text_of(target), type=type_)
    if isinstance(type_, t.TupleType):
        raise Refusal("item-assignment", node, target=text_of(target), type=type_)
    key = fc.expression(target.slice)
    if isinstance(type_, t.ClassType):
        if call_method(fc, Simple(owner), "__setitem__", [key, value], node) is not None:
            return
        raise Refusal("item-assignment", node, target=text_of(target), type=type_)
    call_builtin(fc, "aten::_set_item", [owner, key, value], {}, node)
