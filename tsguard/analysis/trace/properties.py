"""Properties that raise while torch creates a traced module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.following import Frame
from tsguard.analysis.python.property_reads import raised_by
from tsguard.analysis.trace.context import Tracer

if TYPE_CHECKING:
    from tsguard.project import Target


def check(tracer: Tracer, interp: Interpreter, target: Target) -> None:
    """Report the modules of a target that have such a property."""
    for owner in list(tracer.state.owned.values()):
        if not isinstance(owner, py.ModuleValue):
            continue
        for name, getter in _properties(interp, owner):
            raised = raised_by(interp, owner, getter)
            if raised is not None:
                _report(tracer, target, owner, name, getter, raised)


def _report(
    tracer: Tracer, target: Target, owner: py.ModuleValue, name: str, getter: py.FunctionValue, raised: Raised
) -> None:
    is_own = raised.node is not None and tracer.is_own(getter.module)
    with tracer.running(Frame(getter.name, getter.module if is_own else target.module)):
        tracer.report(
            "untraceable-call/property",
            raised.node if is_own else target.node,
            property=name,
            error=raised.name,
            name=str(getattr(owner.cls, "name", "")),
        )


def _properties(interp: Interpreter, owner: py.ModuleValue) -> Iterator[tuple[str, py.FunctionValue]]:
    known: set[str] = set()
    for cls in ancestry.mro(interp, owner.cls):
        for name, member in cls.members.items() if isinstance(cls, py.ClassValue) else ():
            if name not in known and isinstance(member, py.PropertyValue):
                yield from [(name, member.getter)] if isinstance(member.getter, py.FunctionValue) else []
            known.add(name)
