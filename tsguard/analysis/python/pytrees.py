"""``torch.utils._pytree``: nested lists, tuples and dicts taken apart to their leaves, and put together again."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    DictValue,
    External,
    ListValue,
    ObjectValue,
    TupleValue,
    Unknown,
    Value,
)

Args = list[Value]
Kwargs = dict[str, Value]

_SPEC = External("torch.utils._pytree.TreeSpec")
# No attribute can have this name.
_TREE = "the tree"


class _Open(Exception):
    """What a tree is made of is not told."""


def _parts(tree: Value) -> list[Value] | None:
    """What a node of a tree holds, or None for a leaf.

    Raises:
        _Open: how much it holds is not told.
    """
    if type(tree) is Unknown:
        raise _Open
    if not isinstance(tree, (DictValue, ListValue, TupleValue)):
        return None
    if tree.open or (isinstance(tree, TupleValue) and type(tree) is not TupleValue):
        raise _Open
    return list(tree.items.values()) if isinstance(tree, DictValue) else list(tree.items)


def _leaves(tree: Value) -> list[Value]:
    held = _parts(tree)
    return [tree] if held is None else [leaf for part in held for leaf in _leaves(part)]


def _rebuilt(tree: Value, leaf: Callable[[Value], Value]) -> Value:
    """A tree of the same form, with something in the place of each leaf."""
    held = _parts(tree)
    if held is None:
        return leaf(tree)
    parts = [_rebuilt(part, leaf) for part in held]
    if isinstance(tree, DictValue):
        return DictValue(dict(zip(tree.items, parts, strict=True)), ordered=tree.ordered)
    return TupleValue(tuple(parts), cls=tree.cls) if isinstance(tree, TupleValue) else ListValue(parts)


def _given(args: Args, kwargs: Kwargs, index: int, name: str) -> Value:
    return args[index] if index < len(args) else kwargs.get(name, Unknown())


def _flattened(interp: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    tree = _given(args, kwargs, 0, "tree")
    return TupleValue((ListValue(_leaves(tree)), ObjectValue(_SPEC, {_TREE: tree}, open=True)))


def _listed(interp: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(_leaves(_given(args, kwargs, 0, "tree")))


def _unflattened(interp: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    leaves, spec = _given(args, kwargs, 0, "leaves"), _given(args, kwargs, 1, "treespec")
    tree = spec.attributes.get(_TREE) if isinstance(spec, ObjectValue) else None
    if tree is None or not isinstance(leaves, (ListValue, TupleValue)) or leaves.open:
        raise _Open
    if len(leaves.items) != len(_leaves(tree)):
        raise _Open
    left = iter(leaves.items)
    return _rebuilt(tree, lambda _: next(left))


def _mapped(interp: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, tree = _given(args, kwargs, 0, "func"), _given(args, kwargs, 1, "tree")
    if len(args) > 2:  # several trees at once
        raise _Open
    _leaves(tree)
    return _rebuilt(tree, lambda leaf: interp.call(function, [leaf], {}))


_HANDLERS: dict[str, Callable[[Interpreter, Args, Kwargs], Value]] = {
    "tree_flatten": _flattened,
    "tree_leaves": _listed,
    "tree_map": _mapped,
    "tree_unflatten": _unflattened,
}
_MODULES = ("torch.utils._pytree.", "torch.utils.pytree.")


def call(interp: Interpreter, name: str, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value | None:
    """The result of a function over trees; None for any other."""
    handler = _HANDLERS.get(name.rpartition(".")[2]) if name.startswith(_MODULES) else None
    if handler is None or "is_leaf" in kwargs:
        return None
    try:
        return handler(interp, args, kwargs)
    except _Open:
        return Unknown(placed(node))
