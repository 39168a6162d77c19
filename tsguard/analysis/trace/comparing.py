"""Comparisons over traced values: their result, if it is the same for every input."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.export import data, sizes
from tsguard.analysis.python import comparisons
from tsguard.analysis.terms import Place
from tsguard.analysis.trace import booleans, conditions, counting, dtypes, ranks, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import fixed_from, number_from, plain_number, report_number, tensor
from tsguard.analysis.trace.shapes.dims import Dim, Symbol
from tsguard.analysis.trace.shapes.facts import is_input
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    Derived,
    Equation,
    Fixed,
    Held,
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
    unbacked_of,
)


def compare(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    """``left op right`` for a comparison where one of them is traced."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(tracer, op, left, right, node)
    if isinstance(op, (ast.In, ast.NotIn)):
        is_there = tracer.by_size(right, left) is not None
        return py.Const(isinstance(op, ast.In)) if is_there else _membership(tracer, op, left, right, node)
    if py.is_none(left) or py.is_none(right):
        other = right if py.is_none(left) else left
        return py.Unknown(None, "bool") if isinstance(other, Opaque) else py.Const(isinstance(op, ast.NotEq))
    if isinstance(left, py.TensorValue) or isinstance(right, py.TensorValue):
        used(tracer, [left, right], node)
        booleans.compared(tracer, left, right, node)
        answers = dtypes.of_dtype(tensor([left, right], node), "bool")
        answers.filling = _compared_elements(tracer, op, left, right, node)
        return shaping.of_call(tracer, "eq", [left, right], {}, answers)
    share = _of_share(op, left, right)
    if share is not None:
        return share
    if isinstance(left, (Untraced, Opaque)) or isinstance(right, (Untraced, Opaque)):
        return left if isinstance(left, (Untraced, Opaque)) else right
    if isinstance(left, (py.TupleValue, py.ListValue)) or isinstance(right, (py.TupleValue, py.ListValue)):
        return _compared_sequences(tracer, op, left, right, node)
    if isinstance(left, Number) or isinstance(right, Number):
        return _compared(tracer, op, left, right, node)
    compared = fixed_from(comparisons.compare(tracer, op, _plain(left), _plain(right), node), left, right)
    if isinstance(compared, Fixed) and compared.default is None:
        compared.default, compared.tells = ranks.compared(tracer, op, left, right)
    if isinstance(compared, Fixed) and compared.default is None and _asks_for_rare(op, left, right):
        compared.default = py.Const(isinstance(op, ast.NotEq))
    return compared


def _of_share(op: ast.cmpop, left: py.Value, right: py.Value) -> py.Value | None:
    """``random.random() < p`` where p lets all through, or none."""
    limit, share = (left, right) if isinstance(right, Untraced) else (right, left)
    bound = py.constant(limit)
    if not isinstance(share, Untraced) or not share.is_share or not isinstance(bound, (int, float)):
        return None
    if 0 < bound < 1 or not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    is_below = isinstance(op, (ast.Lt, ast.LtE)) is (share is left)
    may_equal = bound == 0 and isinstance(op, ast.LtE if share is left else ast.GtE)
    return None if may_equal else py.Const(is_below is (bound >= 1))


def _compared_elements(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST
) -> py.Value | None:
    """What a comparison of a tensor with a constant holds, where all elements of the tensor are one number."""
    sides = [side.filling if isinstance(side, py.TensorValue) else side for side in (left, right)]
    if not all(isinstance(side, py.Const) for side in sides):
        return None
    found = comparisons.compare(tracer, op, sides[0] or py.NONE, sides[1] or py.NONE, node)
    return found if isinstance(found, py.Const) else None


# Dtypes that an example has only where somebody says so, and those with which some code begins all the same.
_HALF = frozenset({"float16", "bfloat16"})
_RARE = frozenset({"uint8", "int8", "int16", "float64", "complex64", "complex128"})


def _asks_for_rare(op: ast.cmpop, left: py.Value, right: py.Value) -> bool:
    """Whether a dtype is compared with one that an example mostly has not."""
    about_dtype = any(isinstance(side, Fixed) and side.about == "dtype" for side in (left, right))
    rare = _HALF | _RARE if isinstance(op, ast.Eq) else _HALF
    return about_dtype and any(isinstance(side, py.Atom) and side.name in rare for side in (left, right))


def _plain(value: py.Value) -> py.Value:
    """A fixed property as the interpreter of ordinary Python knows it."""
    return py.Unknown(None, value.hint, value.default) if isinstance(value, Fixed) else value


