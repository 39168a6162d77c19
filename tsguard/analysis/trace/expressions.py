"""Expressions that behave differently while tracing; the others are Python's."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TypeGuard

from tsguard.analysis import values as py
from tsguard.analysis.export import data, sizes, types
from tsguard.analysis.python import assignments, comparisons, containers, operations, special_methods
from tsguard.analysis.python import expressions as python_expressions
from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.iteration import consume, iterate
from tsguard.analysis.python.private_names import attribute_name
from tsguard.analysis.trace import (
    alternatives,
    comparing,
    conditions,
    items,
    kept_constants,
    kinds,
    operands,
    operators,
    unanswered,
    writing,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.joins import joined
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    NOTHING,
    Fixed,
    Number,
    Opaque,
    Shape,
    Traced,
    Truths,
    depends,
    frozen,
    held,
    origin_of,
)
from tsguard.analysis.values import Scope
from tsguard.report.records import replace

Handler = Callable[["Tracer", ast.expr, Scope], py.Value]


def _attribute(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.Attribute)
    owner = tracer.evaluate(node.value, scope)
    tracer.node = node
    value = tracer.attribute(owner, attribute_name(node.attr, scope))
    if value is not None:
        return tracer.now(value) if tracer.written else value
    if tracer.tries or py.is_none(owner):
        raise Raised("AttributeError", node)
    if isinstance(owner, Traced):
        kinds.used_as_object(tracer, owner)
        return Opaque(None, origin=owner.origin.then(node))
    return py.Unknown()


def _binary(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.BinOp)
    left = tracer.evaluate(node.left, scope)
    right = tracer.evaluate(node.right, scope)
    if isinstance(left, py.ObjectValue) or isinstance(right, py.ObjectValue):
        said = special_methods.binary(tracer, node.op, left, right, node)
        if said is not None:
            return said
    if operators.concerns(left, right):
        return operators.binary(tracer, node.op, left, right, node)
    return held(operations.binary(tracer, node.op, left, right, node), left, right)


def _unary(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.UnaryOp)
    value = tracer.evaluate(node.operand, scope)
    if isinstance(node.op, ast.Not):
        return _negated(tracer, value, node)
    if operators.concerns(value):
        return operators.unary(tracer, node.op, value, node)
    return held(operations.unary(tracer, node.op, value, node), value)


def _negated(tracer: Tracer, value: py.Value, node: ast.UnaryOp) -> py.Value:
    if not operators.concerns(value):
        data.asked(tracer, value, node.operand)
        return operations.unary(tracer, node.op, value, node)
    if isinstance(value, Fixed) and value.about == "tracing" and value.default is not None:
        return replace(value, default=py.Const(not operations.known_truth(value.default)))
    answer: bool | None = conditions.decide(tracer, value, node.operand, "boolean")
    if answer is not None:
        return py.Const(not answer)
    return _telling(_answered(value, node), _told(value).negated())


def _told(value: py.Value) -> Truths:
    return value.tells if isinstance(value, (Number, Fixed)) else NOTHING


def _telling(value: py.Value, tells: Truths) -> py.Value:
    return replace(value, tells=tells) if isinstance(value, (Number, Fixed)) else value


def _answered(value: py.Value, node: ast.expr) -> py.Value:
    """The truth of a value after it was asked for."""
    if isinstance(value, Fixed) and value.about == "dtype":
        return replace(value, hint="bool")
    origin = origin_of([value])
    if origin is None:
        return py.Unknown(None, "bool")
    return frozen(origin.then(node), value.kind if isinstance(value, Number) else "data", "bool")


def _boolean(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    """``a and b``, ``a or b``: the operand that decides, or one of those that may."""
    assert isinstance(node, ast.BoolOp)
    is_or = isinstance(node.op, ast.Or)
    possible: py.Value | None = None
    told: Truths | None = None
    on_device = False
    passed: Fixed | None = None
    for operand in node.values[:-1]:
        value = tracer.settled(tracer.evaluate(operand, scope))
        passed = value if isinstance(value, Fixed) and value.about == "tracing" else passed
        on_device = on_device or (is_or and isinstance(value, Fixed) and value.about == "device")
        told = _together(told, _told(value), is_or=is_or)
        later = node.values[node.values.index(operand) + 1 :]
        if _is_comparison_of_sizes(value) and operands.settle(tracer, later, scope, is_or=is_or):
            data.asked(tracer, value, operand)
            sizes.decided(tracer, value, operand)
            continue
        answer = conditions.decide(tracer, value, operand, "boolean")
        if answer is not None and answer == is_or:
            rest = ast.Tuple(later, ast.Load())
            unanswered.looked_at(tracer, value, operand, partial(_lent, tracer, rest, scope), scope)
            return _decided(possible, _asked_for_device(value) if on_device else value)
        if answer is None:
            value = _answered(value, operand) if operators.concerns(value) else value
            possible = value if possible is None else joined(possible, value)
    last = tracer.evaluate(node.values[-1], scope)
    last = _asked_for_device(last) if on_device else last
    if passed is not None and isinstance(last, py.Const) and last.value is not is_or:
        last = Fixed(None, "bool", last, origin=passed.origin, about="tracing")
    tells = _together(told, _told(last), is_or=is_or)
    if possible is None or operators.concerns(last) or operands.is_result(last, possible, is_or=is_or):
        return _telling(last, tells)
    return _telling(joined(possible, last), tells)


def _is_comparison_of_sizes(value: py.Value) -> TypeGuard[Number]:
    return isinstance(value, Number) and value.live and value.kind == "size" and value.hint == "bool"


def _asked_for_device(value: py.Value) -> py.Value:
    """``on_mps(x) or is_tracing()``: what some devices need instead computes the same."""
    if isinstance(value, Fixed) and value.about == "tracing":
        return replace(value, about="device")
    return value


def _decided(possible: py.Value | None, value: py.Value) -> py.Value:
    """``a or b`` where b decides: as a flag it is that, whatever the operands before it are."""
    if possible is None or operations.hint_of(value) == "bool":
        return value
    return joined(possible, value)


def _together(one: Truths | None, other: Truths, *, is_or: bool) -> Truths:
    if one is None:
        return other
    return one.one(other) if is_or else one.both(other)


def _compare(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.Compare)
    left = tracer.evaluate(node.left, scope)
    result: py.Value = py.TRUE
    for position, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if position and conditions.decide(tracer, result, node, "boolean") is False:
            return result
        right = tracer.evaluate(comparator, scope)
        types.compared(tracer, left, right, node)
        compare = comparing.compare if _concerns_comparison(left, right) else comparisons.compare
        is_of_objects = isinstance(left, py.ObjectValue) or isinstance(right, py.ObjectValue)
        said = special_methods.compared(tracer, op, left, right, node) if is_of_objects else None
        result = said or held(compare(tracer, op, left, right, node), left, right)
        left = right
    return result


def _concerns_comparison(left: py.Value, right: py.Value) -> bool:
    return operators.concerns(left, right) or depends(left) or depends(right)


def _conditional(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.IfExp)
    test = tracer.settled(tracer.evaluate(node.test, scope))
    answer = conditions.decide(tracer, test, node.test, "conditional")
    if isinstance(test, Fixed) and test.about == "tracing" and answer is not None:
        chosen, other = (node.body, node.orelse) if answer else (node.orelse, node.body)
        values: list[py.Value] = []
        could_be = alternatives.could_be_traced(
            tracer, lambda: values.append(tracer.evaluate(other, scope)), scope
        )
        value = tracer.evaluate(chosen, scope)
        if could_be and not all(_is_same_number(tracer, value, eager) for eager in values):
            alternatives.compared(tracer, node.test, [chosen], [other], scope)
        return value
    if answer is not None:
        body, orelse = (node.body, node.orelse) if answer else (node.orelse, node.body)
        unanswered.looked_at(tracer, test, node.test, partial(_lent, tracer, orelse, scope), scope)
        return tracer.evaluate(body, scope)
    with tracer.branching(test):
        with tracer.assuming(test, True):
            value = tracer.evaluate(node.body, scope)
        with tracer.assuming(test, False):
            return joined(value, tracer.evaluate(node.orelse, scope))


def _lent(tracer: Tracer, node: ast.expr, scope: Scope) -> None:
    """Evaluate what goes on into a computation."""
    used(tracer, [tracer.evaluate(node, scope)], node)


def _is_same_number(tracer: Tracer, value: py.Value, other: py.Value) -> bool:
    """Whether two numbers come out alike: ``int(n)`` is ``n``."""
    dims = [None if (dim := dim_of(one)) is None else tracer.facts.resolved(dim) for one in (value, other)]
    return dims[0] is not None and dims[0] == dims[1]


def _subscript(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.Subscript)
    owner = tracer.evaluate(node.value, scope)
    key = tracer.evaluate(node.slice, scope)
    tracer.node = node
    found = items.item(tracer, tracer.settled(owner), key, node)
    if isinstance(owner, py.TensorValue) and found is not None:
        writing.viewed(tracer, "", owner, found)
        kept_constants.viewed(tracer, "", owner, [key], found)
    if found is None:
        found = held(containers.item(tracer, owner, key, node), owner)
    return tracer.now(found) if tracer.written else found


def _joined_text(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.JoinedStr)
    parts = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    values = [tracer.evaluate(part.value, scope) for part in parts]
    for part, value in zip(parts, values, strict=True):
        if part.format_spec is not None:
            data.formatted(tracer, [value], node)
    if any(depends(value) for value in values):
        return operators.as_text(values, node)
    return python_expressions.HANDLERS[ast.JoinedStr](tracer, node, scope)


def _comprehension(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
    found: list[py.Value] = []
    inner = Scope(scope.module, {}, scope, scope.function)
    is_open = _generate(
        tracer, node.generators, inner, lambda: found.append(tracer.evaluate(node.elt, inner))
    )
    return python_expressions.MADE[type(node)](found, is_open)


def _dict_comprehension(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.DictComp)
    result = py.DictValue({})
    inner = Scope(scope.module, {}, scope, scope.function)

    def add() -> None:
        containers.put(result, tracer.evaluate(node.key, inner), tracer.evaluate(node.value, inner))

    result.open = _generate(tracer, node.generators, inner, add) or result.open
    return result


def _yield_from(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    assert isinstance(node, ast.YieldFrom)
    tracer.node = node.value
    return python_expressions.HANDLERS[ast.YieldFrom](tracer, node, scope)


def _generate(
    tracer: Tracer, generators: list[ast.comprehension], scope: Scope, add: Callable[[], None]
) -> bool:
    """Run a comprehension's loops; True when the number of its items is open."""
    first, rest = generators[0], generators[1:]
    iterable = tracer.evaluate(first.iter, scope)
    tracer.node = first.iter
    found, is_open = consume(tracer, iterable)
    with tracer.looping(len(found), is_open=is_open):
        for value in found:
            assignments.assign(tracer, first.target, value, scope)
            answers = [
                conditions.decide(tracer, tracer.evaluate(test, scope), test, "filter") for test in first.ifs
            ]
            is_open = is_open or None in answers
            if False in answers:
                continue
            if rest:
                is_open = _generate(tracer, rest, scope, add) or is_open
            else:
                add()
    return is_open


