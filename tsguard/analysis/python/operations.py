"""Operators and truth over values: computed on constants, named on unknowns."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from tsguard.analysis.budgets import COUNTED_TURNS, DEEPEST_TERM
from tsguard.analysis.numpy_numbers import NumpyInt
from tsguard.analysis.python import (
    class_unions,
    numpy_rows,
    sets,
    sizes,
    special_methods,
    tensor_sizes,
    texts,
)
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.folding import folded, folded_default
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.terms import (
    COMPOUND,
    Attribute,
    Call,
    Group,
    Literal,
    Named,
    Not,
    Operation,
    Term,
    bounded,
    placed,
)
from tsguard.analysis.values import (
    TRUE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Partial,
    RangeValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Untold,
    Value,
    constant,
    is_none,
    plain,
)

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", sizes.multiplied),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", sizes.remainder),
    ast.Pow: ("**", sizes.power),
    ast.LShift: ("<<", sizes.shifted),
    ast.RShift: (">>", operator.rshift),
    ast.BitOr: ("|", operator.or_),
    ast.BitAnd: ("&", operator.and_),
    ast.BitXor: ("^", operator.xor),
}
_UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("-", operator.neg),
    ast.UAdd: ("+", operator.pos),
    ast.Invert: ("~", operator.invert),
}


def term_of(value: Value, depth: int = 0) -> Term | None:
    """What stands for a value in terms; None where nothing does."""
    if isinstance(value, Const):
        return Literal.of(value.value)
    if isinstance(value, Unknown):
        return value.term
    if isinstance(value, External):
        return Named(value.name, value.name.rpartition(".")[2])
    if isinstance(value, (ClassValue, FunctionValue)):
        return Named(value.node, value.name)
    if isinstance(value, EnumMember):
        return Attribute(Named(value.cls.node, value.cls.name), value.name)
    if isinstance(value, TupleValue) and depth < DEEPEST_TERM:
        items = [term_of(item, depth + 1) for item in value.items]
        known = tuple(item for item in items if item is not None)
        return Group(known) if len(known) == len(items) else None
    return None


def value_of(term: Term) -> Value:
    """The constant, or the tuple of constants, that a term is."""
    if isinstance(term, Group):
        return TupleValue(tuple(map(value_of, term.items)))
    assert isinstance(term, Literal)
    return Const(term.value)


def combined(make: Callable[..., Term], values: list[Value], node: ast.AST | None) -> Term | None:
    """The term that values make together; that of its place where one of them has none."""
    terms = [term_of(value) for value in values]
    if None in terms:
        return placed(node)
    term = make(*terms)
    for part in terms:
        if isinstance(part, COMPOUND):
            return bounded(term, node)
    return term


def called(name: str, args: list[Value], node: ast.AST | None) -> Term | None:
    """The term of a call of a builtin function."""
    return combined(lambda *given: Call(Named(f"builtins.{name}", name), given), args, node)


def joined_text(separator: str, parts: list[str]) -> Value:
    """The text that parts make, where it is not too long."""
    try:
        return Const(sizes.joined(separator, parts))
    except sizes.Huge:
        return Unknown(None, "str")


def default_of(value: Value) -> Value | None:
    """A value when every parameter has its default."""
    return value.default if isinstance(value, Unknown) else value


def binary(
    interp: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST | None = None
) -> Value:
    """``left op right``."""
    left, right = plain(interp.settled(left)), interp.settled(right)
    if isinstance(left, ObjectValue) or isinstance(right, ObjectValue):
        said = special_methods.binary(interp, op, left, right, node)
        if said is not None:
            return said
    formats = isinstance(op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str)
    right = texts.shown(interp, right) if formats and "%s" in str(left) else plain(right)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        if isinstance(op, ast.MatMult):
            return TensorValue(sizes=tensor_sizes.made(interp, "torch.matmul", [left, right], {}))
        return TensorValue(sizes=tensor_sizes.together(left, right))
    if type(op) not in _BINARY:
        return Unknown(placed(node))
    sign, function = _BINARY[type(op)]
    given = known(right) if formats else constant(right)
    if isinstance(left, Const) and not isinstance(given, Value):
        return folded(interp, function, (left.value, given), node)
    row = numpy_rows.combined(function, left, right)
    if row is not None:
        return row
    sequences = _sequences(interp, op, left, right)
    if sequences is not None:
        return sequences
    return _unknown_result(op, left, right, sign, node)


def _sequences(interp: Interpreter, op: ast.operator, left: Value, right: Value) -> Value | None:
    if isinstance(op, ast.Add):
        if isinstance(left, ListValue) and isinstance(right, ListValue):
            sizes.charge(interp, len(left.items) + len(right.items))
            return ListValue([*left.items, *right.items], left.open or right.open)
        if isinstance(left, TupleValue) and isinstance(right, TupleValue):
            sizes.charge(interp, len(left.items) + len(right.items))
            return TupleValue((*left.items, *right.items), left.open or right.open)
    if isinstance(op, ast.Mult):
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (ListValue, TupleValue)):
                return _repeated(sequence, times)
    if isinstance(op, ast.BitOr) and isinstance(left, DictValue) and isinstance(right, DictValue):
        sizes.charge(interp, len(left.items) + len(right.items))
        return DictValue(
            {**left.items, **right.items}, left.open or right.open, untold={**left.untold, **right.untold}
        )
    return class_unions.joined(op, left, right) or sets.by_operator(op, left, right)


def _repeated(sequence: ListValue | TupleValue, times: Value) -> Value:
    count = times.value if isinstance(times, Const) else None
    if isinstance(count, int) and len(sequence.items) * count <= COUNTED_TURNS:
        if isinstance(sequence, ListValue):
            return ListValue(sequence.items * count, sequence.open)
        return TupleValue(sequence.items * count, sequence.open)
    if isinstance(sequence, ListValue):
        return ListValue(list(sequence.items), True)
    return TupleValue(sequence.items, True)


def _unknown_result(op: ast.operator, left: Value, right: Value, sign: str, node: ast.AST | None) -> Value:
    term = combined(lambda a, b: Operation(a, sign, b), [left, right], node)
    if isinstance(op, ast.Add) and (isinstance(left, ListValue) or isinstance(right, ListValue)):
        known = left if isinstance(left, ListValue) else right
        return ListValue(list(known.items), True) if isinstance(known, ListValue) else Unknown(term)
    default = None
    a, b = default_of(left), default_of(right)
    if isinstance(a, Const) and isinstance(b, Const):
        default = folded_default(_BINARY[type(op)][1], (a.value, b.value))
    return Unknown(term, _result_hint(op, left, right), default)


_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)


def _result_hint(op: ast.operator, left: Value, right: Value) -> str:
    hints = {hint_of(left), hint_of(right)}
    if isinstance(op, ast.Div):
        return "float" if hints <= {"int", "float", "bool", ""} else ""
    if (
        isinstance(op, ast.Pow)
        and isinstance(right, Const)
        and isinstance(right.value, (int, float))
        and right.value < 0
    ):
        return "float"
    if hints <= {"int", "bool"}:
        return "bool" if hints == {"bool"} and isinstance(op, _BITWISE) else "int"
    if "float" in hints and hints <= {"int", "float", "bool", ""}:
        return "float"
    if "str" in hints and isinstance(op, (ast.Mod, ast.Add)):
        return "str"
    return ""


def hint_of(value: Value) -> str:
    """The name of a value's Python type where it is known."""
    if isinstance(value, Const):
        return "int" if isinstance(value.value, NumpyInt) else type(value.value).__name__
    if isinstance(value, Unknown):
        return value.hint or (
            hint_of(value.default) if isinstance(value.default, Const) and not is_none(value.default) else ""
        )
    kinds: dict[type[Value], str] = {
        ListValue: "list",
        TupleValue: "tuple",
        DictValue: "dict",
        SetValue: "set",
        RangeValue: "range",
        TensorValue: "Tensor",
    }
    return kinds.get(type(value), "")


