"""The module classes of the project that a class is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.api.names import ApiNames
from tsguard.project.targets import is_module_class
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project import Target
    from tsguard.project.modules import Module


def parts_of(program: Program, target: Target) -> Iterator[tuple[Module, str]]:
    """The module classes that a target names: its bases, and what it constructs, calls or is annotated with."""
    names = ApiNames(program, target.module)
    seen = {target.node}
    for node in walked(target.node):
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        found = names.class_of(node)
        if found is None or found.node in seen or not isinstance(found.node, ast.ClassDef):
            continue
        seen.add(found.node)
        if is_module_class(program.project, found):
            yield found.module, found.node.name
