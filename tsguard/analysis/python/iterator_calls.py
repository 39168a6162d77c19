"""Iterators: what gives its items once."""

from __future__ import annotations

import ast

from tsguard.analysis.python import operations
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.endless import Endless
from tsguard.analysis.python.iteration import consume, iterate, next_of
from tsguard.analysis.values import (
    Const,
    IteratorValue,
    ListValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
)


def _iter(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """An iterator, which sees what is put into its list later."""
    value = interp.settled(args[0]) if len(args) == 1 else Unknown()
    if isinstance(value, IteratorValue):
        return value
    if isinstance(value, Unknown) and value.default is None:
        return Unknown(operations.called("iter", [value], node))
    items, is_open = iterate(interp, value)
    return IteratorValue(items, is_open, value if isinstance(value, ListValue) else None)


def _zip(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    settled = [interp.settled(a) for a in args]
    if len(args) > 1 and isinstance(settled[0], IteratorValue) and all(a is settled[0] for a in settled):
        return _grouped(interp, settled[0], len(args))
    columns = [consume(interp, a) for a in settled]
    closed = [len(items) for items, is_open in columns if not is_open]
    count = min(closed) if closed else max((len(items) for items, _ in columns), default=0)
    rows: list[Value] = []
    for i in range(count):
        rows.append(
            TupleValue(tuple(items[min(i, len(items) - 1)] if items else Unknown() for items, _ in columns))
        )
    # The rows of a tensor may be fewer than the items beside them.
    fewer = any(
        isinstance(a, TensorValue) and is_open for a, (_, is_open) in zip(settled, columns, strict=True)
    )
    return IteratorValue(rows, fewer or (not closed and bool(columns)))


def _grouped(interp: Interpreter, iterator: Value, size: int) -> Value:
    """``zip(it, it)``: the items of one iterator in turns."""
    items, is_open = consume(interp, iterator)
    places = range(0, len(items) - size + 1, size)
    return IteratorValue([TupleValue(tuple(items[place : place + size])) for place in places], is_open)


def _enumerate(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], False)
    start = constant(args[1] if len(args) > 1 else kwargs.get("start", Const(0)))
    first = start if isinstance(start, int) else 0
    rows: list[Value] = [TupleValue((Const(first + i), item)) for i, item in enumerate(items)]
    if is_open and items:
        rows.append(TupleValue((Unknown(None, "int"), items[-1])))  # any that follows
    return IteratorValue(rows, is_open)


def _reordered(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[0]) if args else ([], False)
    return IteratorValue(items[::-1], is_open)


def _map(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) < 2:
        return Unknown()
    rows = _zip(interp, args[1:], {}, node)
    assert isinstance(rows, ListValue)
    results = [
        interp.call(args[0], list(row.items), {}, node) for row in rows.items if isinstance(row, TupleValue)
    ]
    return IteratorValue(results, rows.open)


def _filter(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[1]) if len(args) > 1 else ([], True)
    answers = [_kept(interp, args[0], item) for item in items]
    if is_open or None in answers:
        return IteratorValue(items, True)
    return IteratorValue([item for item, answer in zip(items, answers, strict=True) if answer])


def _kept(interp: Interpreter, function: Value, item: Value) -> bool | None:
    """Whether ``filter`` keeps an item; None where the source does not tell."""
    answer = interp.settled(item if is_none(function) else interp.call(function, [item], {}, None))
    return operations.told_truth(answer)


def _next(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """The next item of an iterator, which has it no more then; of none the default."""
    if args and isinstance(args[0], Endless) and args[0].turn is not None and not interp.open_loops:
        return args[0].turn()
    if not args or not isinstance(args[0], ListValue) or args[0].open:
        return Unknown()
    found = next_of(args[0])
    interp.program.shared_state.used(args[0], interp.is_defining)
    if found is not None:
        return found
    if len(args) > 1:
        return args[1]
    raise Raised("StopIteration", node)


HANDLERS: dict[str, Handler] = {
    "builtins.iter": _iter,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.reversed": _reordered,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.next": _next,
}
