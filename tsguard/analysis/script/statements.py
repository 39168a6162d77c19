"""Statements as torch compiles them: blocks, loops, returns, raise, assert, with.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitStatements`` and below).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis.events import text_of
from tsguard.analysis.script import (
    assignments,
    conditions,
    iteration,
    open_branches,
    returns,
    whole_numbers,
    with_statements,
)
from tsguard.analysis.script.calls import call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.environment import Frame, Unusable
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Simple, Sugared, SugaredException, SugaredUnknown, Tuple, Value
from tsguard.language import grammar
from tsguard.language import types as t
from tsguard.language.relations import unify

Emitter = Callable[["FunctionCompiler", ast.stmt], None]


def emit_all(fc: FunctionCompiler, body: list[ast.stmt]) -> None:
    """Emit statements until the block exits; what follows is not compiled."""
    for node in body:
        emitter = EMITTERS.get(type(node))
        if emitter is not None:
            try:
                emitter(fc, node)
            except Refusal as refusal:
                fc.report(refusal)
                assignments.poison(fc, node)
        else:
            assignments.poison(fc, node)
        if fc.frame.exits:
            return


def _expression(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.Expr)
    if isinstance(node.value, ast.Constant):
        if node.value.value is Ellipsis:
            raise Refusal("unsupported-statement/ellipsis", node)
        return
    fc.sugared(node.value)


def _assign(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assign)
    assignments.emit_assign(fc, node)


def _annotated(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.AnnAssign)
    if node.value is not None:
        assignments.emit_annotated(fc, node)


def _augmented(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.AugAssign)
    assignments.emit_augmented(fc, node)


# -- if --------------------------------------------------------------------------------


def _if(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.If)
    condition = conditions.emit_guarded(fc, node.test)
    emit_branches(fc, node, condition, node.body, node.orelse)


def emit_branches(
    fc: FunctionCompiler,
    node: ast.If,
    condition: conditions.Condition,
    body: list[ast.stmt],
    orelse: list[ast.stmt],
) -> None:
    """Emit an if: both branches, or the one that is statically taken."""
    fc.branches[id(node)] = condition.static
    if condition.static is not None:
        refinements = condition.when_true if condition.static else condition.when_false
        conditions.refine(fc, refinements)
        emit_all(fc, body if condition.static else orelse)
        return
    returned = fc.merged
    then = _branch(fc, body, condition.when_true, (node.test, True))
    if condition.is_open:
        fc.merged = returned if fc.merged == returned else t.UNKNOWN
    otherwise = _branch(fc, orelse, condition.when_false, (node.test, False))
    if then.exits and otherwise.exits:
        fc.frame.exits = True
    elif then.exits or otherwise.exits:
        fc.left_early = fc.left_early or not isinstance((body if then.exits else orelse)[-1], ast.Raise)
    if condition.is_open:
        fc.merged = returned if fc.merged == returned else t.UNKNOWN
        open_branches.join(fc, then, otherwise)
    else:
        _join(fc, node, then, otherwise)


def _branch(
    fc: FunctionCompiler,
    body: list[ast.stmt],
    refinements: conditions.Refinements,
    test: tuple[ast.expr, bool],
) -> Frame:
    fc.push()
    fc.tests.append(test)
    conditions.refine(fc, refinements)
    emit_all(fc, body)
    fc.tests.pop()
    return fc.pop()


def _join(fc: FunctionCompiler, node: ast.stmt, then: Frame, otherwise: Frame) -> None:
    """Variables after an if: those defined on every path that goes on."""
    for name in sorted({*then.variables, *otherwise.variables}):
        in_then = name in then.variables or then.find(name) is not None
        in_else = name in otherwise.variables or otherwise.find(name) is not None
        if not (in_then or then.exits) or not (in_else or otherwise.exits):
            branch = "the true branch" if not (in_then or then.exits) else "the false branch"
            facts = {"name": name, "branch": branch, "line": str(node.lineno)}
            defined = then.variables.get(name) or otherwise.variables.get(name)
            if defined is not None:
                facts["type"] = str(defined.type)
            fc.frame.root.unusable[name] = Unusable("branch-undefined", node, facts)
            continue
        if then.exits and otherwise.exits:
            continue
        _join_variable(fc, node, name, then, otherwise)
    for name, sugared in {**then.sugared, **otherwise.sugared}.items():
        if fc.frame.find(name) is None:
            facts = {"name": name, "kind": sugared.kind, "line": str(node.lineno)}
            fc.frame.root.unusable[name] = Unusable("rebound-object/branch", None, facts)


def _join_variable(fc: FunctionCompiler, node: ast.stmt, name: str, then: Frame, otherwise: Frame) -> None:
    sides = [frame.find(name) for frame in (then, otherwise) if not frame.exits]
    values = [side.value for side in sides if isinstance(side, Simple)]
    if len(values) < len(sides):
        return
    if len(values) == 1:
        fc.frame.variables[name] = values[0]
        fc.frame.sugared.pop(name, None)
        return
    outer = fc.frame.find(name)
    outer_type = outer.value.type if isinstance(outer, Simple) else None
    values = list(whole_numbers.joined(fc, *values))
    to_union = isinstance(outer_type, (t.UnionType, t.OptionalType)) or outer_type is t.NUMBER
    joint = unify(values[0].type, values[1].type, default_to_union=to_union)
    if joint is None:
        facts = {
            "name": name,
            "then": str(values[0].type),
            "otherwise": str(values[1].type),
            "line": str(node.lineno),
        }
        if outer is not None:
            raise Refusal("branch-type-mismatch", node, **facts)
        fc.frame.root.unusable[name] = Unusable("branch-type-mismatch", node, facts)
        return
    parameter = values[0].parameter if values[0].parameter == values[1].parameter else ""
    missing = values[0].missing and values[1].missing
    unlike = values[0].unlike or values[1].unlike
    fc.frame.variables[name] = Value(joint, parameter=parameter, missing=missing, unlike=unlike)
    fc.frame.sugared.pop(name, None)


# -- loops -------------------------------------------------------------------------------


def _for(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.For)
    emit_loop(fc, node.target, node.iter, node, lambda: emit_all(fc, node.body))


def emit_loop(
    fc: FunctionCompiler, target: ast.expr, iterable: ast.expr, node: ast.AST, body: Callable[[], None]
) -> None:
    """Emit a for loop or a comprehension's: unrolled over modules and tuples."""
    iterated = iteration.iterate(fc, fc.sugared(iterable), iterable)
    if isinstance(iterated, SugaredUnknown):
        _rolled(fc, target, Simple(Value(t.UNKNOWN, source=iterated.source)), node, iterable, body)
        return
    unrolled = iteration.unrolled_items(fc, iterated, iterable)
    if unrolled is None:
        element = iteration.element(fc, iterated, iterable)
        _rolled(fc, target, element, node, iterable, body)
        return
    outer, fc.loop = fc.loop, "unrolled"
    try:
        for item in unrolled:
            assignments.assign_item(fc, target, item, iterable, iterable)
            body()
    finally:
        fc.loop = outer


