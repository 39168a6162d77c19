"""Functions of other packages that cannot matter: nothing that they reach is random or asks for the mode.

What such a function computes of tensors is a tensor; it is not followed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.budgets import MODE_INDEPENDENT_FUNCTIONS
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.mode.state import changes_in_place
from tsguard.analysis.python import Raised, ancestry
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import (
    ClassMethod,
    ClassValue,
    Const,
    FunctionValue,
    ListValue,
    ModuleReference,
    ModuleValue,
    Scope,
    StaticMethod,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.language.modes import FUNCTIONS, is_random_operator
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


# What reads attributes by names that are values.
_BY_NAME = frozenset({"getattr", "hasattr", "vars", "attrgetter"})
_MODE_DEPENDENT = {name.rpartition(".")[2] for name in FUNCTIONS} | {"training", "random", "Dropout"}


_MODE_INDEPENDENT: Kept[FunctionNode, frozenset[str] | None] = Kept()


def computes_only(
    walk: ModeInterpreter, function: FunctionValue, args: Iterable[Value], receiver: ModuleValue | None
) -> bool:
    """Whether a call is given tensors and settings alone, by a function that makes nothing else of them.

    The receiver of a method counts as such when it holds no modules and no functions.
    """
    values = [value for value in args if value is not receiver]
    if not all(map(_is_plain, values)) or not any(map(_holds_tensor, values)):
        return False
    if receiver is not None and (receiver.children or not all(map(_is_plain, receiver.attributes.values()))):
        return False
    known = _MODE_INDEPENDENT.of(walk.program)
    if function.node not in known:
        known[function.node] = _read_independently(walk, function, receiver)
    read = known[function.node]
    if receiver is not None:
        walk.read |= read or frozenset()
    return read is not None


def _is_plain(value: Value) -> bool:
    if isinstance(value, (ListValue, TupleValue)):
        return all(map(_is_plain, value.items))
    return isinstance(value, (Const, TensorValue)) or type(value) is Unknown


def _holds_tensor(value: Value) -> bool:
    if isinstance(value, (ListValue, TupleValue)):
        return any(map(_holds_tensor, value.items))
    return isinstance(value, TensorValue) or (isinstance(value, Unknown) and value.default is None)


def _read_independently(
    walk: ModeInterpreter, function: FunctionValue, receiver: ModuleValue | None
) -> frozenset[str] | None:
    """The names of the attributes that a function reads; None where what it reaches depends on the mode."""
    seen: set[ast.AST] = set()
    read: set[str] = set()
    todo = [function]
    state = {*receiver.buffers, *receiver.parameters} if receiver is not None else set()
    for base in ancestry.mro(walk, receiver.cls) if receiver is not None else ():
        todo.extend(_functions(base))
    while todo:
        current = todo.pop()
        if current.node in seen:
            continue
        seen.add(current.node)
        if len(seen) > MODE_INDEPENDENT_FUNCTIONS:
            return None
        for node in walked(current.node):
            if _writes(node, state):
                return None
            word = (
                node.id
                if isinstance(node, ast.Name)
                else node.attr
                if isinstance(node, ast.Attribute)
                else ""
            )
            if (
                word in _MODE_DEPENDENT
                or is_random_operator(word)
                or (changes_in_place(word) and word in walk.tables.tensor)
            ):
                return None
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            if isinstance(node, (ast.Name, ast.Attribute)):
                todo.extend(_functions(_global(walk, node, current.scope)))
            if word in _BY_NAME:
                read.add("__dict__")
    return frozenset(read)


def _writes(node: ast.AST, state: Collection[str]) -> bool:
    """Whether a statement assigns to a piece of state, or to items of it."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    for target in targets if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else ():
        place = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(place, ast.Attribute) and place.attr in state:
            return True
    return False


def _global(walk: ModeInterpreter, node: ast.expr, scope: Scope) -> Value | None:
    """What a name is, or a member of the module that it names: ``F.masked``; None for anything else."""
    if isinstance(node, ast.Name):
        return walk.plain.lookup(node.id, scope)
    owner = _global(walk, node.value, scope) if isinstance(node, ast.Attribute) else None
    if not isinstance(owner, (ModuleReference, ClassValue)):
        return None
    try:
        return walk.plain.attribute(owner, node.attr) if isinstance(node, ast.Attribute) else None
    except Raised:
        return None


def _functions(value: Value | None) -> Iterator[FunctionValue]:
    """The code behind a name: a function, or all the methods of a class."""
    if isinstance(value, ClassValue):
        for member in value.members.values():
            if not isinstance(member, ClassValue):
                yield from _functions(member)
    elif isinstance(value, (StaticMethod, ClassMethod)):
        yield from _functions(value.function)
    elif isinstance(value, FunctionValue):
        yield value
