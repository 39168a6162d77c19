"""Statements, each run once; loops over what is not counted run for what is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tsguard.analysis.python import (
    ancestry,
    assignments,
    caught,
    decorators,
    initialising,
    managers,
    matching,
    metaclasses,
    names,
    operations,
)
from tsguard.analysis.python.context import BREAK, CONTINUE, Interpreter, Raised, Return, Signal
from tsguard.analysis.python.iteration import any_turn, consume, give_back, growing
from tsguard.analysis.python.narrowing import narrow
from tsguard.analysis.terms import Place, rests_on_place
from tsguard.analysis.values import (
    NONE,
    ClassValue,
    Const,
    DictValue,
    External,
    ListValue,
    ObjectValue,
    Scope,
    SetValue,
    TensorValue,
    Unknown,
    Value,
)
from tsguard.source.unread import Unread
from tsguard.source.walking import walked

Handler = Callable[..., Signal]


def execute(interp: Interpreter, body: list[ast.stmt], scope: Scope) -> Signal:
    """Run statements until one returns, breaks, continues or raises."""
    is_lenient = interp.is_lenient
    for node in body:
        interp.spend()
        handler = HANDLERS.get(type(node))
        if handler is not None:
            signal = _passed(interp, handler, node, scope) if is_lenient else handler(interp, node, scope)
            if signal is not None:
                return signal
    return None


def _passed(interp: Interpreter, handler: Handler, node: ast.stmt, scope: Scope) -> Signal:
    """A statement that raises is passed over; what it was to assign is unknown."""
    try:
        return handler(interp, node, scope)
    except Raised:
        for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
            if isinstance(target, ast.expr):
                assignments.assign(interp, target, Unknown(), scope)
        return None


def expression(interp: Interpreter, node: ast.Expr, scope: Scope) -> Signal:
    if not isinstance(node.value, ast.Constant):
        interp.evaluate(node.value, scope)
    return None


def _assign(interp: Interpreter, node: ast.Assign, scope: Scope) -> Signal:
    value = interp.evaluate(node.value, scope)
    for target in node.targets:
        assignments.assign(interp, target, value, scope)
    return None


def _annotated(interp: Interpreter, node: ast.AnnAssign, scope: Scope) -> Signal:
    if node.value is not None:
        value = interp.evaluate(node.value, scope)
        assignments.assign(interp, node.target, value, scope)
    return None


def _augmented(interp: Interpreter, node: ast.AugAssign, scope: Scope) -> Signal:
    left = interp.evaluate(node.target, scope)
    right = interp.evaluate(node.value, scope)
    result = operations.in_place(interp, node.op, left, right, node)
    assignments.assign(interp, node.target, result, scope)
    return None


def _return(interp: Interpreter, node: ast.Return, scope: Scope) -> Signal:
    return Return(NONE if node.value is None else interp.evaluate(node.value, scope))


def _if(interp: Interpreter, node: ast.If, scope: Scope) -> Signal:
    world, goes_on = interp.world, isinstance(node.body[0], ast.If)
    if goes_on or world.goes_on or isinstance(node.test, ast.BoolOp):
        with world.test():
            holds = condition(interp, node.test, scope, node)
        world.goes_on = goes_on and holds
    else:
        holds = condition(interp, node.test, scope, node)
    narrow(interp, node.test, holds, scope)
    return interp.execute(node.body if holds else node.orelse, scope)


def condition(interp: Interpreter, test: ast.expr, scope: Scope, node: ast.If | None = None) -> bool:
    """The truth of a test; where it is open, a branch that only raises is not taken."""
    if node is not None and isinstance(test, ast.BoolOp) and _only_raises(node.body):
        if isinstance(test.op, ast.Or):
            return any(condition(interp, part, scope, node) for part in test.values)
        return all(condition(interp, part, scope, node) for part in test.values)
    value = interp.settled(interp.evaluate(test, scope))
    if isinstance(value, Unknown) and value.default is None and node is not None:
        if _only_raises(node.body):
            return interp.world.decide(value.term or Place(test), False, guess=True)
        if node.orelse and _only_raises(node.orelse):
            return interp.world.decide(value.term or Place(test), True, guess=True)
    if node is not None and _only_raises(node.body):
        if isinstance(value, TensorValue):
            return value.filling is not None and interp.truth(value, test)
        if isinstance(value, (DictValue, ListValue, SetValue)) and value.open and not value.items:
            return False  # it may hold something, and nothing shows that it does
    return interp.truth(value, test)


def _only_raises(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise) and all(
        isinstance(s, (ast.Expr, ast.Raise, ast.Assign)) for s in body
    )


def _for(interp: Interpreter, node: ast.For, scope: Scope) -> Signal:
    function = None if scope.function is None else scope.function.node
    if initialising.only_initialises(node, function):
        return None
    iterable = interp.settled(interp.evaluate(node.iter, scope))
    items, is_open = consume(interp, iterable)
    before = scope.names
    with interp.looping(len(items), is_open=is_open):
        for count, item in enumerate(growing(iterable, items), 1):
            before = dict(scope.names) if is_open else before
            assignments.assign(interp, node.target, item, scope)
            signal = interp.execute(node.body, scope)
            if signal is BREAK or isinstance(signal, Return):
                give_back(iterable, items[count:])
                return None if signal is BREAK else signal
        if is_open and any_turn(scope, before):
            assignments.assign(interp, node.target, items[-1], scope)
            signal = interp.execute(node.body, scope)
            if isinstance(signal, Return):
                return signal
    return interp.execute(node.orelse, scope)


def _while(interp: Interpreter, node: ast.While, scope: Scope) -> Signal:
    while True:
        test = interp.settled(interp.evaluate(node.test, scope))
        if isinstance(test, Unknown):
            return _uncounted(interp, node, scope)
        if not interp.truth(test, node.test):
            return interp.execute(node.orelse, scope)
        signal = interp.execute(node.body, scope)
        if signal is BREAK:
            return None
        if isinstance(signal, Return):
            return signal


def _uncounted(interp: Interpreter, node: ast.While, scope: Scope) -> Signal:
    with interp.looping(1, is_open=True):
        before = dict(scope.names)
        signal = interp.execute(node.body, scope)
        if signal is None:
            any_turn(scope, before)
            signal = interp.execute(node.body, scope)
    return signal if isinstance(signal, Return) else None


def _raise(interp: Interpreter, node: ast.Raise, scope: Scope) -> Signal:
    raised = Raised("", node)
    if node.exc is not None:
        value = interp.evaluate(node.exc, scope)
        raised = Raised(exception_name(value), node)
        cls = value.cls if isinstance(value, ObjectValue) else value
        if isinstance(cls, ClassValue):
            names = [getattr(base, "name", "") for base in ancestry.mro(interp, cls)]
            raised.kin = tuple([name.rpartition(".")[2] for name in names])
    raise raised


def exception_name(value: Value) -> str:
    """The class name of an exception object or class."""
    cls = value.cls if isinstance(value, ObjectValue) else value
    return str(getattr(cls, "name", "")).rpartition(".")[2]


def _assert(interp: Interpreter, node: ast.Assert, scope: Scope) -> Signal:
    if not _holds(interp, node.test, scope):
        raise Raised("AssertionError", node)
    narrow(interp, node.test, True, scope)
    return None


def _holds(interp: Interpreter, test: ast.expr, scope: Scope) -> bool:
    """Whether an assertion holds: of what was computed it does, as nothing shows that its author was wrong."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return all(_holds(interp, part, scope) for part in test.values)
    if isinstance(test, ast.BoolOp):
        return any(_holds(interp, part, scope) for part in test.values)
    value = interp.settled(interp.evaluate(test, scope))
    if not isinstance(value, Unknown):
        return not isinstance(value, Const) or bool(value.value)
    term, world = value.term, interp.world
    if term is None or (rests_on_place(term) and world.answer(term) is None):
        return True
    return world.decide(term, True)


