"""Properties that raise while torch creates a scripted module."""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.python.property_reads import raised_by
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal


def is_readable(compiler: Compiler, instance: py.ModuleValue, name: str, member: py.PropertyValue) -> bool:
    """Whether a property's getter returns; one that raises anything but AttributeError ends scripting."""
    getter = member.getter
    if not isinstance(getter, py.FunctionValue) or name in compiler.info(instance).ignored:
        return True
    raised = raised_by(compiler.interp, instance, getter)
    if raised is None or raised.node is None:
        return True
    facts = {"property": name, "error": raised.name, "name": compiler.name_of(instance)}
    compiler.report(Refusal("declared-unscriptable/property", raised.node, **facts), getter.module)
    return False
