"""Operators over traced values: tensors stay tensors, sizes stay sizes."""

from __future__ import annotations

import ast
from dataclasses import replace

from tsguard.analysis import values as py
from tsguard.analysis.python import comparisons, operations
from tsguard.analysis.trace import shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import asked, checked
from tsguard.analysis.trace.shapes import dims
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    NOWHERE,
    Derived,
    Equation,
    Fixed,
    Number,
    Opaque,
    Shape,
    Traced,
    Truths,
    Untraced,
    frozen,
    is_live,
    is_symbolic,
    origin_of,
    parts,
    plainly,
)
from tsguard.language.rule_names import RuleName

_TRACED = (Traced, Derived, Shape, py.TensorValue)


def concerns(*values: py.Value) -> bool:
    """Whether an operator over these values is one over traced values."""
    return any(isinstance(value, _TRACED) for value in values)


def tensor(values: list[py.Value], node: ast.AST | None) -> py.TensorValue:
    """The tensor that an operator makes of values: of inputs, of module state, or constant."""
    origin = origin_of(values)
    if origin is not None:
        return Traced(origin=origin.then(node))
    others = [value for value in parts(values) if isinstance(value, Traced)]
    first = next((value for value in others if value.of == "random"), others[0] if others else None)
    return py.TensorValue() if first is None else Traced(origin=first.origin.then(node), of=first.of)


def binary(tracer: Tracer, op: ast.operator, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    """``left op right`` where one of them is traced."""
    if isinstance(left, py.TensorValue) or isinstance(right, py.TensorValue):
        used(tracer, [left, right], node)
        name = "matmul" if isinstance(op, ast.MatMult) else "add"
        return shaping.of_call(tracer, name, [left, right], {}, tensor([left, right], node))
    if isinstance(left, py.TupleValue) and isinstance(right, py.TupleValue) and isinstance(op, ast.Add):
        return _concatenated(left, right)
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, (py.ListValue, py.TupleValue)) and isinstance(op, ast.Mult):
            return _repeated(tracer, op, sequence, times, node)
    if isinstance(left, (Untraced, Opaque)) or isinstance(right, (Untraced, Opaque)):
        return left if isinstance(left, (Untraced, Opaque)) else right
    if operations.hint_of(left) == "str" and isinstance(op, ast.Mod):
        return as_text([right], node)
    if isinstance(left, Number) or isinstance(right, Number):
        return _calculated(tracer, op, left, right, node)
    return _fixed(operations.binary(tracer, op, left, right, node), left, right)


def _concatenated(left: py.TupleValue, right: py.TupleValue) -> py.Value:
    items = (*left.items, *right.items)
    if left.open or right.open:
        return joined_sizes([left, right])
    return py.TupleValue(items)


def joined_sizes(parts_given: list[py.TupleValue]) -> Shape:
    """The sizes of one after those of another, where their number is open."""
    items = tuple(item for part in parts_given for item in part.items)
    found: Extent | None = Extent()
    for part in parts_given:
        more = (
            part.extent if isinstance(part, Shape) and part.open else Extent(tuple(map(dim_of, part.items)))
        )
        if (
            found is None
            or more is None
            or (more.lead is not None and (found.dims or found.lead is not None))
        ):
            found = None
        else:
            found = Extent((*found.dims, *more.dims), found.lead or more.lead)
    return Shape(items, True, origin=origin_of(parts_given) or NOWHERE, extent=found)


def _repeated(
    tracer: Tracer, op: ast.operator, sequence: py.ListValue | py.TupleValue, times: py.Value, node: ast.AST
) -> py.Value:
    if isinstance(times, Number) and is_live(times):
        report_number(tracer, "index", times, node)
    times = plainly(times)
    return operations.binary(
        tracer, op, sequence, times if not isinstance(times, Derived) else py.Unknown(), node
    )


def as_text(values: list[py.Value], node: ast.AST | None) -> py.Value:
    """A string made of traced values: a constant of the trace, which matters if it is used."""
    origin = origin_of(values)
    if origin is None:
        return py.Unknown(None, "str")
    of_data = any(isinstance(v, Traced) or getattr(v, "kind", "") == "data" for v in values)
    return frozen(origin.then(node), "data" if of_data else "size", "str", pending=True)


