"""Code that is another while tracing: whether there is a reason for it.

Who asks ``torch.jit.is_tracing()``, or whether a size is a tensor, mostly has a trace in
mind: the side of eager does what no trace could follow (a cache, ``math.ceil`` of a size),
and the side for tracing computes the same otherwise.  Where the side of eager could be
traced as it is, nothing is gained for a trace by another one: the two differ, or one is made
for who reads the trace, as ONNX, and computes the same in another way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.budgets import ASIDE_STEPS
from tsguard.analysis.python.context import Raised, Return
from tsguard.analysis.trace import exceptions
from tsguard.analysis.trace.context import LocalBudgetExceeded, Tracer
from tsguard.analysis.trace.rulebook import is_note
from tsguard.analysis.trace.values import Number, depends
from tsguard.report.records import replace
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope


# Functions that tell of a value, and change nothing.
_ASKING = frozenset({"bool", "callable", "getattr", "hasattr", "isinstance", "len", "repr", "str", "type"})
# Functions that check or say something, by their names.
_CHECKS = re.compile(r"_?(check|assert|warn|print|debug|info).*")


def compared(
    tracer: Tracer, test: ast.expr, traced: Sequence[ast.AST], eager: Sequence[ast.AST], scope: Scope
) -> None:
    """Report two sides of which the one for tracing computes something else, or note that nobody knows."""
    operands = test.values if isinstance(test, ast.BoolOp) else []
    if any(_asks_for_size_as_tensor(tracer, operand, scope) for operand in operands):
        return
    others = operands if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else []
    if _asks_for_size_as_tensor(tracer, test, scope) and all(map(_converts, (*traced, *eager))):
        return
    does_nothing = any(map(_computes_nothing, (traced, eager)))
    is_shortcut = any(_asks_of_inputs(tracer, operand, scope) for operand in others)
    is_shortcut = is_shortcut or any(_only_makes_objects(tracer, side, scope) for side in (traced, eager))
    if not is_shortcut and (does_nothing or _without_constants(traced) == _without_constants(eager)):
        tracer.report("tracing-condition", test)
    else:
        tracer.gap(test, f"the source does not tell whether both sides of {unparsed(test)} compute the same")


def _asks_for_size_as_tensor(tracer: Tracer, node: ast.expr, scope: Scope) -> bool:
    """``isinstance(n, torch.Tensor)`` of a size, which is a tensor only while torch traces: one number, two forms."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Compare):  # type(n) in (int, float)
        node = node.left
    given = node.args[0] if isinstance(node, ast.Call) and _asks_for_type(node) else None
    return isinstance(given, ast.Name) and isinstance(tracer.lookup(given.id, scope), Number)


def _asks_for_type(node: ast.expr) -> bool:
    asking = ("isinstance", "torch.is_tensor", "type")
    return isinstance(node, ast.Call) and unparsed(node.func) in asking and bool(node.args)


_CONVERSIONS = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor"})
_CONVERTING = frozenset({"float", "double", "long", "int", "to", "item"})


def _converts(statement: ast.AST) -> bool:
    """``n = torch.tensor(n)``, ``n = n.float()``: another form of the same number."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    call, target = statement.value, unparsed(statement.targets[0])
    if unparsed(call.func) in _CONVERSIONS:
        return bool(call.args) and unparsed(call.args[0]) == target
    return isinstance(call.func, ast.Attribute) and (
        call.func.attr in _CONVERTING and unparsed(call.func.value) == target
    )


def _asks_of_inputs(tracer: Tracer, node: ast.expr, scope: Scope) -> bool:
    """Whether eager goes another way for some inputs only, as ``not is_tracing() and mask.all()`` does."""
    if isinstance(node, ast.UnaryOp) or _asks_for_type(node):
        return False
    names = {name.id for name in walked(node) if isinstance(name, ast.Name)}
    values = [tracer.lookup(name, scope) for name in names]
    return any(value is not None and depends(value) for value in values)


def to_the_end(tracer: Tracer, side: list[ast.stmt]) -> list[ast.stmt]:
    """What runs from one side of a branch to the end of the block that it stands in."""
    ends = side and isinstance(side[-1], (ast.Return, ast.Raise))
    return side if ends else [*side, *tracer.following]


def only_check(node: ast.If, statements: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether both sides of a branch check, warn or raise to the end of their function, which returns None."""
    function = scope.function.node if scope.function is not None else None
    is_outermost = isinstance(function, ast.FunctionDef) and node in function.body
    return is_outermost and all(map(_leaves_nothing, statements))