def in_place(interp: Interpreter, op: ast.operator, left: Value, right: Value, node: ast.AST | None) -> Value:
    """``left op= right``: lists grow in place."""
    if isinstance(left, ListValue) and isinstance(op, ast.Add):
        items, is_open = iterate(interp, right)
        left.items.extend(items)
        left.open = left.open or is_open or interp.open_loops > 0
        interp.program.shared_state.used(left, interp.is_defining)
        return left
    if isinstance(left, ModuleValue) and isinstance(op, ast.Add):
        extend = interp.attribute(left, "extend")
        if extend is not None:
            interp.call(extend, [right], {}, node)
        return left
    said = special_methods.in_place(interp, op, left, right, node) if isinstance(left, ObjectValue) else None
    return binary(interp, op, left, right, node) if said is None else said


def unary(interp: Interpreter, op: ast.unaryop, value: Value, node: ast.AST | None = None) -> Value:
    """``op value``."""
    value = plain(interp.settled(value))
    if isinstance(value, ObjectValue):
        said = special_methods.unary(interp, op, value, node)
        if said is not None:
            return said
    if isinstance(op, ast.Not):
        if isinstance(value, Unknown):
            opposite = None if value.default is None else Const(not known_truth(value.default))
            term = Not(value.term) if value.term is not None else placed(node)
            made = Untold if isinstance(value, Untold) else Unknown
            return made(term, "bool", opposite, guess=not value.guess)
        return Const(not interp.truth(value, node))
    if isinstance(value, TensorValue):
        return TensorValue(dtype=value.dtype, rank=value.rank, sizes=value.sizes)
    sign, function = _UNARY[type(op)]
    if isinstance(value, Const):
        return folded(interp, function, (value.value,), node)
    default = default_of(value)
    known = folded_default(function, (default.value,)) if isinstance(default, Const) else None
    term = combined(lambda operand: Operation(None, sign, operand), [value], node)
    return Unknown(term, hint_of(value), known)


