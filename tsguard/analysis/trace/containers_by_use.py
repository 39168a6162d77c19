"""Inputs without an annotation that are lists or dicts of tensors, by what a function does with them."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Literal

from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked

Use = Literal["list", "joined", "dict", "iterated", "tensor", "asked", "stored", ""]
"""What a use shows: what its input is, that it is joined as no tensor can be, gone through, asked for its type or assigned anew, or nothing."""

_CONTRARY: frozenset[Use] = frozenset({"asked", "stored"})

_LISTS = frozenset({"list", "List", "Sequence"})
_TUPLES = frozenset({"tuple", "Tuple"})
_JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"})
# Methods that tensors do not have, but for the values of a sparse one.
_OF_LISTS = frozenset({"append", "extend", "insert", "reverse"})
_OF_DICTS = frozenset({"get", "items", "keys", "setdefault", "update", "values"})
_GOING_THROUGH = frozenset({"enumerate", "iter", "map", "reversed", "zip"})
_ASKING: dict[str, Use] = {
    "isinstance": "asked",
    "hasattr": "asked",
    "type": "asked",
    "len": "",
    "list": "",
    "tuple": "",
}


@dataclass(frozen=True, slots=True)
class Containers:
    """The parameters that are lists and dicts of tensors; ``untold`` are those that are gone through, as the
    rows of a tensor are, and that nothing else is done with."""

    lists: frozenset[str]
    dicts: frozenset[str]
    untold: frozenset[str]


@remembered(4096)
def of_function(node: FunctionNode) -> Containers:
    """The containers among the parameters of a function that are not assigned anew in it.

    What only some calls do with one, as behind ``isinstance(x, list)``, tells nothing of the others.
    """
    uses: defaultdict[str, set[Use]] = defaultdict(set)
    for statement in [] if isinstance(node, ast.Lambda) else node.body:
        checked = _checked_list(statement)
        if checked:
            uses[checked].add("list")
        else:
            _collect(statement, uses, is_sure=True)
    return Containers(
        frozenset(
            name for name, shown in uses.items() if shown & {"list", "joined"} and not shown & _CONTRARY
        ),
        frozenset(
            name
            for name, shown in uses.items()
            if "dict" in shown and not shown & {"list", "joined", *_CONTRARY}
        ),
        frozenset(name for name, shown in uses.items() if "iterated" in shown and shown <= {"iterated", ""}),
    )


def _collect(node: ast.AST, uses: defaultdict[str, set[Use]], *, is_sure: bool) -> None:
    """What is shown of each name; ``is_sure`` where every call gets there."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        own = {parameter.arg for parameter in walked(node.args) if isinstance(parameter, ast.arg)}
        inner: defaultdict[str, set[Use]] = defaultdict(set)
        for child in ast.iter_child_nodes(node):
            _collect(child, inner, is_sure=False)
        for name in inner.keys() - own:
            uses[name] |= inner[name]
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        uses[node.id].add("stored")
    for field, value in ast.iter_fields(node):
        is_branch = isinstance(node, (ast.If, ast.IfExp, ast.While)) and field in ("body", "orelse")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                shown = _use(node, child)
                told = shown if is_sure and not is_branch else "" if shown in ("list", "dict") else shown
                uses[child.id].add(told)
            elif isinstance(child, ast.AST):
                _collect(child, uses, is_sure=is_sure and not is_branch)


def _use(parent: ast.AST, name: ast.Name) -> Use:
    """What is shown of a name by where it stands."""
    if isinstance(parent, ast.Attribute):
        return "list" if parent.attr in _OF_LISTS else "dict" if parent.attr in _OF_DICTS else "tensor"
    if isinstance(parent, ast.Subscript) and parent.value is name:
        return _indexed(parent.slice)
    if isinstance(parent, ast.Call):
        return _given(parent, name)
    if isinstance(parent, ast.Compare):
        return _compared(parent, name)
    if isinstance(parent, ast.BinOp):
        return "list" if isinstance(parent.left, ast.List) or isinstance(parent.right, ast.List) else "tensor"
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is name:
        return "iterated"
    return "iterated" if isinstance(parent, ast.Starred) else "tensor"


def _indexed(index: ast.expr) -> Use:
    if isinstance(index, ast.Slice):  # torch takes no step below 1
        step = index.step
        return "list" if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub) else ""
    if isinstance(index, ast.Constant):
        return "dict" if isinstance(index.value, str) else "" if isinstance(index.value, int) else "tensor"
    return "tensor" if isinstance(index, ast.Tuple) else ""


def _given(call: ast.Call, name: ast.Name) -> Use:
    function = call.func
    if isinstance(function, ast.Name) and name in call.args:
        return "iterated" if function.id in _GOING_THROUGH else _ASKING.get(function.id, "tensor")
    owner = function.value if isinstance(function, ast.Attribute) else None
    is_join = (
        isinstance(owner, ast.Name) and owner.id == "torch" and getattr(function, "attr", "") in _JOINING
    )
    return "joined" if is_join and call.args and call.args[0] is name else "tensor"


def _compared(comparison: ast.Compare, name: ast.Name) -> Use:
    """``"mask" in batch`` asks a dict; ``batch is None`` tells nothing."""
    if comparison.left is name or not isinstance(comparison.ops[0], (ast.In, ast.NotIn)):
        return "" if isinstance(comparison.ops[0], (ast.Is, ast.IsNot)) else "tensor"
    left = comparison.left
    return "dict" if isinstance(left, ast.Constant) and isinstance(left.value, str) else "tensor"


def _checked_list(statement: ast.stmt) -> str:
    """The name in ``assert isinstance(xs, list)``; "" for any other statement."""
    test = statement.test if isinstance(statement, ast.Assert) else None
    if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise):
        refused = statement.test
        test = (
            refused.operand if isinstance(refused, ast.UnaryOp) and isinstance(refused.op, ast.Not) else None
        )
    if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"):
        return ""
    if len(test.args) != 2:
        return ""
    name, wanted = test.args
    kinds = {getattr(k, "id", "") for k in (wanted.elts if isinstance(wanted, ast.Tuple) else [wanted])}
    is_list = kinds & _LISTS and kinds <= _LISTS | _TUPLES
    return name.id if is_list and isinstance(name, ast.Name) else ""
