"""Assignments: to variables across blocks, to attributes, to items, by unpacking.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``setSugaredVar``, ``emitAssignment``).
"""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script import (
    cut_numbers,
    empties,
    iteration,
    lost_changes,
    mismatches,
    notes,
    spelled_out,
    subscripts,
    whole_numbers,
)
from tsguard.analysis.script.annotations import annotation_type
from tsguard.analysis.script.attributes import get_attribute, set_attribute
from tsguard.analysis.script.calls import call_builtin, call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Simple, Sugared, SugaredUnknown, Value, source_of
from tsguard.language import types as t
from tsguard.language.matching import converted
from tsguard.language.relations import is_subtype
from tsguard.language.rule_names import RuleName
from tsguard.project.bindings import assigned_names
from tsguard.source.walking import walked

_IN_PLACE = {
    ast.Add: "add_", ast.Sub: "sub_", ast.Div: "div_", ast.Mult: "mul_", ast.Mod: "fmod_",
    ast.BitOr: "bitwise_or", ast.BitAnd: "bitwise_and", ast.BitXor: "bitwise_xor",
    ast.LShift: "__lshift__", ast.RShift: "__irshift__", ast.Pow: "pow",
}  # fmt: skip
_PLAIN = {
    ast.Add: "add", ast.Sub: "sub", ast.Div: "div", ast.Mult: "mul", ast.Mod: "fmod", ast.BitOr: "__or__",
    ast.BitAnd: "__and__", ast.BitXor: "__xor__", ast.LShift: "__lshift__", ast.RShift: "__rshift__",
    ast.Pow: "pow",
}  # fmt: skip
_REFUSED = {ast.FloorDiv: "//", ast.MatMult: "@"}
_MAGIC = {ast.Add: "add", ast.Sub: "sub", ast.Div: "truediv", ast.Mult: "mul", ast.Mod: "mod"}


