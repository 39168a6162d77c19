"""Values that are made of what was not read: of a package that is not there, or of the standard library's objects."""

from __future__ import annotations

import ast

from tsguard.analysis import unread
from tsguard.analysis.values import External, ObjectValue, Scope, Unknown, Value
from tsguard.report.records import replace


def as_unread(owners: list[Value], value: Unknown, node: ast.expr, scope: Scope) -> Unknown:
    """What is made of what was not read, or held by an object of the standard library, is no more known than that."""
    if value.unread is not None or value.hint or value.default is not None:
        return value
    found = next((o.unread for o in owners if isinstance(o, Unknown) and o.unread is not None), None)
    if found is None and any(map(_is_of_library, owners)):
        found = unread.use(scope.module, node)
    return value if found is None else replace(value, unread=found)


def _is_of_library(value: Value) -> bool:
    cls = value.cls if isinstance(value, ObjectValue) else None
    return (
        isinstance(cls, External)
        and cls.name.partition(".")[0] in unread.LIBRARY
        and cls.name not in _NAMESPACES
    )


# What these hold they were given.
_NAMESPACES = frozenset({"argparse.Namespace", "types.SimpleNamespace"})
