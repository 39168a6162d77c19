"""Private names of attributes in the code that is run: each is that of the class whose body it stands in."""

from __future__ import annotations

from tsguard.analysis.values import Scope
from tsguard.source.private_names import is_private, mangled


def attribute_name(name: str, scope: Scope) -> str:
    """The name that an attribute has which code in this scope writes so: a private one is that of the class."""
    if not is_private(name):
        return name
    within: Scope | None = scope
    while within is not None and within.cls is None:
        within = within.parent if within.function is None else within.function.scope
    return name if within is None or within.cls is None else mangled(name, within.cls.name)