def _calculated(tracer: Tracer, op: ast.operator, left: py.Value, right: py.Value, node: ast.AST) -> Number:
    """A number of sizes, which is as much the same for every input as they are."""
    result = _number(left, right, "float" if isinstance(op, ast.Div) else "", node)
    result.dim = _dim(op, dim_of(left), dim_of(right))
    result.known = shaping.known_value(tracer.facts, result.dim)
    if result.known is None:
        plain = (plainly(left), plainly(right))
        if not any(isinstance(value, Derived) for value in plain):
            result.known = _known(operations.binary(tracer, op, *plain, node))
    return result


def _known(value: py.Value) -> py.Value | None:
    """What plain Python has made of known numbers."""
    return value if isinstance(value, (py.Const, py.Unknown)) else None


def _dim(op: ast.operator, left: Dim | None, right: Dim | None) -> Dim | None:
    if left is None or right is None:
        return None
    found: Dim | None = None
    if isinstance(op, ast.Add):
        found = left.plus(right)
    elif isinstance(op, ast.Sub):
        found = left.plus(right, -1)
    elif isinstance(op, ast.Mult):
        found = left.times(right)
    elif isinstance(op, ast.FloorDiv):
        found = left.floor(right)
    elif isinstance(op, ast.Mod):
        found = dims.number(0) if left.over(right) is not None else None
    return found if found is not None and found.is_simple else None


def _number(left: py.Value, right: py.Value, hint: str, node: ast.AST | None) -> Number:
    numbers = [v for v in (left, right) if isinstance(v, Number)]
    leading = next((v for v in numbers if v.kind == "data"), numbers[0])
    hints = {operations.hint_of(v) for v in (left, right)}
    return Number(
        None,
        hint or ("float" if "float" in hints else "int"),
        origin=leading.origin.then(node),
        kind=leading.kind,
        live=any(v.live for v in numbers),
        pending=any(v.pending for v in numbers) and not any(v.live for v in numbers),
    )


def _fixed(result: py.Value, *operands: py.Value) -> py.Value:
    """A result of ordinary Python over a fixed property is as fixed as that."""
    about = next((v for v in operands if isinstance(v, Fixed)), None)
    if about is None:
        return result
    default = result.default if isinstance(result, py.Unknown) else result
    hint = operations.hint_of(result)
    return Fixed(None, hint, default, origin=about.origin, about=about.about)


def unary(tracer: Tracer, op: ast.unaryop, value: py.Value, node: ast.AST) -> py.Value:
    """``op value`` for a traced value; ``not`` asks for its truth."""
    if isinstance(value, py.TensorValue):
        return shaping.of_call(tracer, "neg", [value], {}, tensor([value], node))
    if isinstance(value, Number):
        if isinstance(op, ast.USub):
            return _calculated(tracer, ast.Mult(), value, py.Const(-1), node)
        return (
            replace(value, origin=value.origin.then(node))
            if isinstance(op, ast.UAdd)
            else _number(value, value, "", node)
        )
    if isinstance(value, Fixed) and not isinstance(op, ast.Not):
        return _fixed(operations.unary(tracer, op, py.Unknown(None, value.hint, value.default), node), value)
    return value