def _leaves_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return _only_asks(node.test) and all(map(_leaves_nothing, (*node.body, *node.orelse)))
    if isinstance(node, ast.Return):
        return node.value is None
    if isinstance(node, ast.Assign):
        return _only_asks(node.value) and all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return bool(_CHECKS.fullmatch(unparsed(node.value.func).rpartition(".")[2]))
    return isinstance(node, ast.FunctionDef) or not exceptions.has_effect(node)


def _only_asks(node: ast.expr) -> bool:
    """Whether an expression calls nothing but what tells of a value, or a condition that is given as a function."""
    calls = [part for part in walked(node) if isinstance(part, ast.Call)]
    return all(
        isinstance(call.func, ast.Name) and (call.func.id in _ASKING or not (call.args or call.keywords))
        for call in calls
    )


def _computes_nothing(side: Sequence[ast.AST]) -> bool:
    """Whether a side leaves everything as it is, or takes what is there."""
    values = [node.value if isinstance(node, (ast.Assign, ast.Return)) else node for node in side]
    return all(isinstance(value, (ast.Name, ast.Constant, ast.Pass)) for value in values)


def _only_makes_objects(tracer: Tracer, side: Sequence[ast.AST], scope: Scope) -> bool:
    """Whether a side makes objects, such as a cache, and computes nothing: what becomes of them is another question."""
    values = [node.value for node in side if isinstance(node, ast.Assign)]
    return len(values) == len(side) > 0 and all(
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and isinstance(tracer.lookup(value.func.id, scope), py.ClassValue)
        for value in values
    )


def _without_constants(side: Sequence[ast.AST]) -> list[list[object]]:
    """What code is made of, but for the numbers and words in it."""
    return [[_part(node) for node in walked(one) if not isinstance(node, ast.expr_context)] for one in side]


def _part(node: ast.AST) -> object:
    if isinstance(node, ast.Constant):
        return ast.Constant
    named = [getattr(node, field, "") for field in ("id", "attr", "arg", "name")]
    return type(node), *(name for name in named if isinstance(name, str))


def could_be_traced(
    tracer: Tracer, side: Callable[[], object], scope: Scope, traced: Sequence[ast.AST] = ()
) -> bool:
    """Whether tracing the side of eager would have gone well, and not to what ``traced`` returns.

    The walk is left as it was.
    """
    events = dict(tracer.events)
    try:
        with _aside(tracer, scope):
            if _returns(traced, side()):
                return False
            return all(is_note(event.rule) for key, event in tracer.events.items() if key not in events)
    except Raised:
        return False


def _returns(side: Sequence[ast.AST], result: object) -> bool:
    """Whether one side returns the constant that running the other ended with."""
    last = side[0] if len(side) == 1 else None
    written = last.value if isinstance(last, ast.Return) else None
    found = result.value if isinstance(result, Return) else None
    if not isinstance(written, ast.Constant) or not isinstance(found, py.Const):
        return False
    return type(written.value) is type(found.value) and written.value == found.value


@contextmanager
def _aside(tracer: Tracer, scope: Scope) -> Iterator[None]:
    """The walk and the names of a scope are left as they were."""
    names, exports = dict(scope.names), tracer.exports.keys()
    try:
        with undone(tracer):
            yield
    finally:
        tracer.exports.back_to(exports)
        scope.names.clear()
        scope.names.update(names)


def followed_aside(tracer: Tracer, run: Callable[[], object]) -> None:
    """Follow for torch.export what a trace takes as it is compiled; the walk is left as it was.

    Raises:
        Raised: compiled code raises as Python does.
    """
    exports = tracer.exports.keys()
    try:
        with undone(tracer), tracer.allowed(ASIDE_STEPS):
            run()
    except Raised:
        tracer.exports.back_to(exports)
        raise
    except LocalBudgetExceeded:
        return


@contextmanager
def undone(tracer: Tracer) -> Iterator[None]:
    """What is recorded meanwhile is forgotten, but for what it means for torch.export."""
    facts = tracer.facts.copy()
    events, parts = dict(tracer.events), dict(tracer.parts)
    gaps, outputs, histories = list(tracer.gaps), list(tracer.outputs), tracer.state.histories
    written, overwritten = dict(tracer.written), dict(tracer.overwritten)
    returned = [list(frame.returned) for frame in tracer.frames]
    tracer.state.histories = histories.copy()
    tracer.state.histories.update({cell: replace(h, readers=set(h.readers)) for cell, h in histories.items()})
    try:
        yield
    finally:
        tracer.events, tracer.parts, tracer.gaps, tracer.outputs = events, parts, gaps, outputs
        tracer.state.histories, tracer.facts, tracer.written = histories, facts, written
        tracer.overwritten = overwritten
        for frame, values in zip(tracer.frames, returned, strict=True):
            frame.returned[:] = values
