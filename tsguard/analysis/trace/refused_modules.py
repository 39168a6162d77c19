"""Modules that torch refuses as they are: one tensor registered under two names, backward hooks, a ScriptModule.

Source: torch/jit/_trace.py, TracedModule: each module's own parameters and buffers must be
different ones; that two modules share one is allowed. ``register_full_backward_pre_hook`` is, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.python.ancestry import derives_from
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.context import Tracer

if TYPE_CHECKING:
    from tsguard.language.rule_names import RuleName
    from tsguard.project import Target

_HOOKS = frozenset({"register_backward_hook", "register_full_backward_hook"})


def check_export(tracer: Tracer, target: Target, subject: py.Value) -> None:
    """Report a target that torch.jit compiles when it is made: torch.export takes none."""
    if isinstance(subject, py.ModuleValue) and derives_from(tracer, subject.cls, "torch.jit.ScriptModule"):
        with tracer.running(Frame(target.qualname, target.module)):
            report(tracer, "scripted-module/target", target.node, sure=True, name=target.qualname)


def check(tracer: Tracer, target: Target) -> None:
    """Report the modules of a target that torch refuses."""
    for owner in list(tracer.state.owned.values()):
        if not isinstance(owner, py.ModuleValue):
            continue
        names = _shared(owner)
        if names is not None:
            first, second = names
            facts = {"first": first, "second": second}
            _report(tracer, target, owner, "untraceable-call/shared", _assigns(second), **facts)
        if owner.backward_hooks > 0:
            name = str(getattr(owner.cls, "name", ""))
            _report(tracer, target, owner, "untraceable-call/backward-hook", _is_hooking, name=name)


def _shared(owner: py.ModuleValue) -> tuple[str, str] | None:
    first: dict[int, str] = {}
    for registry in (owner.parameters, owner.buffers):
        for name, value in registry.items():
            if not isinstance(value, py.TensorValue):
                continue
            if id(value) in first:
                return first[id(value)], name
            first[id(value)] = name
    return None


def _report(
    tracer: Tracer,
    target: Target,
    owner: py.ModuleValue,
    rule: RuleName,
    is_place: Callable[[ast.AST], bool],
    **facts: str,
) -> None:
    """Report at the node that did it, of the module's class or of the target; or else at the class, if it is own."""
    cls = owner.cls
    around: list[tuple[ast.AST, Frame]] = [(target.node, Frame(target.qualname, target.module))]
    if isinstance(cls, py.ClassValue) and tracer.is_own(cls.module):
        around.insert(0, (cls.node, Frame(cls.name, cls.module)))
    places = ((part, frame) for node, frame in around for part in ast.walk(node) if is_place(part))
    place, frame = next(places, around[0])
    with tracer.running(frame):
        tracer.report(rule, place, None, **facts)


def _assigns(name: str) -> Callable[[ast.AST], bool]:
    """Asks whether a node is ``self.name = ...``."""
    return lambda node: (
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == name for target in node.targets)
    )


def _is_hooking(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _HOOKS