def compare(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    """``left op right`` for a comparison where one of them is traced."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(tracer, op, left, right, node)
    if isinstance(op, (ast.In, ast.NotIn)):
        return _membership(tracer, op, left, right, node)
    if py.is_none(left) or py.is_none(right):
        other = right if py.is_none(left) else left
        return py.Unknown(None, "bool") if isinstance(other, Opaque) else py.Const(isinstance(op, ast.NotEq))
    if isinstance(left, py.TensorValue) or isinstance(right, py.TensorValue):
        used(tracer, [left, right], node)
        answers = tensor([left, right], node)
        answers.filling = _compared_elements(tracer, op, left, right, node)
        return shaping.of_call(tracer, "eq", [left, right], {}, answers)
    if isinstance(left, (Untraced, Opaque)) or isinstance(right, (Untraced, Opaque)):
        return left if isinstance(left, (Untraced, Opaque)) else right
    if isinstance(left, (py.TupleValue, py.ListValue)) or isinstance(right, (py.TupleValue, py.ListValue)):
        return _compared_sequences(tracer, op, left, right, node)
    if isinstance(left, Number) or isinstance(right, Number):
        return _compared(tracer, op, left, right, node)
    compared = _fixed(comparisons.compare(tracer, op, _plain(left), _plain(right), node), left, right)
    if isinstance(compared, Fixed) and compared.default is None and _asks_for_half(left, right):
        compared.default = py.Const(isinstance(op, ast.NotEq))
    return compared


def _compared_elements(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST
) -> py.Value | None:
    """What a comparison of a tensor with a constant holds, where all elements of the tensor are one number."""
    sides = [side.filling if isinstance(side, py.TensorValue) else side for side in (left, right)]
    if not all(isinstance(side, py.Const) for side in sides):
        return None
    found = comparisons.compare(tracer, op, sides[0] or py.NONE, sides[1] or py.NONE, node)
    return found if isinstance(found, py.Const) else None


def _asks_for_half(left: py.Value, right: py.Value) -> bool:
    """Whether a dtype is compared with one that an example has only where somebody says so."""
    about_dtype = any(isinstance(side, Fixed) and side.about == "dtype" for side in (left, right))
    return about_dtype and any(
        isinstance(side, py.Atom) and side.name in ("float16", "bfloat16") for side in (left, right)
    )


def _plain(value: py.Value) -> py.Value:
    """A fixed property as the interpreter of ordinary Python knows it."""
    return py.Unknown(None, value.hint, value.default) if isinstance(value, Fixed) else value


def _compared(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> Number:
    """A comparison of sizes: what it comes to where that is the same for every input."""
    result = _number(left, right, "bool", node)
    plain = (plainly(left), plainly(right))
    if not any(isinstance(value, Derived) for value in plain):
        result.known = _known(comparisons.compare(tracer, op, *plain, node))
        return result
    one, other = dim_of(left), dim_of(right)
    if one is None or other is None:
        return result
    result.tells = _told(op, ((one, other),))
    one, other = tracer.facts.resolved(one), tracer.facts.resolved(other)
    difference = one.plus(other, -1).number
    if difference is not None:
        result.known = _known(comparisons.compare(tracer, op, py.Const(difference), py.Const(0), node))
    elif not tracer.serves_others:
        result.known = _of_what_is_not_empty(op, one, other)
        if result.known is not None:
            tracer.report("untraced-check/empty", node, result.origin)
    return result


def _of_what_is_not_empty(op: ast.cmpop, left: Dim, right: Dim) -> py.Value | None:
    """A comparison that comes out alike for all inputs of which no size is 0, as ``n > 0`` does."""
    more, less = left.plus(right, -1).least(), right.plus(left, -1).least()
    if isinstance(op, (ast.Eq, ast.NotEq)):
        differ = max(more or 0, less or 0) > 0
        return py.Const(isinstance(op, ast.NotEq)) if differ else None
    if isinstance(op, (ast.Lt, ast.GtE)):
        more, less, op = less, more, ast.Gt() if isinstance(op, ast.Lt) else ast.LtE()
    if not isinstance(op, (ast.Gt, ast.LtE)):
        return None
    if more is not None and more > 0:
        return py.Const(isinstance(op, ast.Gt))
    return py.Const(isinstance(op, ast.LtE)) if less is not None and less >= 0 else None


def _told(op: ast.cmpop, equations: tuple[Equation, ...]) -> Truths:
    if isinstance(op, ast.Eq):
        return Truths(if_true=equations)
    return Truths(if_false=equations) if isinstance(op, ast.NotEq) else Truths()


def _compared_sequences(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST
) -> py.Value:
    """Shapes are compared size by size; the first that differs decides."""
    origin = origin_of([left, right])
    if origin is None:
        return py.Unknown(None, "bool")
    result = Number(None, "bool", origin=origin.then(node))
    if isinstance(op, (ast.Eq, ast.NotEq)) and _are_of_one_extent(tracer, left, right):
        result.known = py.Const(isinstance(op, ast.Eq))
        return result
    pairs = _pairs(tracer, left, right)
    if pairs is not None and isinstance(op, (ast.Eq, ast.NotEq)):
        equations = tuple((a, b) for a, b in pairs if a is not None and b is not None)
        result.tells = _told(op, equations)
        if len(equations) == len(pairs) and all(a == b for a, b in equations):
            result.known = py.Const(isinstance(op, ast.Eq))
        elif any(_differ(a, b) for a, b in equations):
            result.known = py.Const(isinstance(op, ast.NotEq))
    return result


def _are_of_one_extent(tracer: Tracer, left: py.Value, right: py.Value) -> bool:
    """Whether two shapes of open rank are the same for every input."""
    if not isinstance(left, Shape) or not isinstance(right, Shape):
        return False
    if left.extent is None or right.extent is None:
        return False
    one, other = tracer.facts.extent(left.extent), tracer.facts.extent(right.extent)
    return one == other and None not in one.dims and (one.lead is None or one.lead.tensor is not None)


def _pairs(tracer: Tracer, left: py.Value, right: py.Value) -> list[tuple[Dim | None, Dim | None]] | None:
    """The sizes of two shapes beside each other; None where their numbers are open or differ."""
    sides: list[list[Dim | None]] = []
    for value in (left, right):
        if not isinstance(value, (py.TupleValue, py.ListValue)) or value.open:
            return None
        found = [dim_of(item) for item in value.items]
        sides.append([None if dim is None else tracer.facts.resolved(dim) for dim in found])
    return list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else None


def _differ(left: Dim, right: Dim) -> bool:
    return bool(left.plus(right, -1).number)


def _identity(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    other = right if py.is_none(left) else left
    if (py.is_none(left) or py.is_none(right)) and isinstance(other, (Traced, Number, Shape, Untraced)):
        return py.Const(isinstance(op, ast.IsNot))
    if isinstance(left, Opaque) or isinstance(right, Opaque):
        return py.Unknown(None, "bool")
    return _fixed(comparisons.compare(tracer, op, _plain(left), _plain(right), node), left, right)


def _membership(
    tracer: Tracer, op: ast.cmpop, item: py.Value, container: py.Value, node: ast.AST
) -> py.Value:
    live = [value for value in (item, container) if isinstance(value, Traced) and is_live(value)]
    if live and not (live[0] is item and isinstance(container, (py.DictValue, py.SetValue))):
        value = live[0]
        report_number(tracer, "condition", value, node)
        return frozen(value.origin.then(node), "data", "bool")
    if isinstance(container, (py.DictValue, py.SetValue)):
        if tracer.state.holds(container) and any(
            is_live(part) or is_symbolic(part) for part in parts([item])
        ):
            return py.Const(isinstance(op, ast.NotIn))  # sizes are new tensors each time: no cache holds one
        item = Number(None, origin=item.origin) if isinstance(item, Shape) else item
    if (
        isinstance(item, Number)
        and item.known is not None
        and not isinstance(container, (py.DictValue, py.SetValue))
    ):
        return comparisons.compare(tracer, op, item.known, container, node)
    if is_symbolic(item) and isinstance(item, Number):
        hashed = isinstance(container, (py.DictValue, py.SetValue))
        report_number(tracer, "key" if hashed else "condition", item, node)
        return frozen(item.origin.then(node), "size", "bool")
    if isinstance(item, Number):
        used(tracer, [item], node)
        return frozen(item.origin.then(node), item.kind, "bool")
    if isinstance(item, Fixed) or isinstance(container, Fixed):
        return _fixed(comparisons.compare(tracer, op, _plain(item), _plain(container), node), item, container)
    return py.Unknown(None, "bool")


def report_number(tracer: Tracer, how: str, value: Number | Traced, node: ast.AST | None) -> None:
    """Report that Python took the value of what the trace was following, and how."""
    if tracer.check is not None and how not in ("range", "key"):
        rule: RuleName = checked(value, serves_others=tracer.serves_others)
        tracer.report(rule, tracer.check, value.origin)
        return
    tracer.report(asked(value, how), node, value.origin)
