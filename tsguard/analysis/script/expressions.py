"""Expressions: operators, literals, comprehensions, names and calls with special forms.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitSugaredExpr``, ``emitSimpleExpr``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from tsguard.analysis.budgets import SCRIPT_STEPS
from tsguard.analysis.events import text_of
from tsguard.analysis.script import (
    arguments,
    conditions,
    differences,
    forms,
    iteration,
    literals,
    mismatches,
    notes,
    subscripts,
    whole_numbers,
)
from tsguard.analysis.script.attributes import get_attribute
from tsguard.analysis.script.calls import call, call_builtin, call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    Simple,
    Special,
    Sugared,
    SugaredModule,
    SugaredUnknown,
    Value,
    source_of,
)
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.language import types as t
from tsguard.language.relations import unify

_BINARY = {
    ast.Add: ("add", "__add__"), ast.Sub: ("sub", "__sub__"), ast.Mult: ("mul", "__mul__"),
    ast.Div: ("div", "__truediv__"), ast.Pow: ("pow", "__pow__"), ast.Mod: ("remainder", "__mod__"),
    ast.FloorDiv: ("floordiv", ""), ast.MatMult: ("matmul", ""), ast.BitAnd: ("__and__", "__and__"),
    ast.BitOr: ("__or__", "__or__"), ast.BitXor: ("__xor__", "__xor__"),
    ast.LShift: ("__lshift__", "__lshift__"), ast.RShift: ("__rshift__", "__rshift__"),
}  # fmt: skip
_COMPARE = {
    ast.Eq: ("eq", "__eq__"), ast.NotEq: ("ne", "__ne__"), ast.Lt: ("lt", "__lt__"), ast.LtE: ("le", "__le__"),
    ast.Gt: ("gt", "__gt__"), ast.GtE: ("ge", "__ge__"), ast.In: ("__contains__", "__contains__"),
    ast.NotIn: ("__contains__", "__contains__"),
}  # fmt: skip

Emitter = Callable[["FunctionCompiler", ast.expr, "t.Type | None"], Value]


def emit(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None = None) -> Value:
    """The typed value of an expression; ``hint`` is the type that is expected."""
    value = as_value(fc, emit_sugared(fc, node, hint), node)
    if value.node is None:
        value.node = node
    if hint is t.ANY and value.type is not t.ANY:
        return Value(t.ANY, node=node)
    return value


def emit_sugared(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Sugared:
    """The sugared value of an expression."""
    compiler = fc.compiler
    compiler.steps += 1
    if compiler.steps > SCRIPT_STEPS:
        compiler.spend(0)
    if isinstance(node, ast.Name):
        if node.id == "Ellipsis":
            raise Refusal("unsupported-expression/ellipsis-value", node)
        return fc.noted(node, fc.lookup(node.id, node))
    if isinstance(node, ast.Attribute):
        return fc.noted(node, get_attribute(fc, fc.sugared(node.value), node.attr, node))
    if isinstance(node, ast.Call):
        return _call(fc, node, hint)
    if isinstance(node, ast.Subscript):
        return subscripts.load(fc, node, hint)
    emitter = EMITTERS.get(type(node))
    if emitter is None:
        if isinstance(node, ast.NamedExpr):
            fc.frame.root.variables[node.target.id] = Value(t.UNKNOWN)
        return SugaredUnknown()
    return Simple(emitter(fc, node, hint))


def _call(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if _is_super(fc, node):
        return forms.super_call(node)
    callee = fc.sugared(node.func)
    if isinstance(callee, Special):
        return forms.emit(fc, callee.form, node, hint)
    args, exact = _arguments(fc, node)
    kwargs = {k.arg: _argument(fc, k.value) for k in node.keywords if k.arg is not None}
    if not exact or any(k.arg is None for k in node.keywords):
        return SugaredUnknown()
    return call(fc, callee, args, kwargs, node)


def _is_super(fc: FunctionCompiler, node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "super" and fc.frame.find("super") is None


def _arguments(fc: FunctionCompiler, node: ast.Call) -> tuple[list[Value], bool]:
    """Positional arguments, stars unpacked; False where a star's length is unknown."""
    values: list[Value] = []
    exact = True
    for arg in node.args:
        if not isinstance(arg, ast.Starred):
            values.append(_argument(fc, arg))
            continue
        try:
            value = fc.sugared(arg.value)
            parts = iteration.as_tuple(value, arg.value, None)
            if parts is None:
                arguments.rests_on(fc, source_of(value), arg.value)
        except Refusal as refusal:
            fc.report(refusal)
            parts = None
        if parts is None:
            exact = False
        else:
            values.extend(as_value(fc, part, arg) for part in parts)
    return values, exact


