"""Statements that behave differently while tracing: branches, loops, checks, exceptions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.budgets import OPEN_TURNS, TRACED_TURNS
from tsguard.analysis.events import Event
from tsguard.analysis.export import data, recording, sizes
from tsguard.analysis.python import assignments, operations
from tsguard.analysis.python.context import BREAK, Raised, Return, Signal
from tsguard.analysis.python.iteration import any_turn, consume, give_back, growing
from tsguard.analysis.trace import (
    alternatives,
    binding,
    branches,
    comparing,
    conditions,
    exceptions,
    expansions,
    gradient_blocks,
    guards,
    operators,
    shaping,
    sizes_in_place,
    unanswered,
    unrecorded,
)
from tsguard.analysis.trace.branches import both
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.telling import only_tells, tells_torch
from tsguard.analysis.trace.values import Fixed, Number
from tsguard.analysis.values import Scope
from tsguard.language.rule_names import RuleName
from tsguard.source.layouts import lays_out
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked
from tsguard.source.ways_out import ways_out

Handler = Callable[["Tracer", ast.stmt, Scope], Signal]

# What statements do in place, as the method of tensors that does it.
_IN_PLACE = {
    ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_", ast.Pow: "pow_", ast.Mod: "remainder_",
    ast.FloorDiv: "floor_divide_", ast.BitAnd: "bitwise_and_", ast.BitOr: "bitwise_or_",
}  # fmt: skip


def _assign(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.Assign)
    if len(node.targets) == 1 and binding.unpack_star(tracer, node.targets[0], node.value, scope):
        return None
    value = tracer.evaluate(node.value, scope)
    tracer.node = node.value
    for target in node.targets:
        binding.bind(tracer, target, value, scope)
    return None


def _augmented(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.AugAssign)
    left = tracer.evaluate(node.target, scope)
    right = tracer.evaluate(node.value, scope)
    unrecorded.changed(tracer, left, [right], _IN_PLACE.get(type(node.op), ""))
    recording.changed(tracer, left, node)
    sizes_in_place.changed(tracer, left, node, right)
    if tracer.state.mutate(tracer, left):
        return None
    if operators.concerns(left, right) and not isinstance(left, py.ListValue):
        result = operators.binary(tracer, node.op, left, right, node)
    else:
        result = operations.in_place(tracer, node.op, left, right, node)
    if isinstance(left, py.TensorValue) and isinstance(result, py.TensorValue) and left in tracer.constants:
        tracer.constants[result] = tracer.constants[left]
    tracer.node = node
    binding.bind(tracer, node.target, result, scope)
    return None


def _return(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.Return)
    value = py.NONE if node.value is None else tracer.evaluate(node.value, scope)
    if tracer.overwritten:
        sizes_in_place.read(tracer, [value])
    if len(tracer.frames) == 1:
        tracer.outputs.append((tracer.frames[0], node, value))
    return Return(value)


def _if(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.If)
    if tells_torch(tracer, node, scope):
        return None
    tells = only_tells(tracer, node, scope)
    if tracer.following and isinstance(tracer.following[0], ast.Raise) and not node.orelse:
        node = _or_raising((node, tracer.following[0]))
    if tells or _may_stop(node):
        return _checked(tracer, node, scope, has_effect=not tells)
    value = tracer.settled(tracer.evaluate(node.test, scope))
    if isinstance(value, Fixed) and value.about == "tracing":
        return _decided(tracer, node, value, scope)
    harmless = _harmless(node) if isinstance(value, Number) and value.known is None else None
    if isinstance(value, Number) and harmless is not None:
        data.asked(tracer, value, node.test)
        sizes.decided(tracer, value, node.test)
        tracer.report(harmless, node.test, value.origin)
        return tracer.execute(node.body, scope)
    answer = conditions.decide(tracer, value, node.test, "if")
    if answer is None:
        tracer.open_ifs.add(node)
        return both(
            tracer,
            lambda: tracer.execute(node.body, scope),
            lambda: tracer.execute(node.orelse, scope),
            scope,
            value,
        )
    body, other = (node.body, node.orelse) if answer else (node.orelse, node.body)
    if id(node) in tracer.state.guards and guards.writes(other, scope):
        tracer.state.fill_behind(tracer, [node])
    following = tracer.following
    unanswered.looked_at(tracer, value, node.test, lambda: tracer.execute([*other, *following], scope), scope)
    return tracer.execute(body, scope)


def _harmless(node: ast.If) -> RuleName | None:
    """The rule that tells of a branch after which all elements are what they are without it."""
    if expansions.only_expands(node):
        return "untraced-check/expanded"
    return "untraced-check/laid-out" if all(map(lays_out, (*node.body, *node.orelse))) else None


def _checked(tracer: Tracer, node: ast.If, scope: Scope, *, has_effect: bool) -> Signal:
    """``if x.shape[1] != 3: raise ...``: what eager takes goes the other way.

    Whether it does shows when the branches have been followed, unless they have no effect at all.
    """
    known = dict(tracer.events)
    with tracer.checking(node.test):
        value = tracer.settled(tracer.evaluate(node.test, scope))
    if isinstance(value, Fixed) and value.about == "tracing":
        return _decided(tracer, node, value, scope)
    answer = conditions.decide(tracer, value, node.test, "assert")
    if answer is not None:
        return tracer.execute(node.body if answer else node.orelse, scope)
    if not has_effect:
        return None
    noted = {key: event for key, event in tracer.events.items() if key not in known}
    first, after, second = branches.tried(
        tracer,
        lambda: tracer.execute(node.body, scope),
        lambda: tracer.execute(node.orelse, scope),
        scope,
        value,
    )
    stops = isinstance(first, Raised)
    if stops == isinstance(second, Raised):
        _reconsider(tracer, node, scope, noted)
    elif isinstance(value, Fixed) and not tracer.is_own(tracer.module):
        _forget(tracer, noted)
        shaping.learn(tracer, value.tells.if_false if stops else value.tells.if_true)
    elif isinstance(value, (Number, Fixed)):
        shaping.learn(tracer, value.tells.if_false if stops else value.tells.if_true)
    return branches.resumed(tracer, first, second, after, scope)


def _reconsider(tracer: Tracer, node: ast.If, scope: Scope, noted: dict[tuple[object, ...], Event]) -> None:
    """Report what was taken for a check as the condition that it is."""
    _forget(tracer, noted)
    conditions.decide(tracer, tracer.settled(tracer.evaluate(node.test, scope)), node.test, "if")


def _forget(tracer: Tracer, noted: dict[tuple[object, ...], Event]) -> None:
    for key in noted:
        tracer.events.pop(key, None)
        tracer.parts.pop(key, None)


@remembered(4096)
def _or_raising(statements: tuple[ast.If, ast.Raise]) -> ast.If:
    """``if n == 3: return x`` before ``raise``: the same with what comes next as its other side."""
    node, stop = statements
    if not isinstance(node.body[-1], ast.Return):
        return node
    return ast.copy_location(ast.If(node.test, node.body, [stop]), node)


@remembered(4096)
def _may_stop(node: ast.If) -> bool:
    """Whether either branch has a ``raise``."""
    return any(isinstance(part, ast.Raise) for side in (*node.body, *node.orelse) for part in walked(side))


def _decided(tracer: Tracer, node: ast.If, value: Fixed, scope: Scope) -> Signal:
    """A branch on tracing: the side for eager could go well, too."""
    answer = value.default is None or operations.known_truth(value.default)
    if any(exceptions.has_effect(statement) for statement in (*node.body, *node.orelse)):
        _compare_sides(tracer, node, answer, scope)
    try:
        return tracer.execute(node.body if answer else node.orelse, scope)
    except Raised:
        if value.origin.root.name:
            tracer.report("unsupported-on-size/type", node.test, value.origin)
        raise


def _compare_sides(tracer: Tracer, node: ast.If, answer: bool, scope: Scope) -> None:
    """Report a branch on tracing whose side for eager could be traced as well."""
    traced, eager = (node.body, node.orelse) if answer else (node.orelse, node.body)
    side = alternatives.to_the_end(tracer, eager)
    if alternatives.only_check(node, [*alternatives.to_the_end(tracer, traced), *side], scope):
        return
    if alternatives.could_be_traced(tracer, lambda: tracer.execute(side, scope), scope, traced):
        ends = any(isinstance(statements[-1], ast.Return) for statements in (traced, eager) if statements)
        rest = tracer.following if ends else []
        alternatives.compared(tracer, node.test, traced or rest, eager or rest, scope)


def _while(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.While)
    left, is_open = TRACED_TURNS, False
    tracer.open_ifs -= ways_out(node)  # what another call left open
    while left:
        answer = conditions.decide(tracer, tracer.evaluate(node.test, scope), node.test, "while")
        if answer is False:
            return tracer.execute(node.orelse, scope)
        if answer is None or (is_open and left == 1):
            with tracer.looping(1, is_open=True):
                signal = both(tracer, lambda: tracer.execute(node.body, scope), lambda: None, scope)
            return signal if isinstance(signal, Return) else None
        signal = tracer.execute(node.body, scope)
        if signal is BREAK or isinstance(signal, Return):
            return None if signal is BREAK else signal
        if not (is_open or tracer.open_ifs.isdisjoint(ways_out(node))):
            left, is_open = OPEN_TURNS, True
        left -= 1
    tracer.gap(node, "this loop has more iterations than are analysed")
    return None


def _for(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, (ast.For, ast.AsyncFor))
    if isinstance(node.iter, ast.IfExp) and (_is_empty(node.iter.body) or _is_empty(node.iter.orelse)):
        return _for_either(tracer, node, node.iter, scope)
    return _for_each(tracer, node, tracer.evaluate(node.iter, scope), scope)


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, (ast.Tuple, ast.List)) and not node.elts


def _for_either(tracer: Tracer, node: ast.For | ast.AsyncFor, choice: ast.IfExp, scope: Scope) -> Signal:
    """``for item in items if test else (): ...`` runs, or does not, as an ``if`` around it would have it."""
    test = tracer.settled(tracer.evaluate(choice.test, scope))
    answer = conditions.decide(tracer, test, choice.test, "if")

    def run(side: ast.expr) -> Signal:
        return _for_each(tracer, node, tracer.evaluate(side, scope), scope)

    if answer is None:
        return both(tracer, lambda: run(choice.body), lambda: run(choice.orelse), scope, test)
    return run(choice.body if answer else choice.orelse)


def _for_each(tracer: Tracer, node: ast.For | ast.AsyncFor, iterable: py.Value, scope: Scope) -> Signal:
    tracer.node = node.iter
    items, is_open = consume(tracer, iterable)
    before = dict(scope.names)
    with tracer.looping(len(items), is_open=is_open):
        for count, item in enumerate(growing(iterable, items), 1):
            assignments.assign(tracer, node.target, item, scope)
            signal = tracer.execute(node.body, scope)
            if signal is BREAK or isinstance(signal, Return):
                give_back(iterable, items[count:])
                return None if signal is BREAK else signal
        if is_open and any_turn(scope, before):
            assignments.assign(tracer, node.target, items[-1], scope)
            both(tracer, lambda: tracer.execute(node.body, scope), lambda: None, scope)
    if is_open:
        _blur(scope, before)
    return tracer.execute(node.orelse, scope)


def _blur(scope: Scope, before: dict[str, py.Value]) -> None:
    """What a loop counts of which nobody counts the turns is any number."""
    for name, value in scope.names.items():
        earlier = before.get(name)
        if isinstance(earlier, py.Const) and isinstance(value, py.Const) and earlier != value:
            scope.names[name] = py.Unknown(None, operations.hint_of(value))


def _assert(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.Assert)
    with tracer.checking(node.test):
        value = tracer.evaluate(node.test, scope)
    if conditions.decide(tracer, value, node.test, "assert") is False and isinstance(value, py.Const):
        raise Raised("AssertionError", node)
    if isinstance(value, (Number, Fixed)):
        shaping.learn(tracer, value.tells.if_true)
    if isinstance(value, Fixed) and value.about == "tracing" and value.default == py.FALSE:
        tracer.report("unsupported-on-size/type", node.test, value.origin)
    return None


def _match(tracer: Tracer, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.Match)
    return _cases(tracer, tracer.settled(tracer.evaluate(node.subject, scope)), node.cases, scope)


def _cases(tracer: Tracer, subject: py.Value, cases: list[ast.match_case], scope: Scope) -> Signal:
    if not cases:
        return None
    case, rest = cases[0], cases[1:]
    answer = _matches(tracer, subject, case.pattern, scope)
    if answer is not False and case.guard is not None:
        guard = conditions.decide(tracer, tracer.evaluate(case.guard, scope), case.guard, "if")
        answer = guard if answer else None if guard is not False else False
    if answer is None:
        return both(
            tracer,
            lambda: tracer.execute(case.body, scope),
            lambda: _cases(tracer, subject, rest, scope),
            scope,
        )
    return tracer.execute(case.body, scope) if answer else _cases(tracer, subject, rest, scope)


def _matches(tracer: Tracer, subject: py.Value, pattern: ast.pattern, scope: Scope) -> bool | None:
    """Whether a pattern matches; None where only inputs tell."""
    if isinstance(pattern, ast.MatchSingleton):
        return _equals(tracer, subject, ast.Is(), py.Const(pattern.value), pattern)
    if isinstance(pattern, ast.MatchValue):
        return _equals(tracer, subject, ast.Eq(), tracer.evaluate(pattern.value, scope), pattern)
    if isinstance(pattern, ast.MatchOr):
        answers = [_matches(tracer, subject, alternative, scope) for alternative in pattern.patterns]
        return True if True in answers else None if None in answers else False
    if isinstance(pattern, ast.MatchAs):
        if pattern.name is not None:
            scope.names[pattern.name] = subject
        return True if pattern.pattern is None else _matches(tracer, subject, pattern.pattern, scope)
    if isinstance(pattern, ast.MatchClass) and not (pattern.patterns or pattern.kwd_patterns):
        wanted = tracer.evaluate(pattern.cls, scope)
        found = tracer.call(py.External("builtins.isinstance"), [subject, wanted], {}, pattern)
        operators.tracing_asked(tracer, [found], pattern)
        return conditions.decide(tracer, found, pattern, "match")
    return None


def _equals(
    tracer: Tracer, subject: py.Value, operator: ast.cmpop, wanted: py.Value, pattern: ast.pattern
) -> bool | None:
    if isinstance(subject, py.Const) and isinstance(wanted, py.Const):
        return subject == wanted
    result = comparing.compare(tracer, operator, subject, wanted, pattern)
    return conditions.decide(tracer, result, pattern, "match")


HANDLERS: dict[type[ast.stmt], Handler] = {
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.Assert: _assert,
    ast.Match: _match,
    ast.Try: exceptions.tried,
    ast.With: gradient_blocks.run,
    ast.Expr: gradient_blocks.stated,
}
