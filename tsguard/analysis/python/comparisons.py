"""Comparisons: of constants at once, of unknowns as questions; identity and membership."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from tsguard.analysis.budgets import TYPICAL_SIZE
from tsguard.analysis.python import (
    iteration,
    records,
    registries,
    special_methods,
    surroundings,
    tensor_sizes,
)
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.operations import combined, default_of, unary
from tsguard.analysis.terms import (
    Compare,
    Eq,
    In,
    Is,
    Item,
    Named,
)
from tsguard.analysis.values import (
    EITHER,
    FALSE,
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
    RangeValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Untold,
    Value,
    VersionText,
    constant,
    is_none,
    mapped,
    plain,
)

_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


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
    if isinstance(left, ObjectValue) or isinstance(right, ObjectValue):
        if isinstance(op, ast.NotEq) and not special_methods.says_differs(interp, left):
            same = special_methods.compared(interp, ast.Eq(), left, right, node)
            if same is not None:
                return unary(interp, ast.Not(), same, node)
        said = special_methods.compared(interp, op, left, right, node)
        if said is not None:
            return said
        fields = records.alike(interp, op, left, right)
        if fields is not None:
            return compare(interp, op, *fields, node)
        left, right = mapped(left), mapped(right)
    sign, function = _COMPARE[type(op)]
    result = _compared(function, left, right)
    if result is not None:
        return Const(result)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        return TensorValue(sizes=tensor_sizes.together(left, right))
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


_GENERIC = frozenset(
    {"Callable", "Dict", "Iterable", "List", "Sequence", "Tuple", "Type", "dict", "list", "tuple", "type"}
)
_PLAIN = frozenset({"bool", "complex", "float", "int", "str", "Callable", "Module", *_GENERIC})


def _likely(function: Callable[[Any, Any], Any], right: Value) -> bool:
    """Whether a comparison of what is not known, a size mostly, is likely true."""
    if (
        not isinstance(right, Const)
        or isinstance(right.value, bool)
        or not isinstance(right.value, (int, float))
    ):
        return True
    return right.value != 0 if function is operator.eq else bool(function(TYPICAL_SIZE, right.value))


def _compared(function: Callable[[Any, Any], Any], left: Value, right: Value) -> bool | None:
    if isinstance(left, VersionText) or isinstance(right, VersionText):
        one, other = _version(left), _version(right)
        if one is not None and other is not None:
            return bool(function(one, other))
    if isinstance(left, Const) and isinstance(right, Const):
        try:
            return bool(function(left.value, right.value))
        except TypeError:
            return None
    if function in (operator.eq, operator.ne):
        same = _same(left, right)
        return None if same is None else same == (function is operator.eq)
    a, b = (known(v) if isinstance(v, SetValue) else _constants(v) for v in (left, right))
    if a is None or b is None or type(left) is not type(right):
        return None
    if isinstance(a, Value) or isinstance(b, Value):
        return None
    try:
        return bool(function(a, b))
    except TypeError:
        return None


def _version(value: Value) -> list[int] | None:
    """The numbers of a version, written as a text or a tuple; None for what is none, or comes before a release."""
    parts = _constants(value) or str(constant(value)).partition("+")[0].split(".")
    if not all(isinstance(part, int) or str(part).isdigit() for part in parts):
        return None
    numbers = [int(str(part)) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def _constants(value: Value) -> list[object] | None:
    """What a list or tuple of constants holds."""
    if not isinstance(value, (ListValue, TupleValue)) or value.open:
        return None
    held = [known(item) for item in value.items]
    return None if any(isinstance(part, Value) for part in held) else held


def _same(left: Value, right: Value) -> bool | None:
    """Whether two values are equal, where that is certain."""
    left, right = plain(left), plain(right)
    if left is right:
        return True
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return None
    if isinstance(left, (Const, Atom, External)) and isinstance(right, (Const, Atom, External)):
        return None if _may_be_constant(left, right) or _may_be_constant(right, left) else left == right
    if isinstance(left, (TupleValue, ListValue)) and isinstance(right, (TupleValue, ListValue)):
        if left.open or right.open:
            return None
        if type(left) is not type(right) or len(left.items) != len(right.items):
            return False
        parts = [_same(a, b) for a, b in zip(left.items, right.items, strict=True)]
        return None if None in parts else all(parts)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, _BY_IDENTITY) and isinstance(other, (*_BY_IDENTITY, *_TOLD_APART, External)):
            return one == other
    if isinstance(left, DictValue) and isinstance(right, DictValue):
        return _same_items(left, right)
    if isinstance(left, SetValue) and isinstance(right, SetValue):
        return _same_members(left, right)
    if is_none(left) or is_none(right):
        return False
    is_told = isinstance(left, _TOLD_APART) and isinstance(right, _TOLD_APART)
    return False if is_told and type(left) is not type(right) else None


def _may_be_constant(named: Value, given: Value) -> bool:
    """Whether a name of another package may stand for a number or a text; those of torch do in tables only."""
    is_foreign = isinstance(named, External) and not named.name.startswith(("torch.", "builtins."))
    return is_foreign and isinstance(given, Const) and given.value is not None


_BY_IDENTITY = (ClassValue, EnumMember, FunctionValue)
# No value of one of these kinds equals one of another.
_TOLD_APART = (Const, DictValue, ListValue, SetValue, TupleValue)


def _same_items(left: DictValue, right: DictValue) -> bool | None:
    keys = (*left.items, *right.items)
    if left.open or right.open or any(isinstance(key, Value) for key in keys):
        return None
    if left.items.keys() != right.items.keys():
        return False
    parts = [_same(value, right.items[key]) for key, value in left.items.items()]
    return False if False in parts else None if None in parts else True


def _same_members(left: SetValue, right: SetValue) -> bool | None:
    sides = [{item.value for item in side.items if isinstance(item, Const)} for side in (left, right)]
    is_told = not (left.open or right.open) and len(sides[0]) == len(left.items)
    return sides[0] == sides[1] if is_told and len(sides[1]) == len(right.items) else None


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
        same = left == right
    if same is not None:
        return Const(same == isinstance(op, ast.Is))
    made = Untold if is_none(right) and type(left) is Unknown and _is_untold(left) else Unknown
    positive = made(combined(Is, [left, right], node), "bool", _default_identity(left, right))
    return positive if isinstance(op, ast.Is) else unary(interp, ast.Not(), positive, node)


def _is_untold(value: Unknown) -> bool:
    """Whether nothing tells a value: no argument, no default, no type."""
    return value.term is None and value.default is None and not value.hint


def _is_never_none(value: Unknown) -> bool:
    """Whether a parameter is declared to be something else, and None is not its default; or whether what an
    unknown key gives of a dict is none whatever the key."""
    if value.default is not None and is_none(value.default):
        return False
    term = value.term
    if (
        isinstance(term, Item)
        and isinstance(term.owner, Named)
        and isinstance(term.owner.identity, DictValue)
    ):
        held = term.owner.identity
        return not held.open and not any(isinstance(i, Unknown) or is_none(i) for i in held.items.values())
    declared = value.annotation
    if isinstance(declared, ast.Subscript):
        return _declared_name(declared.value) in _GENERIC
    return _declared_name(declared) in _PLAIN


def _declared_name(declared: ast.expr | None) -> str:
    if isinstance(declared, ast.Attribute):
        return declared.attr
    return declared.id if isinstance(declared, ast.Name) else ""


def _default_identity(left: Value, right: Value) -> Value | None:
    a, b = default_of(left), default_of(right)
    if a is None or b is None:
        is_usual = is_none(right) and not (isinstance(left, Unknown) and left.hint == EITHER)
        return FALSE if is_usual else None
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value is b.value)
    return FALSE if is_none(a) or is_none(b) else Const(a == b)


def _listed(interp: Interpreter, value: ObjectValue) -> Value:
    """What an instance without ``__contains__`` is searched in: the items that it gives."""
    items, is_open = iteration.iterate(interp, value)
    return value if is_open else TupleValue(tuple(items))


def _membership(interp: Interpreter, op: ast.cmpop, left: Value, right: Value, node: ast.AST | None) -> Value:
    if isinstance(right, ObjectValue):
        method = interp.attribute(right, "__contains__")
        if isinstance(method, BoundMethod) and (
            right.contents is None or isinstance(method.function, FunctionValue)
        ):
            held = interp.call(method, [left], {}, node)
            return held if isinstance(op, ast.In) else unary(interp, ast.Not(), held, node)
        right = right.contents if right.contents is not None else _listed(interp, right)
    if isinstance(right, DictValue):
        registries.fill(interp, right, constant(left))
    found = _contained(left, right)
    if found is not None:
        return Const(found == isinstance(op, ast.In))
    default_left, default_right = default_of(left), default_of(right)
    default = None
    if default_left is not None and default_right is not None:
        default = _contained(default_left, default_right)
    if isinstance(right, External) and right.name == "sys.modules":
        loaded = surroundings.is_loaded(interp, constant(left))
        if loaded is not None:
            return Const(loaded == isinstance(op, ast.In))
    if isinstance(right, External) and right.name == "os.environ":
        default = False  # unset where nothing tells
    if isinstance(right, DictValue) and (right.filled_by or right.rest) is not None and default is None:
        default = False  # what gives it this key was not found
    if isinstance(right, DictValue) and right.rest is not None:
        right = right.rest
    positive = Unknown(combined(In, [left, right], node), "bool", None if default is None else Const(default))
    return positive if isinstance(op, ast.In) else unary(interp, ast.Not(), positive, node)


def _in_range(number: object, container: RangeValue) -> bool | None:
    """``number in range(n)``; None where the bounds are not told."""
    bounds = [constant(bound) for bound in (container.start, container.stop, container.step)]
    whole = [bound for bound in bounds if isinstance(bound, int)]
    return number in range(*whole) if len(whole) == len(bounds) and whole[-1] else None


def _contained(item: Value, container: Value) -> bool | None:
    item, container = plain(item), plain(container)
    if isinstance(container, (DictValue, ListValue, TupleValue, SetValue)) and not container.items:
        return None if container.open else False
    if isinstance(item, Unknown):
        return None
    if isinstance(container, Const) and isinstance(container.value, str) and isinstance(item, Const):
        return isinstance(item.value, str) and item.value in container.value
    if isinstance(container, RangeValue) and isinstance(item, Const):
        return _in_range(item.value, container)
    if isinstance(container, DictValue) and isinstance(item, Const):
        return True if item.value in container.items else (None if container.open else False)
    if isinstance(container, DictValue) and isinstance(item, (ClassValue, External, FunctionValue)):
        container = SetValue([key for key in container.items if isinstance(key, Value)], container.open)
    if isinstance(container, ModuleValue) and isinstance(item, Const):
        return True if item.value in container.children else (None if container.open else False)
    if isinstance(container, (ListValue, TupleValue, SetValue)):
        answers = [_same(item, other) for other in container.items]
        if True in answers:
            return True
        return None if None in answers or container.open else False
    return None