def _argument(fc: FunctionCompiler, node: ast.expr) -> Value:
    value = fc.attempt(node)
    value.node = node
    return value


# -- operators -----------------------------------------------------------------------------


def _binary(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.BinOp)
    left, right = fc.attempt(node.left), fc.attempt(node.right)
    left.node, right.node = node.left, node.right
    if isinstance(node.op, ast.Mod) and left.type is t.STR:
        notes.percent(fc, left, node)
        return Value(t.STR, node=node, unlike=differences.percent(left, right, node))
    if (
        isinstance(node.op, ast.Add)
        and isinstance(left.type, t.TupleType)
        and isinstance(right.type, t.TupleType)
    ):
        return Value(_tuple_of(left.type.elements + right.type.elements), node=node)
    symbol, magic = _BINARY[type(node.op)]
    return whole_numbers.calculated(operator(fc, symbol, magic, [left, right], node), left, right)


def operator(fc: FunctionCompiler, symbol: str, magic: str, args: list[Value], node: ast.expr) -> Value:
    """An operator: the first operand's class's own method, or torch's overloads."""
    if magic and isinstance(args[0].type, t.ClassType):
        result = call_method(fc, Simple(args[0]), magic, args[1:], node)
        if result is None:
            facts = {"left": str(args[0].type), "right": str(args[1].type) if len(args) > 1 else ""}
            raise Refusal(
                "operator-types", node, operator=mismatches.symbol(symbol), expression=text_of(node), **facts
            )
        return as_value(fc, result, node)
    return call_builtin(fc, f"aten::{symbol}", args, {}, node)


def _unary(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.Not):
        return _condition(fc, node, hint)
    operand = fc.expression(node.operand)
    if isinstance(node.op, ast.UAdd):
        return Value(t.UNKNOWN, node=node)
    if isinstance(node.op, ast.USub):
        result = operator(fc, "neg", "__neg__", [operand], node)
        if isinstance(operand.const, (int, float)):
            result.const = -operand.const
        return result
    return operator(fc, "bitwise_not", "__invert__", [operand], node)