def _try(interp: Interpreter, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, ast.Try)
    signal: Signal = None
    may_go_on = not all(_passes_on(handler) for handler in node.handlers)
    interp.tries += may_go_on
    try:
        try:
            signal = interp.execute(node.body, scope)
        finally:
            interp.tries -= may_go_on
        if signal is None:
            signal = interp.execute(node.orelse, scope)
    except Raised as raised:
        signal = _handled(interp, node, raised, scope)
    final = interp.execute(node.finalbody, scope)
    return final if final is not None else signal


def _handled(interp: Interpreter, node: ast.Try, raised: Raised, scope: Scope) -> Signal:
    """Run the handler that takes it, else what is done finally, after which it is raised again.

    Raises:
        Raised: no handler takes it, or the one that does raises.
    """
    try:
        handler = caught.handler(node, raised.name, raised.kin)
        if handler is None:
            raise raised
        if handler.name:
            exception = External(f"builtins.{raised.name or 'Exception'}")
            scope.names[handler.name] = ObjectValue(exception, open=True)
        return interp.execute(handler.body, scope)
    except Raised:
        interp.execute(node.finalbody, scope)
        raise


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether what a handler catches is raised all the same, if in other words."""
    ends = isinstance(handler.body[-1], ast.Raise)
    return ends and not any(isinstance(n, ast.Return) for s in handler.body for n in walked(s))


def _with(interp: Interpreter, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, (ast.With, ast.AsyncWith))
    return within(interp, node.items, node.body, scope)


def within(interp: Interpreter, items: Sequence[ast.withitem], body: list[ast.stmt], scope: Scope) -> Signal:
    """Run a body within the first of the managers, and the others in that."""
    if not items:
        return interp.execute(body, scope)
    item, *others = items

    def entered(value: Value) -> Signal:
        if item.optional_vars is not None:
            assignments.assign(interp, item.optional_vars, value, scope)
        return within(interp, others, body, scope)

    manager = interp.settled(interp.evaluate(item.context_expr, scope))
    return managers.run(interp, manager, item, entered)


def _function(interp: Interpreter, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    scope.names[node.name] = decorators.define_function(interp, node, scope)
    return None


def _class(interp: Interpreter, node: ast.ClassDef, scope: Scope) -> Signal:
    scope.names[node.name] = metaclasses.define_class(interp, node, scope)
    return None


def _import(interp: Interpreter, node: ast.stmt, scope: Scope) -> Signal:
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    if interp.tries and any(interp.program.project.absent(scope.module, node)):
        raise Raised("ModuleNotFoundError", node)
    for bound, value in names.imported(interp, node, scope):
        scope.names[bound] = value
    return None


def _delete(interp: Interpreter, node: ast.Delete, scope: Scope) -> Signal:
    for target in node.targets:
        assignments.delete(interp, target, scope)
    return None


def _global(interp: Interpreter, node: ast.stmt, scope: Scope) -> Signal:
    return None


def _match(interp: Interpreter, node: ast.Match, scope: Scope) -> Signal:
    subject = interp.settled(interp.evaluate(node.subject, scope))
    for case in node.cases:
        if matching.fits(interp, subject, case, scope):
            return interp.execute(case.body, scope)
    return None


HANDLERS: dict[type[ast.stmt], Handler] = {
    ast.Expr: expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Try: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _function,
    Unread: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Match: _match,
    ast.Break: lambda interp, node, scope: BREAK,
    ast.Continue: lambda interp, node, scope: CONTINUE,
}
