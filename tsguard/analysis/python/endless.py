"""Generator functions that end in ``while True:``: each item is made when it is asked for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tsguard.analysis.values import FunctionValue, IteratorValue, Value
from tsguard.source.walking import walked

Run = Callable[[list[ast.stmt]], object]
Evaluate = Callable[[ast.expr], Value]

# What may leave a turn of the loop elsewhere than at its yield.
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)


@dataclass(eq=False, slots=True)
class Endless(IteratorValue):
    """The items of a loop without end; how many there are, only who asks for them tells."""

    turn: Callable[[], Value] | None = None


def endless(function: FunctionValue, run: Run, evaluate: Evaluate) -> Endless | None:
    """What a generator function gives whose last statement loops for ever, with one ``yield`` that each turn passes.

    ``run`` runs statements in the frame of the call, ``evaluate`` evaluates there.
    """
    body = function.node.body
    if not isinstance(body, list) or not isinstance(body[-1], ast.While):
        return None
    loop, before = body[-1], body[:-1]
    places = [
        i for i, s in enumerate(loop.body) if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield)
    ]
    if len(places) != 1 or not (isinstance(loop.test, ast.Constant) and loop.test.value is True):
        return None
    first, given, rest = loop.body[: places[0]], loop.body[places[0]], loop.body[places[0] + 1 :]
    assert isinstance(given, ast.Expr)
    assert isinstance(given.value, ast.Yield)
    wanted = given.value.value
    if wanted is None or any(isinstance(n, _LEAVING) for s in [*before, *first, *rest] for n in walked(s)):
        return None
    ahead = [*before, *first]

    def turn() -> Value:
        run(ahead)
        ahead[:] = [*rest, *first]
        return evaluate(wanted)

    return Endless([], open=True, turn=turn)
