"""Statements, followed on every path that the mode or data may choose."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import TRACED_TURNS
from tsguard.analysis.events import text_of
from tsguard.analysis.mode import carried, keeping, raising, sides, state
from tsguard.analysis.mode.choices import ByMode, Either, Mode, by_mode, differs, either, truths
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import Raised, assignments
from tsguard.analysis.python import statements as python
from tsguard.analysis.python.context import BREAK, Return, Signal
from tsguard.analysis.python.iteration import any_turn, consume, give_back, growing
from tsguard.analysis.values import ObjectValue, TensorValue, TupleValue, Unknown, Value
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

__all__ = ["HANDLERS", "choose", "execute", "truths"]

Path = Callable[[], Signal]
Names = dict[str, Value]
Renewed = frozenset[tuple[ObjectValue, str]]


def execute(walk: ModeInterpreter, body: list[ast.stmt], scope: Scope) -> Signal:
    """Run statements; one that raises other than by ``raise`` is passed over."""
    around = walk.statement
    try:
        return _executed(walk, body, scope)
    finally:
        walk.statement = around


def _executed(walk: ModeInterpreter, body: list[ast.stmt], scope: Scope) -> Signal:
    for position, node in enumerate(body, 1):
        walk.spend()
        walk.following = body[position:]
        walk.statement = node
        handler = HANDLERS.get(type(node)) or python.HANDLERS.get(type(node))
        if handler is None:
            continue
        try:
            signal = handler(walk, node, scope)
        except Raised:
            if isinstance(node, ast.Raise):
                raise
            signal = _passed(walk, node, scope)
        if signal is not None:
            return signal
    return None


def _passed(walk: ModeInterpreter, node: ast.stmt, scope: Scope) -> Signal:
    for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
        if isinstance(target, ast.expr):
            assignments.assign(walk, target, Unknown(), scope)
    return Return(Unknown()) if isinstance(node, ast.Return) else None


def _if(walk: ModeInterpreter, node: ast.If, scope: Scope) -> Signal:
    is_left = _returns(node.body) and not node.orelse
    orelse = walk.following if is_left else node.orelse
    test = walk.evaluate(node.test, scope)
    train, other = _truths_here(walk, test)
    if _splits(walk, test) and sides.differ(walk, node.body, orelse, scope):
        both = [] if is_left else [*node.body, *node.orelse]
        names = keeping.attributes(walk, both, scope, sides.is_remark)
        walk.report_keeping("training-branch", node.test, names, test=text_of(node.test))
    elif train != other and not walk.branches and raising.is_certain(node, train, other):
        _report_choice(walk, test, node.test)
    if train == other:
        return explore(walk, scope, _alternatives(walk, node, train, scope))
    return fork(walk, scope, *(_alternatives(walk, node, answer, scope) for answer in (train, other)))


def _report_choice(walk: ModeInterpreter, value: Value, node: ast.expr) -> None:
    """What decides on the way through a statement may differ by mode."""
    if differs([walk.settled(value)]):
        walk.report("training-branch", node, test=text_of(node))


def _splits(walk: ModeInterpreter, test: Value) -> bool:
    """Whether a condition may have another answer in train() than in eval()."""
    if not differs([walk.settled(test)]):
        return False
    train, other = truths(walk, test)
    return train is None or train != other


def _returns(body: list[ast.stmt]) -> bool:
    """Whether the last statement of a block returns, in a context or in none."""
    last = body[-1]
    return isinstance(last, ast.Return) or (isinstance(last, ast.With) and _returns(last.body))


def _truths_here(walk: ModeInterpreter, test: Value) -> tuple[bool | None, bool | None]:
    train, other = truths(walk, test)
    if walk.mode == "both":
        return train, other
    return (train, train) if walk.mode == "train" else (other, other)


def _alternatives(walk: ModeInterpreter, node: ast.If, answer: bool | None, scope: Scope) -> list[Path]:
    bodies = [node.body, node.orelse] if answer is None else [node.body if answer else node.orelse]
    return [partial(walk.execute, body, scope) for body in bodies]


def explore(walk: ModeInterpreter, scope: Scope, alternatives: list[Path]) -> Signal:
    """Follow each alternative from the same state; what they leave is joined."""
    if len(alternatives) == 1:
        return alternatives[0]()
    before, mode, renewed = scope.names, walk.mode, walk.renewed
    ends: list[tuple[Signal, Names, Mode, Renewed]] = []
    for follow in alternatives:
        scope.names, walk.mode, walk.renewed = dict(before), mode, renewed
        try:
            with walk.branching():
                ends.append((follow(), scope.names, walk.mode, walk.renewed))
        except Raised:
            continue
    if not ends:
        scope.names, walk.mode, walk.renewed = before, mode, renewed
        raise Raised("")
    going_on = [end for end in ends if end[0] is None]
    modes = {end[2] for end in going_on}
    walk.mode = modes.pop() if len(modes) == 1 else mode
    walk.renewed = frozenset.intersection(*[end[3] for end in going_on or ends])
    scope.names = _joined([end[1] for end in going_on or ends], either)
    return _signal(walk, [end[0] for end in ends])


def fork(walk: ModeInterpreter, scope: Scope, train: list[Path], other: list[Path]) -> Signal:
    """Follow one way in train() and another in eval(); where one of them ends, the other goes on alone."""
    before, renewed = scope.names, walk.renewed
    ends: dict[Mode, tuple[Signal, Names, Renewed]] = {}
    ways: tuple[tuple[Mode, list[Path]], ...] = (("train", train), ("eval", other))
    for mode, alternatives in ways:
        scope.names, walk.mode, walk.renewed = dict(before), mode, renewed
        try:
            signal = explore(walk, scope, alternatives)
            ends[mode] = (signal, scope.names, walk.renewed)
        except Raised:
            continue
    if not ends:
        scope.names, walk.mode, walk.renewed = before, "both", renewed
        raise Raised("")
    going_on: list[Mode] = [mode for mode, end in ends.items() if end[0] is None]
    left = going_on or list(ends)
    walk.mode = left[0] if len(left) == 1 else "both"
    scope.names = _joined([ends[mode][1] for mode in left], _by_mode)
    walk.renewed = frozenset.intersection(*[ends[mode][2] for mode in left])
    return _signal(walk, [end[0] for end in ends.values()])


def _by_mode(values: list[Value]) -> Value:
    return by_mode(values[0], values[1], known=True)


def _joined(ends: list[Names], join: Callable[[list[Value]], Value]) -> Names:
    if len(ends) == 1:
        return ends[0]
    joined: Names = {}
    for name in dict.fromkeys(name for names in ends for name in names):
        values = [names[name] for names in ends if name in names]
        joined[name] = join(values) if len(values) == len(ends) else values[0]
    return joined


def _signal(walk: ModeInterpreter, signals: list[Signal]) -> Signal:
    """How several ways together end: returns are kept while another way goes on."""
    returned = [signal.value for signal in signals if isinstance(signal, Return)]
    if len(returned) == len(signals):
        return Return(either(returned))
    if walk.frames:
        walk.frames[-1].returned.extend(returned)
    return None if None in signals else next(s for s in signals if not isinstance(s, Return))


def choose(walk: ModeInterpreter, test: Value, node: ast.IfExp, scope: Scope) -> Value:
    """``body if test else orelse``."""
    body, orelse = (partial(walk.evaluate, side, scope) for side in (node.body, node.orelse))
    train, other = _truths_here(walk, test)
    if train == other:
        return _any_of(body, orelse) if train is None else body() if train else orelse()
    values = []
    answers: tuple[tuple[Mode, bool | None], ...] = (("train", train), ("eval", other))
    for mode, answer in answers:
        with walk.only(mode):
            ways = [body, orelse] if answer is None else [body if answer else orelse]
            values.append(_any_of(*ways))
    is_setting = all(map(state.is_setting, values))
    result = by_mode(*values, known=not is_setting or not differs([walk.settled(test)]))
    # Two tensors made in passing look the same here, but were computed in two ways.
    computed = isinstance(result, (ByMode, TensorValue, TupleValue)) and values[0] is not values[1]
    if (
        computed
        and not is_setting
        and differs([walk.settled(test)])
        and not sides.are_twins(walk, [node.body], [node.orelse], scope)
        and not all(sides.is_recording(walk, side, scope) for side in (node.body, node.orelse))
    ):
        walk.report("training-branch", node, test=text_of(node))
    return result


def _any_of(*ways: Callable[[], Value]) -> Value:
    """What one of several ways gives; one that raises was not taken."""
    values = []
    raised: Raised | None = None
    for way in ways:
        try:
            values.append(way())
        except Raised as error:
            raised = error
    if raised is not None and not values:
        raise raised
    return either(values)


def _for(walk: ModeInterpreter, node: ast.For, scope: Scope) -> Signal:
    iterable = walk.evaluate(node.iter, scope)
    _report_choice(walk, iterable, node.iter)
    if not isinstance(iterable, Either):
        return _over(walk, node, iterable, scope)
    return explore(walk, scope, [partial(_over, walk, node, option, scope) for option in iterable.options])


def _over(walk: ModeInterpreter, node: ast.For, iterable: Value, scope: Scope) -> Signal:
    """Run a loop, which may not run at all where it is not known how many items there are."""
    items, is_open = consume(walk, iterable)
    mode, renewed = walk.mode, walk.renewed
    before = scope.names
    try:
        with walk.looping(len(items), is_open=is_open):
            for count, item in enumerate(growing(iterable, items), 1):
                before = dict(scope.names) if is_open else before
                assignments.assign(walk, node.target, item, scope)
                signal = walk.execute(node.body, scope)
                walk.mode = mode
                if signal is BREAK or isinstance(signal, Return):
                    give_back(iterable, items[count:])
                if signal is BREAK:
                    return None
                if isinstance(signal, Return):
                    return _perhaps(walk, signal) if is_open else signal
            if is_open and any_turn(scope, before):
                assignments.assign(walk, node.target, items[-1], scope)
                signal = walk.execute(node.body, scope)
                walk.mode = mode
                if isinstance(signal, Return):
                    return _perhaps(walk, signal)
    finally:
        walk.renewed = renewed
    return walk.execute(node.orelse, scope)


def _perhaps(walk: ModeInterpreter, signal: Return) -> Signal:
    """A return in a loop that may not run at all."""
    walk.frames[-1].returned.append(signal.value)
    return None


def _while(walk: ModeInterpreter, node: ast.While, scope: Scope) -> Signal:
    mode, renewed = walk.mode, walk.renewed
    for _ in range(TRACED_TURNS):
        before = dict(scope.names)
        test = walk.evaluate(node.test, scope)
        if _splits(walk, test):
            walk.report("training-branch", node.test, test=text_of(node.test))
        train, other = _truths_here(walk, test)
        if train is False and other is False:
            return None
        signal = walk.execute(node.body, scope)
        walk.mode, walk.renewed = mode, renewed
        if signal is BREAK:
            return None
        if isinstance(signal, Return):
            return signal if train and other else _perhaps(walk, signal)
        is_counting = any(scope.names.get(name) != value for name, value in before.items())
        if not (train and other) or not is_counting:
            break
    return _any_turn(walk, node, before, scope)


def _any_turn(walk: ModeInterpreter, node: ast.While, before: Names, scope: Scope) -> Signal:
    """A further turn of a loop that may have ended, whichever it is."""
    mode, renewed = walk.mode, walk.renewed
    any_turn(scope, before)
    with walk.branching():
        signal = walk.execute(node.body, scope)
    walk.mode, walk.renewed = mode, renewed
    return _perhaps(walk, signal) if isinstance(signal, Return) else None


def _try(walk: ModeInterpreter, node: ast.Try, scope: Scope) -> Signal:
    renewed = walk.renewed
    try:
        with raising.caught(walk, node.handlers):
            signal = walk.execute([*node.body, *node.orelse], scope)
    except Raised:
        if not node.handlers:
            raise
        signal = explore(
            walk, scope, [partial(walk.execute, handler.body, scope) for handler in node.handlers]
        )
    walk.renewed = renewed
    final = walk.execute(node.finalbody, scope)
    return final if final is not None else signal


def _with(walk: ModeInterpreter, node: ast.With, scope: Scope) -> Signal:
    for item in node.items:
        entered = walk.evaluate(item.context_expr, scope)
        if item.optional_vars is not None:
            assignments.assign(walk, item.optional_vars, entered, scope)
    return walk.execute(node.body, scope)


def _match(walk: ModeInterpreter, node: ast.Match, scope: Scope) -> Signal:
    _report_choice(walk, walk.evaluate(node.subject, scope), node.subject)
    cases = [lambda case=case: walk.execute(case.body, scope) for case in node.cases]
    return explore(walk, scope, [*cases, lambda: None])


def _changing(walk: ModeInterpreter, node: state.Assignment, scope: Scope) -> Signal:
    names = state.set_by(node) - walk.read
    state.check(walk, node, scope)
    signal = python.HANDLERS[type(node)](walk, node, scope)
    carried.check(walk, node, scope)
    walk.read -= names  # what is only counted on is read by nobody
    state.renew(walk, node, scope)
    return signal


def _expression(walk: ModeInterpreter, node: ast.Expr, scope: Scope) -> Signal:
    """A call for what it does; ``self.warm_up() if self.training else None`` is a branch."""
    if isinstance(node.value, ast.IfExp):
        chosen = node.value
        body: list[ast.stmt] = [ast.copy_location(ast.Expr(chosen.body), chosen)]
        orelse: list[ast.stmt] = [ast.copy_location(ast.Expr(chosen.orelse), chosen)]
        _if(walk, ast.copy_location(ast.If(chosen.test, body, orelse), node), scope)
    elif not isinstance(node.value, ast.Constant):
        walk.evaluate(node.value, scope)
    return None


def _assert(walk: ModeInterpreter, node: ast.Assert, scope: Scope) -> Signal:
    """A check is passed over, but for one that a mode never passes."""
    if any(isinstance(part, ast.Attribute) and part.attr == "training" for part in walked(node.test)):
        test = walk.evaluate(node.test, scope)
        answers = _truths_here(walk, test)
        if set(answers) == {True, False} or (walk.catching and _splits(walk, test)):
            _report_choice(walk, test, node.test)
    return None


def _nothing(walk: ModeInterpreter, node: ast.stmt, scope: Scope) -> Signal:
    return None


HANDLERS: dict[type[ast.stmt], Callable[..., Signal]] = {
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    getattr(ast, "TryStar", ast.Try): _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Match: _match,
    ast.Assign: _changing,
    ast.AugAssign: _changing,
    ast.AnnAssign: _changing,
    ast.Delete: _nothing,
    ast.Assert: _assert,
    ast.Expr: _expression,
}
