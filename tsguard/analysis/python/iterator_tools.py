"""``itertools``: what gives the items of others in another order, in groups, or some of them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable

from tsguard.analysis.budgets import UNROLLED_ITEMS
from tsguard.analysis.python import sizes
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import consume
from tsguard.analysis.python.written_out import evaluated
from tsguard.analysis.terms import placed
from tsguard.analysis.values import NONE, IteratorValue, TupleValue, Unknown, Value, constant, is_none

Rows = Iterable[tuple[Value, ...]]


def _of_rows(interp: Interpreter, rows: Rows, *, is_open: bool = False) -> Value:
    """Tuples, of which so many are told apart as of any sequence."""
    found: list[Value] = [TupleValue(row) for row in itertools.islice(rows, UNROLLED_ITEMS + 1)]
    sizes.charge(interp, len(found))
    return IteratorValue(found[:UNROLLED_ITEMS], is_open or len(found) > UNROLLED_ITEMS)


def _product(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    times = constant(interp.settled(kwargs["repeat"])) if "repeat" in kwargs else 1
    columns = [consume(interp, arg) for arg in args]
    if not isinstance(times, int):
        return Unknown(placed(node))
    is_open = any(of_column for _, of_column in columns)
    return _of_rows(
        interp, itertools.product(*(items for items, _ in columns), repeat=times), is_open=is_open
    )


def _arranged(arrange: Callable[[list[Value], int], Rows]) -> Handler:
    """``combinations(items, r)`` and its kin."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        items, is_open = consume(interp, args[0]) if args else ([], True)
        given = args[1] if len(args) > 1 else kwargs.get("r", NONE)
        count = constant(interp.settled(given))
        if not isinstance(count, int) or count < 0:
            return Unknown(placed(node))
        return _of_rows(interp, arrange(items, count), is_open=is_open)

    return run


def _accumulated(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], True)
    function = args[1] if len(args) > 1 else kwargs.get("func", NONE)
    found = [kwargs["initial"]] if "initial" in kwargs and not is_none(kwargs["initial"]) else []
    for item in items:
        found.append(_added(interp, function, found[-1], item, node) if found else item)
    return IteratorValue(found, is_open)


def _added(interp: Interpreter, function: Value, total: Value, item: Value, node: ast.AST | None) -> Value:
    if is_none(function):
        return evaluated(interp, "left + right", {"left": total, "right": item}, node)
    return interp.call(function, [total, item], {}, node)


def _some(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``islice(items, stop)``, ``islice(items, start, stop, step)``."""
    items, is_open = consume(interp, args[0]) if args else ([], True)
    bounds = [constant(interp.settled(bound)) for bound in args[1:]]
    known = [bound for bound in bounds if bound is None or isinstance(bound, int)]
    if not known or len(known) < len(bounds):
        return IteratorValue(items, True)
    return IteratorValue(items[slice(*known)], is_open)


def _longest(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    columns = [consume(interp, arg) for arg in args]
    rows = itertools.zip_longest(*(items for items, _ in columns), fillvalue=kwargs.get("fillvalue", NONE))
    return _of_rows(interp, rows, is_open=any(of_column for _, of_column in columns))


def _starred(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[1]) if len(args) > 1 else ([], True)
    return IteratorValue(
        [interp.call(args[0], consume(interp, item)[0], {}, node) for item in items], is_open
    )


def _pairs(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], True)
    return _of_rows(interp, itertools.pairwise(items), is_open=is_open)


HANDLERS: dict[str, Handler] = {
    "itertools.accumulate": _accumulated,
    "itertools.combinations": _arranged(itertools.combinations),
    "itertools.combinations_with_replacement": _arranged(itertools.combinations_with_replacement),
    "itertools.islice": _some,
    "itertools.pairwise": _pairs,
    "itertools.permutations": _arranged(itertools.permutations),
    "itertools.product": _product,
    "itertools.starmap": _starred,
    "itertools.zip_longest": _longest,
}
