"""Binding values to targets: names, attributes, items, unpacking; imports; deletion."""

from __future__ import annotations

import ast

from tsguard.analysis.python import classes, module_containers
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import consume, item_term
from tsguard.analysis.python.operations import hint_of
from tsguard.analysis.python.private_names import attribute_name
from tsguard.analysis.values import (
    BoundMethod,
    Const,
    DictValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Scope,
    SliceValue,
    Unknown,
    Value,
    constant,
    slice_of,
)
from tsguard.source.functions import FunctionNode
from tsguard.source.remembering import remembered


def assign(interp: Interpreter, target: ast.expr, value: Value, scope: Scope) -> None:
    """Bind a value to an assignment target."""
    if isinstance(target, ast.Name):
        _bind(interp, target.id, value, holder(target.id, scope), scope)
    elif isinstance(target, ast.Attribute):
        name = attribute_name(target.attr, scope)
        interp.set_attribute(interp.evaluate(target.value, scope), name, value)
    elif isinstance(target, ast.Subscript):
        owner = interp.evaluate(target.value, scope)
        interp.set_item(owner, interp.evaluate(target.slice, scope), value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(interp, target.elts, value, scope)
    elif isinstance(target, ast.Starred):
        assign(interp, target.value, value, scope)


def _bind(interp: Interpreter, name: str, value: Value, holding: Scope, scope: Scope) -> None:
    if holding is not scope and not interp.is_defining:
        interp.program.shared_state.changing(holding.names, name)
    holding.names[name] = value


def holder(name: str, scope: Scope) -> Scope:
    """The scope that a name is bound in, which ``global`` and ``nonlocal`` change."""
    if scope.function is None or name not in _declared(scope.function.node):
        return scope
    runner = scope.parent
    while runner is not None and not (runner.is_global or name in runner.names):
        runner = runner.parent
    return runner or scope


@remembered(4096)
def _declared(function: FunctionNode) -> frozenset[str]:
    """The names that a function declares ``global`` or ``nonlocal``."""
    body = [] if isinstance(function, ast.Lambda) else function.body
    declared = (s.names for s in body if isinstance(s, (ast.Global, ast.Nonlocal)))
    return frozenset(name for names in declared for name in names)


def _unpack(interp: Interpreter, targets: list[ast.expr], value: Value, scope: Scope) -> None:
    star = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    items, is_open = consume(interp, value, wanted=len(targets) if star is None else None)
    if is_open or (star is None and len(items) != len(targets)):
        for i, target in enumerate(targets):
            item = items[i] if i < len(items) else Unknown(item_term(value, i))
            if star is not None and i > star and isinstance(item, Const):
                item = Unknown(
                    item_term(value, i - len(targets)), hint_of(item)
                )  # how many come before is open
            # The rest is a list, however many there are in it.
            assign(interp, target, ListValue(items[i:] or [item], open=True) if i == star else item, scope)
        return
    if star is not None:
        after = len(targets) - star - 1
        middle: list[Value] = items[star : len(items) - after]
        rest = ListValue(middle, open=isinstance(value, Unknown) and value.default is None)
        items = [*items[:star], rest, *items[len(items) - after :]]
    for target, item in zip(targets, items, strict=False):
        assign(interp, target, item, scope)


def delete(interp: Interpreter, target: ast.expr, scope: Scope) -> None:
    """Unbind a name, attribute or item."""
    if isinstance(target, ast.Name):
        scope.names.pop(target.id, None)
    elif isinstance(target, ast.Attribute):
        delete_attribute(interp, interp.evaluate(target.value, scope), attribute_name(target.attr, scope))
    elif isinstance(target, ast.Subscript):
        owner = interp.evaluate(target.value, scope)
        _delete_item(interp.settled(owner), interp.settled(interp.evaluate(target.slice, scope)))
        interp.program.shared_state.used(owner, interp.is_defining)


def delete_attribute(interp: Interpreter, owner: Value, name: str) -> None:
    """``del owner.name``, as a ``__delattr__`` of its class says."""
    hook = classes.own_hook(interp, owner, "__delattr__") if isinstance(owner, ModuleValue) else None
    if hook is None:
        unbind(owner, name)
        interp.program.shared_state.used(owner)
    else:
        interp.call(BoundMethod(hook, owner), [Const(name)], {}, None)


def unbind(owner: Value, name: str) -> None:
    """Take an attribute off an object."""
    if isinstance(owner, ModuleValue):
        for registry in (owner.children, owner.parameters, owner.buffers):
            registry.pop(name, None)
    if isinstance(owner, ObjectValue):
        owner.attributes.pop(name, None)


def _delete_item(owner: Value, key: Value) -> None:
    """``del owner[key]``."""
    index = slice_of(key) if isinstance(key, SliceValue) else constant(key)
    if isinstance(owner, ModuleValue):
        module_containers.remove(owner, key)
    elif isinstance(owner, DictValue) and not isinstance(index, Value):
        owner.items.pop(index, None)
    elif (isinstance(owner, ListValue) and isinstance(index, slice)) or (
        isinstance(owner, ListValue)
        and isinstance(index, int)
        and -len(owner.items) <= index < len(owner.items)
    ):
        del owner.items[index]
