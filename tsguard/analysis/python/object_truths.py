"""Whether objects are true: their class may say so, or how long they are."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.library import CONTAINERS
from tsguard.analysis.python.operations import called
from tsguard.analysis.values import ModuleValue, ObjectValue, Unknown, Value


def is_true(interp: Interpreter, value: ObjectValue, node: ast.AST | None) -> bool:
    """The truth of an object."""
    for name in ("__bool__", "__len__"):
        method = classes.class_member(interp, value.cls, name)
        if method is not None:
            return interp.truth(_told(interp, value, classes.bind(method[0], value, value.cls), node), node)
    if isinstance(value, ModuleValue) and not CONTAINERS.isdisjoint(ancestry.kin(interp, value.cls)):
        return value.open or bool(value.children or value.parameters)
    return value.contents is None or interp.truth(value.contents, node)


def _told(interp: Interpreter, value: ObjectValue, method: Value, node: ast.AST | None) -> Value:
    """What the class says; that it raises only shows that what it asks was answered wrongly from here."""
    before = interp.world.copy()
    try:
        return interp.call(method, [], {}, node)
    except Raised:
        before.spent = interp.world.spent
        interp.world.resume(before)
        return Unknown(called("bool", [value.cls], node), "bool")
