"""State that a call changes: parameters, buffers, counters."""

from __future__ import annotations

import ast
import math
from itertools import chain
from typing import TYPE_CHECKING

from tsguard.analysis.mode import switching
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python.private_names import attribute_name
from tsguard.analysis.values import (
    FALSE,
    NONE,
    Atom,
    BoundMethod,
    Const,
    External,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    TensorValue,
    Unknown,
    Value,
    constant,
)
from tsguard.language.modes import is_random_operator
from tsguard.language.rule_names import RuleName
from tsguard.source.remembering import remembered
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

# Tensor methods whose name ends in "_" and that leave the values as they are.
_HARMLESS = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_", "retain_grad_"})
# Assigning one of these of itself moves a tensor and does not change what it holds.
_MOVES = frozenset(
    {
        "to",
        "cuda",
        "cpu",
        "type",
        "type_as",
        "float",
        "half",
        "double",
        "bfloat16",
        "contiguous",
        "detach",
        "clone",
    }
)
_CONDITIONAL = (ast.If, ast.IfExp, ast.While, ast.Try)
_SIMPLE = frozenset({"int", "float", "bool", "str"})
_ALIASES = frozenset({"data", "T", "mT", "real"})


def attribute(walk: ModeInterpreter, owner: Value, name: str) -> Value | None:
    """Attributes that the walk knows better than the interpreter; None for the rest."""
    if isinstance(owner, ModuleValue):
        if name == "training":
            return switching.training(walk, owner)
        return None
    if isinstance(owner, ModuleReference):
        return walk.plain.attribute(owner, name)
    if isinstance(owner, TensorValue) and name in _ALIASES:
        return owner
    if isinstance(owner, Unknown) and is_random_operator(name) and name.endswith("_"):
        return BoundMethod(External(f"method.{name}"), TensorValue())
    return None


def changes_in_place(name: str) -> bool:
    """Whether a tensor method changes the tensor that it is called on."""
    return name.endswith("_") and not name.startswith("_") and name not in _HARMLESS


def is_setting(value: Value) -> bool:
    """Whether a value is a number, a flag or the like, which acts only where it is used."""
    if isinstance(value, Unknown):
        return isinstance(value.default, Const) or value.scope is not None or value.hint in _SIMPLE
    return isinstance(value, (Const, Atom))


Assignment = ast.Assign | ast.AugAssign | ast.AnnAssign


def check(walk: ModeInterpreter, node: Assignment, scope: Scope) -> None:
    """Report an assignment that changes a parameter, a buffer or a counter of a module."""
    if walk.mode == "train":
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        rule = _changed(walk, target, node, scope)
        if rule is not None and not is_move(target, node.value):
            walk.report(rule, target, name=unparsed(target))


