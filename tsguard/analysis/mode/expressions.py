"""Expressions over values that differ by mode or by path."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.analysis.events import text_of
from tsguard.analysis.mode import paths
from tsguard.analysis.mode.choices import (
    MODES,
    ByMode,
    Either,
    Mode,
    by_mode,
    differs,
    differs_within,
    either,
    in_mode,
    lifted,
    same,
    truths,
)
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import comparisons, containers, operations
from tsguard.analysis.python import expressions as python_expressions
from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.iteration import keys_of
from tsguard.analysis.terms import Attribute, placed
from tsguard.analysis.values import (
    FALSE,
    Const,
    DictValue,
    ListValue,
    ModuleValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

_CONTAINERS = (dict, list, set, str, tuple)


def _attribute(walk: ModeInterpreter, node: ast.Attribute, scope: Scope) -> Value:
    """An attribute; of several values, that of each which has it: code that takes it asked before."""
    owner = walk.evaluate(node.value, scope)
    if not isinstance(owner, Either):
        return either([_named(walk, owner, python_expressions.attribute_of(walk, owner, node, scope), node)])
    found = [(each, python_expressions.attribute_of(walk, each, node, scope)) for each in owner.options]
    there = [(each, value) for each, value in found if not _is_absent(value, node)]
    return either(_named(walk, each, value, node) for each, value in there or found)


def _is_absent(value: Value, node: ast.Attribute) -> bool:
    return isinstance(value, Unknown) and value.term == placed(node)


def _named(walk: ModeInterpreter, owner: Value, value: Value, node: ast.Attribute) -> Value:
    """An attribute under the name of its place, where the interpreter has none for it and it is no module.

    That is a method of a tensor or a container, and what its owner certainly has not: to call it raises.
    """
    place = placed(node.value)
    if type(value) is not Unknown or value.unread is not None or place is None:
        return value
    is_method = isinstance(owner, Unknown) and value.term is None and _is_method(walk, node.attr)
    return Unknown(Attribute(place, node.attr)) if is_method or _is_absent(value, node) else value


def _is_method(walk: ModeInterpreter, name: str) -> bool:
    return name in walk.tables.tensor or any(hasattr(container, name) for container in _CONTAINERS)


def _boolean(walk: ModeInterpreter, node: ast.BoolOp, scope: Scope) -> Value:
    modes: tuple[Mode, ...] = MODES if walk.mode == "both" else (walk.mode,)
    results: dict[Mode, list[Value]] = {mode: [] for mode in modes}
    pending = set(modes)
    is_open, is_news = False, False
    for operand in node.values:
        if not pending:
            break
        value = _in(walk, pending, operand, scope)
        is_news = is_news or differs([walk.settled(value)])
        is_open = is_open or (isinstance(walk.settled(value), ByMode) and truths(walk, value) == (None, None))
        for mode in list(pending):
            if _decides(walk, node.op, in_mode(value, mode), results[mode]):
                pending.discard(mode)
    if is_open and len(pending) == 2:
        return ByMode(None, train=Unknown(), eval=Unknown())
    for mode in pending:
        results[mode].append(in_mode(value, mode))
    outcomes = [either(results[mode]) for mode in modes]
    return by_mode(*outcomes, known=not is_news) if len(outcomes) == 2 else outcomes[0]


def _in(walk: ModeInterpreter, modes: set[Mode], node: ast.expr, scope: Scope) -> Value:
    if len(modes) == 2 or walk.mode != "both":
        return walk.evaluate(node, scope)
    [mode] = modes
    with walk.only(mode):
        return walk.evaluate(node, scope)


def _decides(walk: ModeInterpreter, op: ast.boolop, value: Value, results: list[Value]) -> bool:
    """Whether an operand ends the evaluation for certain; what it may end it with is kept."""
    absorbing = isinstance(op, ast.Or)
    answer, _ = truths(walk, value)
    if answer is absorbing:
        results.append(value)
        return True
    if answer is None:
        is_value = absorbing and not (isinstance(value, Unknown) and value.hint == "bool")
        results.append(value if is_value else Const(absorbing))
    return False


def _conditional(walk: ModeInterpreter, node: ast.IfExp, scope: Scope) -> Value:
    test = walk.evaluate(node.test, scope)
    return paths.choose(walk, test, node, scope)


def _binary(walk: ModeInterpreter, node: ast.BinOp, scope: Scope) -> Value:
    operands = [walk.evaluate(node.left, scope), walk.evaluate(node.right, scope)]
    return _operated(walk, node, operands, lambda v: operations.binary(walk, node.op, v[0], v[1], node))


def _unary(walk: ModeInterpreter, node: ast.UnaryOp, scope: Scope) -> Value:
    operand = walk.evaluate(node.operand, scope)
    if isinstance(node.op, ast.Not) and isinstance(operand, (TensorValue, ListValue, TupleValue)):
        is_set = isinstance(operand, TensorValue) and truths(walk, operand)[0]
        return FALSE if is_set else Unknown()
    return _operated(walk, node, [operand], lambda v: operations.unary(walk, node.op, v[0], node))


def _compare(walk: ModeInterpreter, node: ast.Compare, scope: Scope) -> Value:
    operands = [walk.evaluate(operand, scope) for operand in (node.left, *node.comparators)]
    if len(node.ops) > 1:
        return Unknown()
    return _operated(walk, node, operands, lambda v: comparisons.compare(walk, node.ops[0], v[0], v[1], node))


def _operated(
    walk: ModeInterpreter, node: ast.expr, operands: list[Value], operate: Callable[[list[Value]], Value]
) -> Value:
    """An operator's result; a tensor computed with what differs by mode differs by mode."""
    result = lifted(walk, operands, operate)
    if isinstance(result, TensorValue) and differs(map(walk.settled, operands)):
        walk.report("training-branch", node, test=text_of(node))
    return result