def _rolled(
    fc: FunctionCompiler,
    target: ast.expr,
    element: object,
    node: ast.AST,
    iterable: ast.expr,
    body: Callable[[], None],
) -> None:
    assert isinstance(element, Sugared)
    outer, fc.loop = fc.loop, "loop"
    fc.push()
    try:
        is_unpacked = isinstance(element, Tuple) and isinstance(target, ast.Tuple)
        value = element if is_unpacked else Simple(as_value(fc, element, node))
        assignments.assign_item(fc, target, value, node, iterable)
        body()
    finally:
        fc.pop()
        fc.loop = outer


def _while(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.While)
    fc.push()
    try:
        conditions.emit_guarded(fc, node.test)
    finally:
        fc.pop()
    outer, fc.loop = fc.loop, "loop"
    fc.push()
    emit_all(fc, node.body)
    fc.pop()
    fc.loop = outer


def _jump(fc: FunctionCompiler, node: ast.stmt) -> None:
    word = "break" if isinstance(node, ast.Break) else "continue"
    if fc.loop == "unrolled":
        raise Refusal("jump-in-unrolled-loop", node, statement=word)


# -- raise, assert, with, del ---------------------------------------------------------------


def _raise(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.Raise)
    fc.raising = True
    try:
        if node.exc is not None:
            raised = fc.sugared(node.exc)
            if not isinstance(raised, (SugaredException, SugaredUnknown)) and not _is_unknown(raised):
                raise Refusal("unsupported-statement/raised-value", node, value=text_of(node.exc))
    finally:
        fc.raising = False
        fc.frame.exits = True


def _is_unknown(value: object) -> bool:
    return isinstance(value, Simple) and value.value.type is t.UNKNOWN


def _assert(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.Assert)
    condition = conditions.emit_guarded(fc, node.test)
    if condition.static is not True:
        fc.push()
        conditions.refine(fc, condition.when_false)
        if node.msg is not None:
            fc.raising = True
            fc.attempt(node.msg)
            fc.raising = False
        fc.pop()
        if condition.static is False:
            fc.frame.exits = True
            return
    conditions.refine(fc, condition.when_true)


def _with(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.With)
    if grammar.is_left_to_python(node):
        with_statements.emit_ignored(fc, node)
        return
    for item in node.items:
        with_statements.enter(fc, item)
    emit_all(fc, node.body)


def _delete(fc: FunctionCompiler, node: ast.stmt) -> None:
    assert isinstance(node, ast.Delete)
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            if isinstance(target.slice, ast.Slice):
                raise Refusal("item-assignment/delete", node, target=text_of(target))
            container = fc.expression(target.value)
            _delete_item(fc, container, fc.expression(target.slice), target, node)
        elif isinstance(target, ast.Name):
            if not fc.frame.forget(target.id):
                raise Refusal("undefined-name/deleted", target, name=target.id)
        else:
            raise Refusal("item-assignment/delete", node, target=text_of(target))


def _delete_item(
    fc: FunctionCompiler, container: Value, key: Value, target: ast.Subscript, node: ast.Delete
) -> None:
    is_deleted = isinstance(container.type, (t.ListType, t.DictType)) or container.type is t.UNKNOWN
    if isinstance(container.type, t.ClassType):
        is_deleted = call_method(fc, Simple(container), "__delitem__", [key], node) is not None
    if not is_deleted:
        raise Refusal("item-assignment/delete", node, target=text_of(target))


EMITTERS: dict[type[ast.stmt], Emitter] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: returns.emit_return,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.With: _with,
    ast.Delete: _delete,
    ast.Pass: lambda fc, node: None,
}
