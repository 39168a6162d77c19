"""Operators and truth over values: computed on constants, named on unknowns."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from tsguard.analysis.python import registries, sets, sizes, texts
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.terms import (
    COMPOUND,
    Attribute,
    Call,
    Compare,
    Eq,
    Group,
    In,
    Is,
    Literal,
    Named,
    Not,
    Operation,
    Term,
    bounded,
    placed,
)
from tsguard.analysis.values import (
    FALSE,
    TRUE,
    Atom,
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
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("-", operator.neg),
    ast.UAdd: ("+", operator.pos),
    ast.Invert: ("~", operator.invert),
}
_DEEPEST_TERM = 3


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
    if isinstance(value, TupleValue) and depth < _DEEPEST_TERM:
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
    return bounded(term, node) if any(isinstance(part, COMPOUND) for part in terms) else term


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
    formats = isinstance(op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str)
    right = texts.shown(interp, right) if formats and "%s" in str(left) else plain(right)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        return TensorValue()
    if type(op) not in _BINARY:
        return Unknown(placed(node))
    sign, function = _BINARY[type(op)]
    if isinstance(left, Const) and isinstance(right, Const):
        return _computed(interp, function, left.value, right.value, node)
    sequences = _sequences(interp, op, left, right)
    if sequences is not None:
        return sequences
    return _unknown_result(interp, op, left, right, sign, node)


def _computed(
    interp: Interpreter, function: Callable[[Any, Any], Any], a: Any, b: Any, node: ast.AST | None
) -> Value:
    try:
        return Const(sizes.checked(function(a, b)))
    except sizes.Huge:
        return Unknown()
    except Exception as error:
        raise interp.raise_(type(error).__name__, node) from None


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
        return DictValue({**left.items, **right.items}, left.open or right.open)
    return sets.by_operator(op, left, right)


def _repeated(sequence: ListValue | TupleValue, times: Value) -> Value:
    count = times.value if isinstance(times, Const) else None
    if isinstance(count, int) and len(sequence.items) * count <= 256:
        if isinstance(sequence, ListValue):
            return ListValue(sequence.items * count, sequence.open)
        return TupleValue(sequence.items * count, sequence.open)
    if isinstance(sequence, ListValue):
        return ListValue(list(sequence.items), True)
    return TupleValue(sequence.items, True)


def _unknown_result(
    interp: Interpreter, op: ast.operator, left: Value, right: Value, sign: str, node: ast.AST | None
) -> Value:
    term = combined(lambda a, b: Operation(a, sign, b), [left, right], node)
    if isinstance(op, ast.Add) and (isinstance(left, ListValue) or isinstance(right, ListValue)):
        known = left if isinstance(left, ListValue) else right
        return ListValue(list(known.items), True) if isinstance(known, ListValue) else Unknown(term)
    default = None
    a, b = default_of(left), default_of(right)
    if isinstance(a, Const) and isinstance(b, Const):
        try:
            default = _computed(interp, _BINARY[type(op)][1], a.value, b.value, None)
        except Exception:
            default = None
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
        return type(value.value).__name__
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
        return left
    if isinstance(left, ModuleValue) and isinstance(op, ast.Add):
        extend = interp.attribute(left, "extend")
        if extend is not None:
            interp.call(extend, [right], {}, node)
        return left
    return binary(interp, op, left, right, node)


def unary(interp: Interpreter, op: ast.unaryop, value: Value, node: ast.AST | None = None) -> Value:
    """``op value``."""
    value = plain(interp.settled(value))
    if isinstance(op, ast.Not):
        if isinstance(value, Unknown):
            opposite = None if value.default is None else Const(not known_truth(value.default))
            term = Not(value.term) if value.term is not None else placed(node)
            return Unknown(term, "bool", opposite, guess=not value.guess)
        return Const(not interp.truth(value, node))
    if isinstance(value, TensorValue):
        return value
    sign, function = _UNARY[type(op)]
    if isinstance(value, Const):
        try:
            return Const(function(value.value))
        except Exception as error:
            raise interp.raise_(type(error).__name__, node) from None
    default = default_of(value)
    known = (
        Const(function(default.value))
        if isinstance(default, Const) and isinstance(default.value, (int, float))
        else None
    )
    term = combined(lambda operand: Operation(None, sign, operand), [value], node)
    return Unknown(term, hint_of(value), known)


def compare(
    interp: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None = None
) -> Value:
    """``left op right`` for a comparison."""
    left, right = interp.settled(left), interp.settled(right)
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(interp, op, left, right, node)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _membership(interp, op, left, right, node)
    left, right = plain(left), plain(right)
    sign, function = _COMPARE[type(op)]
    result = _compared(function, left, right)
    if result is not None:
        return Const(result)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        return TensorValue()
    a, b = default_of(left), default_of(right)
    default = None if a is None or b is None else _compared(function, a, b)
    if isinstance(op, ast.NotEq):
        known = None if default is None else Const(not default)
        positive = Unknown(
            combined(Eq, [left, right], node), "bool", known, guess=_likely(operator.eq, right)
        )
        return unary(interp, ast.Not(), positive, node)
    make = Eq if isinstance(op, ast.Eq) else (lambda a, b: Compare(a, sign, b))
    known = None if default is None else Const(default)
    return Unknown(combined(make, [left, right], node), "bool", known, guess=_likely(function, right))


_PLAIN = frozenset({"bool", "complex", "float", "int", "str"})
_TYPICAL_SIZE = 8


def _likely(function: Callable[[Any, Any], Any], right: Value) -> bool:
    """Whether a comparison of what is not known, a size mostly, is likely true."""
    if (
        not isinstance(right, Const)
        or isinstance(right.value, bool)
        or not isinstance(right.value, (int, float))
    ):
        return True
    return right.value != 0 if function is operator.eq else bool(function(_TYPICAL_SIZE, right.value))


def _compared(function: Callable[[Any, Any], Any], left: Value, right: Value) -> bool | None:
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return bool(function(left.value, right.value))
        except TypeError:
            return None
    if function in (operator.eq, operator.ne):
        same = _same(left, right)
        return None if same is None else same == (function is operator.eq)
    a, b = _constants(left), _constants(right)
    if a is None or b is None or type(left) is not type(right):
        return None
    try:
        return bool(function(a, b))
    except TypeError:
        return None


def _constants(value: Value) -> list[object] | None:
    """What a list or tuple of constants holds."""
    if not isinstance(value, (ListValue, TupleValue)) or value.open:
        return None
    held = [item.value for item in value.items if isinstance(item, Const)]
    return held if len(held) == len(value.items) else None


def _same(left: Value, right: Value) -> bool | None:
    """Whether two values are equal, where that is certain."""
    left, right = plain(left), plain(right)
    if left is right:
        return True
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if isinstance(left, (Const, Atom, External)) and isinstance(right, (Const, Atom, External)):
        return left == right
    if isinstance(left, (TupleValue, ListValue)) and isinstance(right, (TupleValue, ListValue)):
        if left.open or right.open:
            return None
        if type(left) is not type(right) or len(left.items) != len(right.items):
            return False
        parts = [_same(a, b) for a, b in zip(left.items, right.items, strict=True)]
        return None if None in parts else all(parts)
    if isinstance(left, (ObjectValue, TensorValue)) or isinstance(right, (ObjectValue, TensorValue)):
        return False if is_none(left) or is_none(right) else None
    return False


def _identity(interp: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None) -> Value:
    if is_none(left):
        left, right = right, left
    same: bool | None
    if is_none(right) and isinstance(left, Unknown) and _is_never_none(left):
        same = False
    elif isinstance(left, Unknown) or isinstance(right, Unknown):
        same = None
    elif isinstance(left, Const) and isinstance(right, Const):
        same = type(left.value) is type(right.value) and left.value == right.value
    else:
        same = bool(_same(left, right))
    if same is not None:
        return Const(same == isinstance(op, ast.Is))
    positive = Unknown(combined(Is, [left, right], node), "bool", _default_identity(left, right))
    return positive if isinstance(op, ast.Is) else unary(interp, ast.Not(), positive, node)


def _is_never_none(value: Unknown) -> bool:
    """Whether a parameter is declared to be a number, a flag or a text, and None is not its default."""
    declared = value.annotation
    if value.default is not None and is_none(value.default):
        return False
    return isinstance(declared, ast.Name) and declared.id in _PLAIN


def _default_identity(left: Value, right: Value) -> Value | None:
    a, b = default_of(left), default_of(right)
    if a is None or b is None:
        return FALSE if is_none(right) else None
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value is b.value)
    return FALSE if is_none(a) or is_none(b) else Const(a is b)


def _membership(interp: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None) -> Value:
    if isinstance(right, ObjectValue):
        method = interp.attribute(right, "__contains__")
        if isinstance(method, BoundMethod) and (
            right.contents is None or isinstance(method.function, FunctionValue)
        ):
            held = interp.call(method, [left], {}, node)
            return held if isinstance(op, ast.In) else unary(interp, ast.Not(), held, node)
        right = right.contents if right.contents is not None else right
    if isinstance(right, DictValue):
        registries.fill(interp, right, constant(left))
    found = _contained(left, right)
    if found is not None:
        return Const(found == isinstance(op, ast.In))
    default_left, default_right = default_of(left), default_of(right)
    default = None
    if default_left is not None and default_right is not None:
        default = _contained(default_left, default_right)
    if isinstance(right, External) and right.name == "os.environ":
        default = False  # unset where nothing tells
    if isinstance(right, DictValue) and right.filled_by is not None and default is None:
        default = False  # what gives it this key was not found
    positive = Unknown(combined(In, [left, right], node), "bool", None if default is None else Const(default))
    return positive if isinstance(op, ast.In) else unary(interp, ast.Not(), positive, node)


def _contained(item: Value, container: Value) -> bool | None:
    item, container = plain(item), plain(container)
    if isinstance(item, Unknown):
        return None
    if isinstance(container, Const) and isinstance(container.value, str) and isinstance(item, Const):
        return isinstance(item.value, str) and item.value in container.value
    if isinstance(container, DictValue) and isinstance(item, Const):
        return True if item.value in container.items else (None if container.open else False)
    if isinstance(container, ModuleValue) and isinstance(item, Const):
        return True if item.value in container.children else (None if container.open else False)
    if isinstance(container, (ListValue, TupleValue, SetValue)):
        answers = [_same(item, other) for other in container.items]
        if True in answers:
            return True
        return None if None in answers or container.open else False
    return None


def truth(interp: Interpreter, value: Value, node: ast.AST | None = None) -> bool:
    """Whether a value is true; an unknown is decided by the world."""
    value = interp.settled(value)
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


def boolean(interp: Interpreter, node: ast.BoolOp, evaluate: Callable[[ast.expr], Value]) -> Value:
    """``a and b``, ``a or b``: the operand that decides."""
    is_or = isinstance(node.op, ast.Or)
    result: Value = TRUE
    pending: list[Unknown] = []
    for operand in node.values:
        result = interp.settled(evaluate(operand))
        if isinstance(result, Unknown):
            pending.append(result)
            decided = truth(interp, result, operand)
        else:
            decided = known_truth(result)
        if decided == is_or:
            return _decided(result, decided)
    return _decided(result, not is_or) if pending else result


def _decided(value: Value, answer: bool) -> Value:
    """An operand after its truth was decided: a condition is that truth, a value itself."""
    if isinstance(value, Unknown) and value.hint == "bool":
        return Const(answer)
    return value


CALLABLES = (FunctionValue, BoundMethod, ClassValue, External, Partial, ModuleValue)