def truth(interp: Interpreter, value: Value, node: ast.AST | None = None) -> bool:
    """Whether a value is true; an unknown is decided by the world."""
    value = interp.settled(value)
    if isinstance(value, DictValue) and value.rest is not None and not value.items:
        value = value.rest
    if isinstance(value, Unknown):
        guess = value.guess if value.default is None else known_truth(value.default)
        term = value.term or placed(node)
        return guess if term is None else interp.world.decide(term, guess, guess=value.default is None)
    return known_truth(value)


def known_truth(value: Value) -> bool:
    """Whether a value that is no unknown is true."""
    value = plain(value)
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, (ListValue, TupleValue, SetValue, DictValue)):
        return bool(value.items) or value.open
    return True


def told_truth(value: Value) -> bool | None:
    """Whether a value is true; None where the source does not tell."""
    return None if isinstance(value, (TensorValue, Unknown)) else known_truth(value)


def boolean(interp: Interpreter, node: ast.BoolOp, evaluate: Callable[[ast.expr], Value]) -> Value:
    """``a and b``, ``a or b``: the operand that decides."""
    is_or = isinstance(node.op, ast.Or)
    result: Value = TRUE
    pending: list[Unknown] = []
    for operand in node.values:
        result = interp.settled(evaluate(operand))
        if isinstance(result, Unknown):
            pending.append(result)
        decided = interp.truth(result, operand)
        if decided == is_or:
            return _decided(result, decided)
    return _decided(result, not is_or) if pending else result


def _decided(value: Value, answer: bool) -> Value:
    """An operand after its truth was decided: a condition is that truth, a value itself."""
    if isinstance(value, Unknown) and value.hint == "bool":
        return Const(answer)
    return value


CALLABLES = (FunctionValue, BoundMethod, ClassValue, External, Partial, ModuleValue)
