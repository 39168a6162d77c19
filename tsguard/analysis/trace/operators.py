"""Operators over traced values: tensors stay tensors, sizes stay sizes."""

from __future__ import annotations

import ast
import math
import re
import struct
from collections.abc import Iterable

from tsguard.analysis import values as py
from tsguard.analysis.export import arguments, arrays, data, gradients, recording, sizes
from tsguard.analysis.python import operations
from tsguard.analysis.trace import booleans, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.rulebook import asked, checked
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    NOWHERE,
    Derived,
    Fixed,
    Number,
    Opaque,
    Shape,
    Traced,
    Untraced,
    depends,
    frozen,
    is_live,
    origin_among,
    origin_of,
    parts,
    plainly,
    unbacked_of,
)
from tsguard.language.rule_names import RuleName
from tsguard.report.records import replace

_TRACED = (Traced, Derived, Shape, py.TensorValue)
# The conversions of a format with %, and those of them that take the value of a number.
_CONVERSION = re.compile(r"%(?:\(\w*\))?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[hlL]?([a-zA-Z%])")
_NUMERIC = frozenset("diouxXeEfFgGc")


def concerns(*values: py.Value) -> bool:
    """Whether an operator over these values is one over traced values, a text in which tuples of them are written included."""
    if any(isinstance(value, _TRACED) for value in values):
        return True
    return (
        isinstance(values[-1], py.TupleValue)
        and operations.hint_of(values[0]) == "str"
        and depends(values[-1])
    )


def tensor(values: list[py.Value], node: ast.AST | None) -> py.TensorValue:
    """The tensor that an operator makes of values: of inputs, of module state, or constant."""
    held = parts(values)
    origin = origin_among(held)
    if origin is not None:
        return Traced(
            origin=origin.then(node),
            of_size=_are_of_size(held),
            sizes_only=_are_of_sizes(held),
            recorded=recording.is_recorded(held, node),
        )
    others = [value for value in held if isinstance(value, Traced)]
    first = next((value for value in others if value.of == "random"), others[0] if others else None)
    if first is None:
        return py.TensorValue(several=any(data.lends_no_value(value) for value in values))
    return Traced(origin=first.origin.then(node), of=first.of, recorded=recording.is_recorded(held, node))


def is_of_sizes(values: list[py.Value]) -> bool:
    """Whether all that values take from inputs is sizes."""
    return _are_of_sizes(parts(values))


def _are_of_sizes(held: list[py.Value]) -> bool:
    for value in held:
        if isinstance(value, Traced):
            of_data = value.of != "state" and not value.sizes_only
        elif isinstance(value, Number):
            of_data = value.kind == "data"
        else:
            of_data = isinstance(value, Derived) and not isinstance(value, Fixed)
        if of_data:
            return False
    return True


def _are_of_size(held: list[py.Value]) -> bool:
    """Whether all tensors among values are made of one number each, sizes among them."""
    tensors = [value for value in held if isinstance(value, py.TensorValue)]
    return bool(tensors) and not any(
        not value.of_size if isinstance(value, Traced) else data.lends_no_value(value) for value in tensors
    )


def binary(tracer: Tracer, op: ast.operator, left: py.Value, right: py.Value, node: ast.AST) -> py.Value:
    """``left op right`` where one of them is traced."""
    if operations.hint_of(left) == "str" and isinstance(op, ast.Mod):
        data.formatted_as_whole(tracer, parts(_as_numbers(str(py.constant(left)), right)), node)
        tracer.exports.is_asked_of_compile = False
        return as_text([right], node)
    if isinstance(left, py.TensorValue) or isinstance(right, py.TensorValue):
        arrays.calculated_with(tracer, left, right, node)
        used(tracer, [left, right], node)
        booleans.calculated(tracer, op, left, right, node)
        gradients.calculated(tracer, op, right, node)
        data.computed_of(tracer, (left, right), node)
        name = "matmul" if isinstance(op, ast.MatMult) else "add"
        return shaping.of_call(tracer, name, [left, right], {}, tensor([left, right], node))
    if isinstance(left, py.TupleValue) and isinstance(right, py.TupleValue) and isinstance(op, ast.Add):
        return _concatenated(left, right)
    if isinstance(op, (ast.BitOr, ast.BitAnd)) and _are_flags(left, right):
        return _flag(op, left, right)
    tracing_asked(tracer, (left, right), node)
    if isinstance(op, ast.Mult) and "str" in (operations.hint_of(left), operations.hint_of(right)):
        return as_text([left, right], node)
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, (py.ListValue, py.TupleValue)) and isinstance(op, ast.Mult):
            return _repeated(tracer, op, sequence, times, node)
    if isinstance(left, (Untraced, Opaque)) or isinstance(right, (Untraced, Opaque)):
        return left if isinstance(left, (Untraced, Opaque)) else right
    if isinstance(left, Number) or isinstance(right, Number):
        booleans.counted(tracer, op, left, right, node)
        if isinstance(op, ast.Pow):
            arguments.raised(tracer, left, right, node)
            _raised(tracer, left, right, node)
        result = _calculated(tracer, op, left, right, node)
        return replace(result, hint="bool") if booleans.is_still_truth(op, left, right) else result
    return fixed_from(operations.binary(tracer, op, left, right, node), left, right)