def _compared(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> Number:
    """A comparison of sizes: what it comes to where that is the same for every input."""
    result = number_from(left, right, "bool", node)
    plain = (plainly(left), plainly(right))
    if not any(isinstance(value, Derived) for value in plain):
        result.known = plain_number(comparisons.compare(tracer, op, *plain, node))
        return result
    one, other = dim_of(left), dim_of(right)
    are_compared = isinstance(op, (ast.Eq, ast.NotEq))
    if are_compared and not any(isinstance(plainly(side), py.Const) for side in (left, right)):
        result.lost = result.kind == "size" and (_is_lost(one) or _is_lost(other))
    if one is None or other is None:
        result.known = _of_a_size(tracer, op, left, right, node)
        return result
    result.tells = _told(op, ((one, other),))
    one, other = tracer.facts.resolved(one), tracer.facts.resolved(other)
    difference = one.plus(other, -1).number
    if difference is not None:
        result.known = plain_number(comparisons.compare(tracer, op, py.Const(difference), py.Const(0), node))
    elif not tracer.serves_others:
        result.known = _of_what_is_not_empty(op, one, other)
        if result.known is not None:
            tracer.report("untraced-check/empty", node, result.origin)
    return result


def _of_a_size(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST
) -> py.Value | None:
    """A comparison of a size with a negative number, which comes out as one of 0 does; None for any other."""
    if isinstance(left, Number) and isinstance(right, Number):
        return None
    one, other = (py.Const(0) if isinstance(s, Number) and s.natural else plainly(s) for s in (left, right))
    if not _is_negative(one) and not _is_negative(other):
        return None
    return plain_number(comparisons.compare(tracer, op, one, other, node))


def _is_negative(value: py.Value) -> bool:
    number = py.constant(value)
    return isinstance(number, int) and number < 0


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


def _beside_nothing(left: py.Value, right: py.Value) -> Shape | None:
    """The shape that is compared with ``()``, whose sizes nobody asks for then."""
    for shape, other in ((left, right), (right, left)):
        if isinstance(shape, Shape) and type(other) is py.TupleValue and not (other.items or other.open):
            return shape
    return None


def _compared_sequences(
    tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST
) -> py.Value:
    """Shapes are compared size by size; the first that differs decides."""
    shape = _beside_nothing(left, right) if isinstance(op, (ast.Eq, ast.NotEq)) else None
    rank = counting.length(tracer, shape, node) if shape is not None else None
    if isinstance(rank, Fixed):
        return compare(tracer, op, rank, py.Const(0), node)
    origin = origin_of([left, right])
    if origin is None:
        return py.Unknown(None, "bool")
    result = Number(None, "bool", origin=origin.then(node))
    result.unbacked = unbacked_of(parts([left, right]))
    is_equality = isinstance(op, (ast.Eq, ast.NotEq))
    are_alike = _are_of_one_extent(tracer, left, right) if is_equality else None
    if are_alike is not None:
        result.known = py.Const(isinstance(op, ast.Eq) == are_alike)
        return result
    pairs = _pairs(tracer, left, right)
    if pairs is not None and is_equality:
        equations = tuple((a, b) for a, b in pairs if a is not None and b is not None)
        result.tells = _told(op, equations)
        if len(equations) == len(pairs) and all(a == b for a, b in equations):
            result.known = py.Const(isinstance(op, ast.Eq))
        elif any(_differ(a, b) for a, b in equations):
            result.known = py.Const(isinstance(op, ast.NotEq))
    if isinstance(left, Shape) and isinstance(right, Shape):
        result.lost = _is_lost_shape(tracer, left) or _is_lost_shape(tracer, right)
    return result


def _is_lost_shape(tracer: Tracer, shape: Shape) -> bool:
    """Whether the walk has lost how sizes hang together with those of the inputs."""
    if not shape.open:
        return any(_is_lost(dim_of(item)) for item in shape.items)
    extent = None if shape.extent is None else tracer.facts.extent(shape.extent)
    if extent is None or (extent.lead is not None and extent.lead.tensor is None):
        return True
    is_found = extent.lead is not None and extent.lead.tensor is not None and not is_input(extent.lead.tensor)
    return is_found or any(map(_is_lost, extent.dims))


def _is_lost(dim: Dim | None) -> bool:
    return dim is None or any(map(_is_unread, dim.inner_symbols()))


def _is_unread(symbol: Symbol) -> bool:
    """Whether a number is one of a tensor that the walk came upon, or of an expression that it could not read."""
    of_place = symbol.kind == "argument" and isinstance(symbol.parts[0], Place)
    return symbol.is_found or of_place


def _are_of_one_extent(tracer: Tracer, left: py.Value, right: py.Value) -> bool | None:
    """Whether two shapes of open rank are the same for every input; None where that is not known."""
    if not isinstance(left, Shape) or not isinstance(right, Shape):
        return None
    if left.extent is None or right.extent is None:
        return None
    one, other = tracer.facts.extent(left.extent), tracer.facts.extent(right.extent)
    if one.lead is None and other.lead is None:
        return True if one == other and None not in one.dims else None
    if one.lead is None or other.lead is None or one.lead.tensor is None:
        return None
    if one.lead.tensor != other.lead.tensor or one.lead.head != other.lead.head:
        return None
    if len(one.dims) - one.lead.dropped != len(other.dims) - other.lead.dropped:
        return False  # of another rank
    count = max(len(one.dims), len(other.dims))
    pairs = [
        (_resolved(tracer, a), _resolved(tracer, b))
        for a, b in zip(one.last(count), other.last(count), strict=True)
    ]
    if any(a is not None and b is not None and _differ(a, b) for a, b in pairs):
        return False
    return all(a is not None and a == b for a, b in pairs) or None


def _resolved(tracer: Tracer, dim: Dim | None) -> Dim | None:
    return None if dim is None else tracer.facts.resolved(dim)


def _pairs(tracer: Tracer, left: py.Value, right: py.Value) -> list[tuple[Dim | None, Dim | None]] | None:
    """The sizes of two shapes beside each other; None where their numbers are open or differ."""
    sides: list[list[Dim | None]] = []
    for value in (left, right):
        if not isinstance(value, (py.TupleValue, py.ListValue)) or value.open:
            return None
        found = [dim_of(item) for item in value.items]
        sides.append([_resolved(tracer, dim) for dim in found])
    return list(zip(*sides, strict=True)) if len(sides[0]) == len(sides[1]) else None


def _differ(left: Dim, right: Dim) -> bool:
    return bool(left.plus(right, -1).number)


def _among(
    tracer: Tracer,
    op: ast.cmpop,
    item: py.Const,
    container: py.ListValue | py.TupleValue,
    node: ast.AST,
) -> py.Value:
    """``1 in x.shape``: each is compared, until one is it; no size is negative."""
    if isinstance(container, Shape) and _is_negative(item):
        return py.Const(isinstance(op, ast.NotIn))
    if not any(isinstance(part, (Number, Traced)) for part in container.items):
        return comparisons.compare(tracer, op, item, container, node)
    for other in container.items:
        found = compare(tracer, ast.Eq(), other, item, node)
        answer = conditions.decide(tracer, found, node, "boolean")
        if answer is None:
            origin = origin_of([other])
            return py.Unknown(None, "bool") if origin is None else frozen(origin.then(node), "size", "bool")
        if answer:
            return py.Const(isinstance(op, ast.In))
    return py.Unknown(None, "bool") if container.open else py.Const(isinstance(op, ast.NotIn))


def _identity(tracer: Tracer, op: ast.cmpop, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    alone = [side for side in (left, right) if isinstance(side, py.Const) and side.value in (None, ...)]
    if len(alone) == 1 and isinstance(
        left if alone[0] is right else right, (Traced, Number, Shape, Untraced)
    ):
        return py.Const(isinstance(op, ast.IsNot))
    if isinstance(left, Opaque) or isinstance(right, Opaque):
        return py.Unknown(None, "bool")
    if isinstance(left, Number) or isinstance(right, Number):
        return _compared(tracer, ast.Eq() if isinstance(op, ast.Is) else ast.NotEq(), left, right, node)
    return fixed_from(comparisons.compare(tracer, op, _plain(left), _plain(right), node), left, right)


def _is_made_of_numbers(container: py.DictValue | py.SetValue) -> bool:
    """Whether there are numbers in a set or dict from the start: eager finds a size that is one of them."""
    keys = (
        list(container.items)
        if isinstance(container, py.DictValue)
        else [py.constant(item) for item in container.items]
    )
    return bool(keys) and all(isinstance(key, int) for key in keys)


def _membership(
    tracer: Tracer, op: ast.cmpop, item: py.Value, container: py.Value, node: ast.AST
) -> py.Value:
    live = [value for value in (item, container) if isinstance(value, Traced) and is_live(value)]
    if live and not (live[0] is item and isinstance(container, (py.DictValue, py.SetValue))):
        value = live[0]
        report_number(tracer, "condition", value, node)
        data.asked(tracer, value, node, among=True)
        return frozen(value.origin.then(node), "data", "bool")
    for side in (item, container):
        if isinstance(side, (Number, Held)):
            data.asked(tracer, side, node, among=True)
    if isinstance(container, (py.DictValue, py.SetValue)):
        sizes.wanted(tracer, "lost-size/key", [item], node)
        is_kept = tracer.state.holds(container) and not _is_made_of_numbers(container)
        if is_kept and any(is_live(part) or is_symbolic(part) for part in parts([item])):
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
    if isinstance(item, py.Const) and isinstance(container, (py.ListValue, py.TupleValue)):
        return _among(tracer, op, item, container, node)
    if isinstance(item, Fixed) and ranks.is_among(tracer, item, container) is not None:
        return py.Const(isinstance(op, ast.NotIn))
    if isinstance(item, Fixed) or isinstance(container, Fixed):
        return fixed_from(
            comparisons.compare(tracer, op, _plain(item), _plain(container), node), item, container
        )
    return py.Unknown(None, "bool")