def _tuple(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    """``(*x.shape[:-1], a, b)``: of as many sizes as nobody knows, followed by others."""
    assert isinstance(node, ast.Tuple)
    return _listed(tracer, node.elts, scope)


def _listed(tracer: Tracer, nodes: list[ast.expr], scope: Scope) -> py.TupleValue:
    if not any(isinstance(node, ast.Starred) for node in nodes):
        return py.TupleValue(tuple([tracer.evaluate(node, scope) for node in nodes]))
    given: list[py.TupleValue] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            given.append(py.TupleValue((tracer.evaluate(node, scope),)))
            continue
        value = tracer.evaluate(node.value, scope)
        if isinstance(value, Shape) and value.open:
            used(tracer, [value], node)
            given.append(value)
        else:
            given.append(py.TupleValue(*_unpacked(tracer, value)))
    if any(isinstance(part, Shape) and part.open for part in given):
        return operators.joined_sizes(given)
    return py.TupleValue(
        tuple([item for part in given for item in part.items]), any(part.open for part in given)
    )


def _unpacked(tracer: Tracer, value: py.Value) -> tuple[tuple[py.Value, ...], bool]:
    items, is_open = iterate(tracer, value)
    return tuple(items), is_open


# Methods that take sizes one by one as well as in one tuple.
_OF_SIZES = frozenset({"view", "reshape", "expand", "repeat", "new_zeros", "new_ones", "new_empty"})


def _call(tracer: Tracer, node: ast.expr, scope: Scope) -> py.Value:
    """A call; ``x.view(*x.shape[:-1], a, b)`` as ``x.view((*x.shape[:-1], a, b))``."""
    assert isinstance(node, ast.Call)
    function = tracer.evaluate(node.func, scope)
    if (
        isinstance(function, py.BoundMethod)
        and isinstance(function.receiver, py.TensorValue)
        and isinstance(function.function, py.External)
        and function.function.name.rpartition(".")[2] in _OF_SIZES
        and any(isinstance(arg, ast.Starred) for arg in node.args)
        and not node.keywords
    ):
        return tracer.call(function, [_listed(tracer, node.args, scope)], {}, node)
    return python_expressions.call_of(tracer, function, node, scope)


HANDLERS: dict[type[ast.expr], Handler] = {
    **python_expressions.HANDLERS,
    ast.Call: _call,
    ast.Tuple: _tuple,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.JoinedStr: _joined_text,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.YieldFrom: _yield_from,
}