def _raised(tracer: Tracer, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """``n ** -1`` and ``2 ** -n``: a size is a tensor of integers, of which torch calculates no such power, or 0."""
    base, power = py.constant(left), py.constant(right)
    if isinstance(right, Number) and right.live and type(base) is int and abs(base) > 1:
        exponent = None if right.hint == "float" or right.dim is None else tracer.facts.resolved(right.dim)
        least = 0 if exponent is None else exponent.least()
        if (least is None or least < 0) and not tracer.is_export:
            tracer.report("size-in-place/exponent", node, right.origin)
    is_whole = isinstance(left, Number) and left.live and left.hint != "float"
    if is_whole and type(power) is int and power < 0 and not tracer.is_export:
        tracer.report("size-in-place/power", node, left.origin if isinstance(left, Number) else None)


def _are_flags(left: py.Value, right: py.Value) -> bool:
    """Whether of two truths that are told one is whether torch traces."""
    values = (left, right)
    asks = any(isinstance(value, Fixed) and value.about == "tracing" for value in values)
    return asks and all(isinstance(_truth(value), bool) for value in values)


def _truth(value: py.Value) -> object:
    known = value.default if isinstance(value, Fixed) else value
    return known.value if isinstance(known, py.Const) else None


def _flag(op: ast.operator, left: py.Value, right: py.Value) -> py.Value:
    """``is_tracing() | other``: whether torch traces, unless the other decides."""
    is_or = isinstance(op, ast.BitOr)
    if isinstance(left, py.Const) or isinstance(right, py.Const):
        told, flag = (left, right) if isinstance(left, py.Const) else (right, left)
        return told if _truth(told) is is_or else flag
    return left if _truth(left) is is_or else right


def tracing_asked(tracer: Tracer, values: Iterable[py.Value], node: ast.AST) -> None:
    """Report a number that is made of whether torch traces."""
    if any(isinstance(value, Fixed) and value.about == "tracing" for value in values):
        tracer.report("tracing-condition", node)


def _as_numbers(form: str, right: py.Value) -> list[py.Value]:
    """The values that a format with % takes the numbers of."""
    letters = [found[1] for found in _CONVERSION.finditer(form) if found[1] != "%"]
    values = (
        list(right.items) if isinstance(right, py.TupleValue) and not isinstance(right, Shape) else [right]
    )
    if len(values) != len(letters):
        return values if _NUMERIC.intersection(letters) else []
    return [value for value, letter in zip(values, letters, strict=True) if letter in _NUMERIC]


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
    data.symbol_wanted(tracer, "data-number/index", [times], node)
    sizes.wanted(tracer, "fixed-size/index", [times], node)
    if isinstance(times, Number) and is_live(times):
        report_number(tracer, "index", times, node)
    used(tracer, [times], node)
    times = plainly(times)
    if isinstance(times, Fixed) and times.about == "rank" and times.default is not None:
        times = times.default
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
    result = number_from(left, right, "float" if isinstance(op, ast.Div) else "", node)
    result.mixed = result.mixed or _is_mixed(left, right)
    result.natural = isinstance(op, (ast.Add, ast.Mult)) and is_natural(left) and is_natural(right)
    result.dim = _dim(op, dim_of(left), dim_of(right))
    result.known = shaping.known_value(tracer.facts, result.dim)
    if result.known is None:
        plain = (plainly(left), plainly(right))
        if not any(isinstance(value, Derived) for value in plain):
            result.known = plain_number(operations.binary(tracer, op, *plain, node))
    return result


def is_natural(value: py.Value) -> bool:
    """Whether a number is never negative: a size, a product of sizes, a constant that is not."""
    number = py.constant(value)
    return value.natural if isinstance(value, Number) else isinstance(number, int) and number >= 0


def _is_mixed(*operands: py.Value) -> bool:
    """Whether a trace makes a number of the example's and of the call's: what cancels in eager does not in it."""
    unknown = [value for value in operands if isinstance(value, Number) and value.known is None]
    return any(value.live for value in unknown) and any(value.debt is not None for value in unknown)


def plain_number(value: py.Value) -> py.Value | None:
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
    elif isinstance(op, ast.Div):
        found = left.over(right)
    elif isinstance(op, ast.Mod):
        found = left.rest(right)
    return found if found is not None and found.is_simple else None


def number_from(left: py.Value, right: py.Value, hint: str, node: ast.AST | None) -> Number:
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
        debt=next((v.debt for v in numbers if v.debt is not None), None),
        unbacked=unbacked_of(numbers),
        mixed=any(v.mixed for v in numbers),
        rounded=any(v.rounded if isinstance(v, Number) else _is_rounded(v) for v in (left, right)),
    )


