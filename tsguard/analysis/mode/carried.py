"""Tensors that an attribute carries from one call to the next: read first, then set, in every call."""

from __future__ import annotations

import ast
from itertools import chain

from tsguard.analysis.mode import state
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python.private_names import attribute_name
from tsguard.analysis.values import ListValue, ModuleValue, Scope, TensorValue, TupleValue, Unknown, Value
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked


def check(walk: ModeInterpreter, node: state.Assignment, scope: Scope) -> None:
    """Report what an assignment that has run carries over to the next call: ``self.hidden = self.cell(x, self.hidden)``."""
    if walk.mode == "train" or not isinstance(node, ast.Assign):
        return
    targets = chain.from_iterable(t.elts if isinstance(t, ast.Tuple) else [t] for t in node.targets)
    attributes = [target for target in targets if isinstance(target, ast.Attribute)]
    if not attributes or not state.is_in_every_call(walk, node):
        return
    for target in attributes:
        if _is_carried(walk, target, node, scope):
            walk.report("state-updated-in-eval", target, name=unparsed(target))


def _is_carried(walk: ModeInterpreter, target: ast.Attribute, node: ast.Assign, scope: Scope) -> bool:
    owner = walk.evaluate(target.value, scope)
    name = attribute_name(target.attr, scope)
    if not isinstance(owner, ModuleValue) or walk.tree.path(owner) is None or (owner, name) in walk.renewed:
        return False
    if state.is_move(target, node.value) or not _is_read(walk, target, node):
        return False
    return _is_computed(owner.attributes.get(name)) or isinstance(owner.buffers.get(name), TensorValue)


def _is_read(walk: ModeInterpreter, target: ast.Attribute, node: ast.Assign) -> bool:
    """Whether the function reads the attribute before it sets it, for more than to ask whether it is None."""
    function, text = walk.frames[-1].function, unparsed(target)
    if function is None:
        return False
    asked = {
        id(part.left)
        for part in walked(function)
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Is, ast.IsNot))
    }
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Load)
        and id(part) not in asked
        and (part.lineno < node.lineno or any(inside is part for inside in walked(node.value)))
        and unparsed(part) == text
        for part in walked(function)
    )


def _is_computed(value: Value | None) -> bool:
    """Whether a value is a Tensor, or holds one, that is not one of the module's own."""
    if isinstance(value, (TupleValue, ListValue)):
        return any(map(_is_computed, value.items))
    if isinstance(value, Unknown):
        return _is_computed(value.default)
    return isinstance(value, TensorValue) and value.role not in ("parameter", "buffer")