def _subscript(walk: ModeInterpreter, node: ast.Subscript, scope: Scope) -> Value:
    owner = walk.evaluate(node.value, scope)
    key = walk.evaluate(node.slice, scope)
    is_choice = isinstance(owner, TensorValue) or _holds_several(owner)
    if is_choice and differs_within([walk.settled(key)]):
        result = lifted(walk, [owner, key], lambda v: _item(walk, v[0], v[1], node))
        if isinstance(result, TensorValue):
            walk.report("training-branch", node, test=text_of(node))
        return result
    if isinstance(owner, TensorValue) and owner.role:
        return TensorValue() if _picks(walk.settled(key)) else owner
    return lifted(walk, [owner, key], lambda v: _item(walk, v[0], v[1], node))


def _in_each_mode(walk: ModeInterpreter, node: ast.expr, scope: Scope) -> Value:
    """What is put together of several parts: once more for each mode where one of them differs by mode."""
    handler = python_expressions.HANDLERS[type(node)]
    is_met, walk.is_met, told = walk.is_met, False, len(walk.events)
    value: Value = handler(walk, node, scope)
    is_split, walk.is_met = walk.is_met and walk.mode == "both", is_met or walk.is_met
    if not is_split:
        return value
    values = []
    for mode in MODES:
        with walk.only(mode):
            values.append(handler(walk, node, scope))
    if _holds_the_same(*values):
        return value
    if not isinstance(node, ast.JoinedStr) and len(walk.events) == told:
        walk.report("training-branch", node, test=text_of(node))
    return by_mode(*values, known=not isinstance(node, ast.JoinedStr))


def _holds_the_same(one: Value, other: Value) -> bool:
    parts = [_held(value) for value in (one, other)]
    return len(parts[0]) == len(parts[1]) and all(map(same, *parts))


def _held(value: Value) -> list[Value]:
    if isinstance(value, DictValue):
        return [*keys_of(value), *value.items.values()]
    return list(value.items) if isinstance(value, (ListValue, SetValue)) else [value]


def _holds_several(container: Value) -> bool:
    """Whether the items of a container are not one object again and again."""
    items = container.items if isinstance(container, (ListValue, TupleValue, DictValue)) else ()
    held = items.values() if isinstance(items, dict) else items
    return len(set(map(id, held))) > 1


def _picks(key: Value) -> bool:
    """Whether a key picks elements, by a tensor or list of places: what that gives is a copy and no view."""
    if isinstance(key, TupleValue):
        return any(_picks(part) for part in key.items)
    return isinstance(key, (TensorValue, ListValue))


def _item(walk: ModeInterpreter, owner: Value, key: Value, node: ast.expr) -> Value:
    """``owner[key]``; any of the modules where the key is not known.

    Raises:
        Raised: an item of a text is asked for by a tensor.
    """
    if isinstance(walk.settled(owner), Const) and isinstance(key, TensorValue):
        raise Raised("TypeError", node)
    if isinstance(key, Unknown) and not isinstance(walk.settled(key), Const):
        options = list(owner.children.values()) if isinstance(owner, ModuleValue) else []
        if isinstance(owner, (ListValue, TupleValue)):
            options = [item for item in owner.items if isinstance(item, ModuleValue)]
        if len(options) > 1:
            return Either(None, options=tuple(options))
    return containers.item(walk, owner, key, node)


HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    **python_expressions.HANDLERS,
    ast.Attribute: _attribute,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.Subscript: _subscript,
    ast.JoinedStr: _in_each_mode,
    ast.ListComp: _in_each_mode,
    ast.SetComp: _in_each_mode,
    ast.GeneratorExp: _in_each_mode,
    ast.DictComp: _in_each_mode,
}