def _condition(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    """``and``, ``or``, ``not`` and ``is`` give a bool, whatever their operands are."""
    condition = conditions.emit(fc, node)
    if isinstance(node, ast.BoolOp) and not condition.boolean:
        notes.boolean_value(fc, node, condition.types)
    unlike = differences.truth(node, condition.types)
    return Value(t.BOOL, node=node, static=condition.static, unlike=unlike)


def _compare(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.Compare)
    if (
        len(node.ops) > 1
        or isinstance(node.ops[0], (ast.Is, ast.IsNot))
        or conditions.compares_with_none(node)
    ):
        return _condition(fc, node, hint)
    if isinstance(node.ops[0], (ast.In, ast.NotIn)) and _is_module_dict(fc, node.comparators[0]):
        fc.attempt(node.left)
        return Value(t.BOOL, node=node)
    left, right = fc.attempt(node.left), fc.attempt(node.comparators[0])
    left.node, right.node = node.left, node.comparators[0]
    symbol, magic = _COMPARE[type(node.ops[0])]
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        if isinstance(right.type, (t.TupleType,)) and not _homogeneous(right.type):
            raise Refusal(
                "operator-types",
                node,
                operator="in",
                expression=text_of(node),
                left=left.type,
                right=right.type,
            )
        result = operator(fc, symbol, magic, [right, left], node)
        return Value(t.BOOL, node=node) if isinstance(node.ops[0], ast.NotIn) else result
    is_equality = isinstance(node.ops[0], (ast.Eq, ast.NotEq))
    if is_equality and isinstance(left.type, t.EnumType) and left.type == right.type:
        return Value(t.BOOL, node=node)
    return operator(fc, symbol, magic, [left, right], node)


def _is_module_dict(fc: FunctionCompiler, node: ast.expr) -> bool:
    """Whether it is an ``nn.ModuleDict``, which has ``in`` where other modules have not."""
    if not isinstance(node, (ast.Attribute, ast.Name)):
        return False
    owner = fc.sugared(node)
    return isinstance(owner, SugaredModule) and fc.compiler.container_kind(owner.instance) == "dict"


def _homogeneous(type_: t.TupleType) -> bool:
    return len(set(type_.elements)) <= 1


def _conditional(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.IfExp)
    condition = conditions.emit_guarded(fc, node.test)
    if condition.static is not None:
        return fc.expression(node.body if condition.static else node.orelse, hint)
    then = _arm(fc, node.body, condition.when_true, hint, (node.test, True))
    otherwise = _arm(fc, node.orelse, condition.when_false, hint, (node.test, False))
    then, otherwise = whole_numbers.joined(fc, then, otherwise)
    joint = unify(then.type, otherwise.type)
    if (
        isinstance(then.type, t.ModuleType)
        and isinstance(otherwise.type, t.ModuleType)
        and then.type.name == otherwise.type.name
    ):
        joint = then.type  # a module as a value: it cannot be called
    if joint is None and condition.is_open:
        joint = t.UNKNOWN
    if joint is None:
        raise Refusal(
            "branch-type-mismatch/conditional",
            node,
            then=then.type,
            otherwise=otherwise.type,
            expression=text_of(node),
        )
    source = then.source or otherwise.source if joint is t.UNKNOWN else None
    return Value(joint, node=node, source=source, unlike=then.unlike or otherwise.unlike)


def _arm(
    fc: FunctionCompiler,
    node: ast.expr,
    refinements: conditions.Refinements,
    hint: t.Type | None,
    test: tuple[ast.expr, bool],
) -> Value:
    fc.push()
    fc.tests.append(test)
    try:
        conditions.refine(fc, refinements)
        return fc.attempt(node, hint)
    finally:
        fc.tests.pop()
        fc.pop()


# -- literals --------------------------------------------------------------------------------


def _constant(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.Constant)
    kinds: dict[type, t.Type] = {
        bool: t.BOOL, int: t.INT, float: t.FLOAT, complex: t.COMPLEX, str: t.STR, type(None): t.NONE,
    }  # fmt: skip
    type_ = kinds.get(type(node.value))
    if node.value is Ellipsis:
        raise Refusal("unsupported-expression/ellipsis-value", node)
    if type_ is None:
        return Value(t.UNKNOWN, node=node)
    return Value(type_, node.value, node=node)


def _joined(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.JoinedStr)
    notes.joined(fc, node)
    parts = [fc.attempt(value.value) for value in node.values if isinstance(value, ast.FormattedValue)]
    return Value(t.STR, node=node, unlike=differences.text_of_any(parts, node))


def _tuple(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    assert isinstance(node, ast.Tuple)
    values, exact = literals.elements(fc, node.elts)
    if not exact:
        return Value(t.UNKNOWN, node=node)
    const: object = None
    result = Value(_tuple_of(v.type for v in values), node=node, unlike=differences.of_tuple(values))
    if all(v.is_constant for v in values):
        const = tuple(v.const for v in values)
        result.const = const
    return result


def _tuple_of(elements: Iterable[t.Type]) -> t.Type:
    type_ = t.tuple_of(elements)
    if t.is_large(type_):
        raise BudgetExceeded
    return type_


EMITTERS: dict[type[ast.expr], Emitter] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _condition,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Constant: _constant,
    ast.JoinedStr: _joined,
    ast.Tuple: _tuple,
    ast.List: literals.list_literal,
    ast.Dict: literals.dict_literal,
    ast.ListComp: literals.list_comprehension,
    ast.GeneratorExp: literals.list_comprehension,
    ast.DictComp: literals.dict_comprehension,
}