def registered(
    walk: ModeInterpreter, owner: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> None:
    """Report a buffer or parameter that every call registers on a module of the target, unless it is not saved."""
    if not isinstance(owner, ModuleValue) or walk.tree.path(owner) is None or walk.mode == "train":
        return
    if not is_in_every_call(walk, node):
        return
    persistent = args[2] if len(args) > 2 else kwargs.get("persistent")
    if persistent != FALSE:
        name = constant(args[0]) if args else constant(kwargs.get("name", NONE))
        walk.report("state-updated-in-eval", node, name=f"self.{name}" if name else "a buffer")


def is_in_every_call(walk: ModeInterpreter, node: ast.AST | None) -> bool:
    """Whether no condition stands around a node, or around a call that leads to it."""
    inner = [frame.called.node if frame.called is not None else None for frame in walk.frames[1:]]
    for frame, called in zip(walk.frames, [*inner, node], strict=True):
        if frame.function is None or called is None or _is_behind_condition(frame.function, called):
            return False
    return True


def _is_behind_condition(function: ast.AST, node: ast.AST) -> bool:
    """Whether a condition stands around a node, or around a return before it."""
    behind, first_return = _behind_conditions(function)
    return node in behind or first_return < getattr(node, "lineno", 0)


@remembered(1024)
def _behind_conditions(function: ast.AST) -> tuple[frozenset[ast.AST], float]:
    """The nodes of a function that a condition stands around, and the first line of a return among them."""
    conditional = (part for part in walked(function) if isinstance(part, _CONDITIONAL))
    behind = frozenset(chain.from_iterable(map(walked, conditional)))
    return behind, min((part.lineno for part in behind if isinstance(part, ast.Return)), default=math.inf)


def written_to(walk: ModeInterpreter, out: Value | None, node: ast.AST | None) -> None:
    """Report a function that is given a piece of state to put its result in: ``torch.add(x, 1, out=self.n)``."""
    if not _is_state(out) or walk.mode == "train" or not isinstance(node, ast.Call):
        return
    target = next(keyword.value for keyword in node.keywords if keyword.arg in ("out", None))
    walk.report("state-updated-in-eval", node, name=unparsed(target))


def _changed(walk: ModeInterpreter, target: ast.expr, node: Assignment, scope: Scope) -> RuleName | None:
    """The rule that an assignment to a piece of state breaks; None for no state."""
    if isinstance(target, ast.Subscript):
        return "state-updated-in-eval" if _is_state(walk.evaluate(target.value, scope)) else None
    in_place = isinstance(node, ast.AugAssign)
    if isinstance(target, ast.Name):
        return "state-updated-in-eval" if in_place and _is_state(scope.names.get(target.id)) else None
    if not isinstance(target, ast.Attribute):
        return None
    owner = walk.evaluate(target.value, scope)
    if _is_state(owner) and target.attr == "data":
        return "state-updated-in-eval"
    if not isinstance(owner, ModuleValue):
        return None
    name = attribute_name(target.attr, scope)
    if _is_state(owner.buffers.get(name)) or _is_state(owner.parameters.get(name)):
        return "state-updated-in-eval"
    if name not in owner.attributes or (owner, target.attr) in walk.renewed:
        return None
    return "state-updated-in-eval/counter" if in_place or _counts(target, node) else None


def set_by(node: Assignment) -> set[str]:
    """The names of the attributes that an assignment sets."""
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return {target.attr for target in targets if isinstance(target, ast.Attribute)}


def drop_unread_counters(walk: ModeInterpreter) -> None:
    """A number that is counted on and that nobody reads makes no call another one."""
    for key, event in list(walk.events.items()):
        is_counter = event.rule == "state-updated-in-eval/counter"
        if is_counter and event.facts["name"].rpartition(".")[2] not in walk.read:
            del walk.events[key]


def renew(walk: ModeInterpreter, node: Assignment, scope: Scope) -> None:
    """Note the attributes that an assignment sets to something that owes nothing to what they held."""
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        if isinstance(target, ast.Attribute) and not _reads(node.value, target):
            owner = walk.evaluate(target.value, scope)
            if isinstance(owner, ObjectValue):
                walk.renewed |= {(owner, target.attr)}


def _is_state(value: Value | None) -> bool:
    return isinstance(value, TensorValue) and value.role in ("parameter", "buffer")


def _counts(target: ast.Attribute, node: Assignment) -> bool:
    """``self.n = self.n + 1``."""
    value = node.value
    return isinstance(value, ast.BinOp) and unparsed(target) in (unparsed(value.left), unparsed(value.right))


def _reads(value: ast.expr, target: ast.Attribute) -> bool:
    """Whether an expression reads an attribute of the name that is assigned, of whatever object."""
    return any(isinstance(part, ast.Attribute) and part.attr == target.attr for part in walked(value))


def is_move(target: ast.expr, value: ast.expr | None) -> bool:
    """``self.x = self.x.to(device)``, and the same of each item of a list."""
    if isinstance(value, ast.ListComp) and len(value.generators) == 1 and not value.generators[0].ifs:
        (each,) = value.generators
        return unparsed(each.iter) == unparsed(target) and is_move(each.target, value.elt)
    if (
        not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Attribute)
        or value.func.attr not in _MOVES
    ):
        return False
    return unparsed(value.func.value) == unparsed(target)