def poison(fc: FunctionCompiler, node: ast.stmt) -> None:
    """After a refusal, what a statement would have bound is unknown."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        targets = [node.target]
    names = [name for target in targets for name in assigned_names(target)]
    if not targets:
        names = [n.id for n in walked(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        names.append(node.name)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names.extend(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        names.extend(node.names)
    for name in names:
        fc.frame.sugared.pop(name, None)
        fc.frame.variables[name] = Value(t.UNKNOWN)
    if any(isinstance(n, ast.Return) for n in walked(node)) and isinstance(node, ast.Try):
        fc.frame.exits = True


def set_variable(
    fc: FunctionCompiler, name: str, value: Sugared, node: ast.AST, annotated: t.Type | None = None
) -> None:
    """Bind a name; inside a block it must keep the type that it has outside.

    Raises:
        Refusal: it would not.
    """
    fc.noted(node, value)
    plain = value.value if isinstance(value, Simple) else None
    outer = fc.frame.find_outside(name)
    if isinstance(value, SugaredUnknown):
        plain = Value(t.UNKNOWN, source=value.source)
    if outer is not None:
        if annotated is not None:
            raise Refusal("annotation-placement/in-block", node, name=name)
        if plain is None or not isinstance(outer, Simple):
            if isinstance(outer, SugaredUnknown):
                return
            raise Refusal("rebound-object", node, name=name, kind=(value if plain is None else outer).kind)
        plain = _kept(fc, name, plain, outer.value, node)
    if plain is None:
        fc.frame.variables.pop(name, None)
        fc.frame.sugared[name] = value
        return
    if annotated is not None and not is_subtype(plain.type, annotated):
        raise Refusal("reassigned-type/annotated", node, name=name, annotated=annotated, type=plain.type)
    fc.frame.sugared.pop(name, None)
    stored = annotated if annotated is not None else plain.type
    fc.frame.variables[name] = Value(
        stored,
        parameter=plain.parameter,
        missing=plain.missing,
        source=plain.source,
        untyped=name if plain.untyped and annotated is None else "",
        unlike=plain.unlike,
    )
    fc.frame.root.unusable.pop(name, None)


def _kept(fc: FunctionCompiler, name: str, value: Value, outer: Value, node: ast.AST) -> Value:
    value = whole_numbers.kept(fc, value, outer.type)
    result = converted(
        value.type, outer.type, empty_list=value.empty_list, bools=fc.compiler.ways.bools_are_numbers
    )
    if not is_subtype(result, outer.type):
        facts = {"name": name, "before": str(outer.type), "now": str(value.type)}
        if outer.type is t.NONE:
            raise Refusal("none-then-value", node, **facts, annotation=spelled_out.annotation(value.type))
        grows = isinstance(outer.type, t.TupleType) and isinstance(value.type, t.TupleType)
        rule: RuleName = "reassigned-type/tuple" if grows else "reassigned-type"
        raise empties.misfit(fc, outer, value.type, node) or Refusal(rule, node, **facts)
    if value.type is t.TENSOR and outer.type in (t.INT, t.FLOAT):
        notes.accumulator(fc, node, name, outer.type)
    cut_numbers.kept_as_int(fc, name, value, outer, node)
    return Value(
        result,
        parameter=value.parameter,
        missing=value.missing,
        source=value.source,
        unlike=value.unlike,
    )


# Their items are bound with the whole as the place.
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)


def emit_assign(fc: FunctionCompiler, node: ast.Assign) -> None:
    """``a = b``, ``a = b = c``, ``a, b = c``."""
    if len(node.targets) == 1:
        _emit_single(fc, node.targets[0], node.value, node)
        return
    value = fc.sugared(node.value)
    for target in node.targets:
        assign_sugared(fc, target, value, node)


def _emit_single(fc: FunctionCompiler, target: ast.expr, value: ast.expr, node: ast.stmt) -> None:
    if isinstance(target, ast.Name):
        set_variable(fc, target.id, fc.sugared(value), target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _emit_unpacking(fc, target, fc.sugared(value), value)
    else:
        assign_sugared(fc, target, Simple(fc.expression(value)), node)


def emit_annotated(fc: FunctionCompiler, node: ast.AnnAssign) -> None:
    """``a: T = b``."""
    assert node.value is not None
    try:
        type_ = annotation_type(fc.compiler, node.annotation, fc.scope)
    except Refusal as refusal:
        fc.report(refusal)
        type_ = t.UNKNOWN
    value = fc.sugared(node.value, type_)
    if isinstance(node.target, ast.Name):
        if isinstance(value, Simple):
            value = Simple(_annotated_value(value.value, type_))
        set_variable(fc, node.target.id, value, node.target, type_)
    else:
        assign_sugared(fc, node.target, value, node)


def _annotated_value(value: Value, type_: t.Type) -> Value:
    """An annotation converts nothing but an empty list, and Any takes all."""
    if type_ is t.ANY or (value.empty_list and isinstance(type_, t.ListType)):
        return Value(type_, node=value.node)
    return value


def assign_sugared(fc: FunctionCompiler, target: ast.expr, value: Sugared, node: ast.AST) -> None:
    """Bind a sugared value to a target."""
    if isinstance(target, ast.Name):
        set_variable(fc, target.id, value, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _emit_unpacking(fc, target, value, node)
    elif isinstance(target, ast.Attribute):
        owner = fc.sugared(target.value)
        set_attribute(fc, owner, target.attr, as_value(fc, value, node), target)
    elif isinstance(target, ast.Subscript):
        subscripts.assign(fc, target, as_value(fc, value, node), node)
    elif isinstance(target, ast.Starred):
        raise Refusal("unpacking-target/starred", target, target=text_of(target))


def assign_item(
    fc: FunctionCompiler, target: ast.expr, item: Sugared, node: ast.AST, iterable: ast.expr
) -> None:
    """Bind what a loop gives, which has no text of its own, to the loop's target.

    Raises:
        Refusal: it does not unpack; what it says names the iterable.
    """
    try:
        assign_sugared(fc, target, item, node)
    except Refusal as refusal:
        if refusal.facts.get("value", "").startswith(text_of(node)):
            refusal.facts["value"] = f"each item of {text_of(iterable)}"
            if "instead" in refusal.facts:
                refusal.facts["instead"] = refusal.facts["instead"].replace(text_of(node), "item")
        if refusal.rule != "unpacking-count/tensor":
            raise
        untyped = _untyped(fc, iterable)
        if untyped:
            use = "its items do not unpack"
            raise Refusal("untyped-parameter/container", refusal.node, parameter=untyped, use=use) from None
        raise Refusal("unpacking-count/item", refusal.node, value=text_of(iterable)) from None


def _untyped(fc: FunctionCompiler, iterable: ast.expr) -> str:
    """The parameter without annotation that a loop goes through, itself or numbered; "" where there is none."""
    numbered = isinstance(iterable, ast.Call) and text_of(iterable.func) == "enumerate"
    looped = iterable.args[0] if isinstance(iterable, ast.Call) and numbered and iterable.args else iterable
    found = fc.frame.find(looped.id) if isinstance(looped, ast.Name) else None
    return found.value.parameter if isinstance(found, Simple) and found.value.type is t.TENSOR else ""


def _emit_unpacking(
    fc: FunctionCompiler, target: ast.Tuple | ast.List, value: Sugared, node: ast.AST
) -> None:
    if isinstance(target, ast.List):
        raise Refusal("unpacking-target/list", target, target=text_of(target))
    stars = sum(isinstance(element, ast.Starred) for element in target.elts)
    if stars > 1 or (stars and len(target.elts) == 1):
        raise Refusal("unpacking-target/starred", target, target=text_of(target))
    binders = len(target.elts) - stars
    try:
        items = iteration.as_tuple(value, node, None if stars else binders, "starred-list/target")
    except Refusal as refusal:
        if refusal.rule == "starred-list/target":
            refusal.facts["instead"] = _slice_of_rest(target, text_of(node))
        raise
    if items is None:
        source = source_of(value)
        for element in target.elts:
            inner = element.value if isinstance(element, ast.Starred) else element
            assign_sugared(fc, inner, Simple(Value(t.UNKNOWN, source=source)), node)
        return
    if len(items) < binders or (len(items) > binders and not stars):
        raise Refusal(
            "unpacking-count", target, wanted=str(binders), given=str(len(items)), value=text_of(node)
        )
    position = 0
    for element in target.elts:
        if isinstance(element, ast.Starred):
            count = len(items) - binders
            packed = t.TupleType(
                tuple(as_value(fc, i, node).type for i in items[position : position + count])
            )
            assign_sugared(fc, element.value, Simple(Value(packed)), node)
            position += count
        else:
            nested = isinstance(element, (ast.Tuple, ast.List))
            assign_sugared(
                fc, element, items[position], _part(node, len(items), position) if nested else node
            )
            position += 1


def _slice_of_rest(target: ast.Tuple, value: str) -> str:
    """What a starred target takes: ``rest = x.shape[1:-1]`` for ``first, *rest, last = x.shape``."""
    position = next(i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred))
    star, after = target.elts[position], len(target.elts) - position - 1
    bounds = f"{position or ''}:{-after or ''}"
    return f"{text_of(star)[1:]} = {value}[{bounds}]"


def _part(node: ast.AST, length: int, position: int) -> ast.AST:
    """What a part of a value is written as: in place for a literal, else as its item."""
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == length:
        return node.elts[position]
    if not isinstance(node, ast.expr) or isinstance(node, _COMPREHENSIONS):
        return node
    item = ast.Subscript(node, ast.copy_location(ast.Constant(position), node), ast.Load())
    return ast.copy_location(item, node)


# -- augmented ---------------------------------------------------------------------------


def emit_augmented(fc: FunctionCompiler, node: ast.AugAssign) -> None:
    """``a op= b`` on a variable, an attribute or an item."""
    if type(node.op) not in _PLAIN:
        fc.expression(node.value)
        raise Refusal(
            "unsupported-expression/augmented-operator",
            node,
            operator=f"{_REFUSED[type(node.op)]}=",
            plain=_REFUSED[type(node.op)],
            target=text_of(node.target),
        )
    target = node.target
    if isinstance(target, ast.Name):
        result = _augmented(fc, node, fc.expression(target))
        set_variable(fc, target.id, Simple(result), target)
    elif isinstance(target, ast.Attribute):
        owner = fc.sugared(target.value)
        before = as_value(fc, get_attribute(fc, owner, target.attr, target), target)
        set_attribute(fc, owner, target.attr, _augmented(fc, node, before), target)
    elif isinstance(target, ast.Subscript):
        _augmented_item(fc, node, target)


def _augmented(fc: FunctionCompiler, node: ast.AugAssign, before: Value) -> Value:
    operand = fc.attempt(node.value)
    operand.node = node.value
    if isinstance(before.type, t.ClassType):
        magic = _MAGIC.get(type(node.op), "")
        for name in (f"__i{magic}__", f"__{magic}__"):
            result = call_method(fc, Simple(before), name, [operand], node)
            if result is not None:
                return as_value(fc, result, node)
        raise Refusal(
            "operator-types",
            node,
            operator=mismatches.symbol(_PLAIN[type(node.op)]),
            left=before.type,
            right=operand.type,
            expression=text_of(node),
        )
    lost_changes.remainder(fc, node, before)
    return call_builtin(fc, _operator(node, before.type), [before, operand], {}, node)


def _operator(node: ast.AugAssign, type_: t.Type) -> str:
    in_place = is_subtype(type_, t.TENSOR) or isinstance(type_, t.ListType)
    if type_ is t.UNKNOWN:
        in_place = False
    return f"aten::{(_IN_PLACE if in_place else _PLAIN)[type(node.op)]}"


def _augmented_item(fc: FunctionCompiler, node: ast.AugAssign, target: ast.Subscript) -> None:
    container = fc.expression(target.value)
    if is_subtype(container.type, t.TENSOR):
        item = subscripts.load(fc, target, None)
        operand = fc.attempt(node.value)
        lost_changes.of_part(fc, node, target)
        lost_changes.remainder(fc, node, container)
        call_builtin(fc, _operator(node, t.TENSOR), [as_value(fc, item, target), operand], {}, node)
        return
    if isinstance(container.type, t.ListType) and isinstance(target.slice, ast.Slice):
        raise Refusal("item-assignment/slice", node, target=text_of(target), type=container.type)
    if isinstance(container.type, t.ListType):
        element: t.Type = container.type.element
    elif isinstance(container.type, t.DictType):
        element = container.type.value
    else:
        raise Refusal("item-assignment", node, type=container.type, target=text_of(target))
    key = fc.expression(target.slice)
    operand = fc.attempt(node.value)
    lost_changes.remainder(fc, node, Value(element))
    item_now = call_builtin(fc, _operator(node, element), [Value(element), operand], {}, node)
    call_builtin(fc, "aten::_set_item", [container, key, item_now], {}, node)