def _is_rounded(value: py.Value) -> bool:
    """Whether a float is another in single precision, in which a trace calculates with sizes."""
    number = py.constant(value)
    if not isinstance(number, float) or not math.isfinite(number) or abs(number) > _LARGEST_SINGLE:
        return False
    return bool(struct.unpack("f", struct.pack("f", number))[0] != number)


_LARGEST_SINGLE = 3.4e38


def fixed_from(result: py.Value, *operands: py.Value) -> py.Value:
    """A result of ordinary Python over a fixed property is as fixed as that."""
    about = next((v for v in operands if isinstance(v, Fixed)), None)
    if about is None or (len(operands) > 1 and all(map(_is_class_of_size, operands))):
        return result
    default = result.default if isinstance(result, py.Unknown) else result
    hint = operations.hint_of(result)
    return Fixed(None, hint, default, origin=about.origin, about=about.about)


def _is_class_of_size(value: py.Value) -> bool:
    """Whether a value is what ``type(n)`` gives of a size, which is the same for all of them."""
    return isinstance(value, Fixed) and value.about == "tracing" and isinstance(value.default, py.External)


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
            else _inverted(tracer, op, value, node)
        )
    if isinstance(value, Fixed) and not isinstance(op, ast.Not):
        return fixed_from(
            operations.unary(tracer, op, py.Unknown(None, value.hint, value.default), node), value
        )
    return value


def _inverted(tracer: Tracer, op: ast.unaryop, value: Number, node: ast.AST) -> Number:
    result = number_from(value, value, "", node)
    plain = plainly(value)
    if not isinstance(plain, Derived):
        result.known = plain_number(operations.unary(tracer, op, plain, node))
    return result


def report_number(tracer: Tracer, how: str, value: Number | Traced, node: ast.AST | None) -> None:
    """Report that Python took the value of what the trace was following, and how."""
    if how == "key":
        sizes.wanted(tracer, "lost-size/key", [value], node)
    if tracer.check is not None and how not in ("range", "key"):
        rule: RuleName = checked(value, serves_others=tracer.serves_others)
        tracer.report(rule, tracer.check, value.origin)
        return
    tracer.report(asked(value, how), node, value.origin)


def number_of(
    tracer: Tracer, how: str, value: Number | Traced, node: ast.AST | None, hint: str = ""
) -> Number:
    """The number that Python takes of what the trace was following: nothing is wrong until it is used.

    Where errors are caught it may be used by what catches them.
    """
    number = frozen(value.origin.then(node), "data" if isinstance(value, Traced) else value.kind, hint)
    if isinstance(value, Number) and hint == value.hint == "int" and how == "cast":
        number.dim = value.dim
    if tracer.check is not None or tracer.tries:
        report_number(tracer, how, value, node)
    else:
        number.debt = tracer.debt(asked(value, how), node, value.origin)
    return number
