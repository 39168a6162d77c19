"""``itertools``: what gives the items of others in another order, in groups, or some of them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable

from tsguard.analysis.budgets import UNROLLED_ITEMS
from tsguard.analysis.python import operations, sizes
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import consume
from tsguard.analysis.python.written_out import evaluated
from tsguard.analysis.terms import placed
from tsguard.analysis.values import NONE, IteratorValue, TupleValue, Unknown, Value, constant, is_none

Rows = Iterable[tuple[Value, ...]]


def _of_rows(interp: Interpreter, rows: Rows, *, is_open: bool = False) -> Value:
    """Tuples, of which so many are told apart as of any sequence; one that follows is any other."""
    found = list(itertools.islice(rows, UNROLLED_ITEMS + 1))
    sizes.charge(interp, len(found))
    if len(found) > UNROLLED_ITEMS:
        is_open, found[-1] = True, tuple(Unknown() for _ in found[-1])
    return IteratorValue(list(map(TupleValue, found)), is_open)


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
        count = len(items) if is_none(given) and not is_open else count
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
    return IteratorValue([*found, Unknown()] if is_open else found, is_open)


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


def _split(interp: Interpreter, args: Args) -> tuple[list[Value], list[bool]] | None:
    """The items, and of which a function is true; None where the source does not tell."""
    items, is_open = consume(interp, args[1]) if len(args) == 2 else ([], True)
    if is_open:
        return None
    answers: list[bool] = []
    for item in items:
        answer = operations.told_truth(interp.settled(interp.call(args[0], [item], {}, None)))
        if answer is None:
            return None
        answers.append(answer)
    return items, answers


def _while(*, taken: bool) -> Handler:
    """``takewhile(function, items)`` and ``dropwhile(function, items)``."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        found = _split(interp, args)
        if found is None:
            return IteratorValue(consume(interp, args[1])[0] if len(args) > 1 else [], True)
        items, answers = found
        place = answers.index(False) if False in answers else len(items)
        return IteratorValue(items[:place] if taken else items[place:])

    return run


def _without(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``filterfalse(function, items)``."""
    found = _split(interp, args)
    if found is None:
        return IteratorValue(consume(interp, args[1])[0] if len(args) > 1 else [], True)
    return IteratorValue([item for item, answer in zip(*found, strict=True) if not answer])


def _flattened(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``chain.from_iterable(rows)``."""
    rows, is_open = consume(interp, args[0]) if args else ([], True)
    found = [consume(interp, row) for row in rows]
    return IteratorValue([item for items, _ in found for item in items], is_open or any(o for _, o in found))


def _grouped(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``groupby(items, key)``."""
    items, is_open = consume(interp, args[0]) if args else ([], True)
    function = args[1] if len(args) > 1 else kwargs.get("key", NONE)
    keys = [item if is_none(function) else interp.call(function, [item], {}, None) for item in items]
    told = [known(interp.settled(key)) for key in keys]
    if is_open or any(isinstance(key, Value) for key in told):
        return Unknown(placed(node))
    groups = itertools.groupby(range(len(items)), told.__getitem__)
    rows = [(keys[places[0]], places) for _, group in groups if (places := list(group))]
    return _of_rows(interp, ((key, IteratorValue([items[i] for i in places])) for key, places in rows))


def _pairs(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], True)
    return _of_rows(interp, itertools.pairwise(items), is_open=is_open)


HANDLERS: dict[str, Handler] = {
    "itertools.accumulate": _accumulated,
    "itertools.combinations": _arranged(itertools.combinations),
    "itertools.combinations_with_replacement": _arranged(itertools.combinations_with_replacement),
    "itertools.chain.from_iterable": _flattened,
    "itertools.dropwhile": _while(taken=False),
    "itertools.filterfalse": _without,
    "itertools.groupby": _grouped,
    "itertools.islice": _some,
    "itertools.pairwise": _pairs,
    "itertools.permutations": _arranged(itertools.permutations),
    "itertools.product": _product,
    "itertools.starmap": _starred,
    "itertools.takewhile": _while(taken=True),
    "itertools.zip_longest": _longest,
}
