"""Parameters registered under two names, which torch.jit.trace refuses.

Source: torch/jit/_trace.py, TracedModule: each module's own parameters and buffers must be
different ones; that two modules share one is allowed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.context import Tracer

if TYPE_CHECKING:
    from tsguard.project import Target


def check(tracer: Tracer, target: Target) -> None:
    """Report the modules of a target that hold one parameter or buffer twice."""
    for owner in list(tracer.state.owned.values()):
        names = _shared(owner) if isinstance(owner, py.ModuleValue) else None
        if names is not None:
            _report(tracer, target, owner, names)


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


def _report(tracer: Tracer, target: Target, owner: py.ObjectValue, names: tuple[str, str]) -> None:
    cls = owner.cls
    first, second = names
    if isinstance(cls, py.ClassValue) and tracer.is_own(cls.module):
        with tracer.running(Frame(cls.name, cls.module)):
            tracer.report(
                "untraceable-call/shared",
                _assignment(cls.node, second) or cls.node,
                first=first,
                second=second,
            )
    else:
        tracer.report("untraceable-call/shared", target.node, first=first, second=second)


def _assignment(cls: ast.ClassDef, name: str) -> ast.AST | None:
    """Where ``self.name`` is assigned in a class."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Assign):
            targets = [t for t in node.targets if isinstance(t, ast.Attribute) and t.attr == name]
            if targets:
                return node
    return None
