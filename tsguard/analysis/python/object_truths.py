"""Whether objects are true: their class may say so, or how long they are."""

from __future__ import annotations

import ast

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.library import CONTAINERS
from tsguard.analysis.values import ModuleValue, ObjectValue


def is_true(interp: Interpreter, value: ObjectValue, node: ast.AST | None) -> bool:
    """The truth of an object."""
    for name in ("__bool__", "__len__"):
        method = classes.class_member(interp, value.cls, name)
        if method is not None:
            return interp.truth(interp.call(classes.bind(method[0], value, value.cls), [], {}, node), node)
    if isinstance(value, ModuleValue) and not CONTAINERS.isdisjoint(ancestry.kin(interp, value.cls)):
        return value.open or bool(value.children or value.parameters)
    return True
