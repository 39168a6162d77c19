"""Edits that import what a fix writes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from tsguard.fixes.composing import safe
from tsguard.fixes.edits import insertion_above, insertion_below
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement
from tsguard.report import Edit, Fix
from tsguard.source.functions import first_line

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


def import_typing_name(event: Event) -> Fix | None:
    """Import the name of ``typing`` that an annotation is written with."""
    name = event.facts["name"]
    edits = imported(event.module, "typing", [name], event.span.line)
    return safe(f"Import {name} from typing", edits)


def imported(module: Module, source: str, names: Iterable[str], line: int) -> tuple[Edit, ...] | None:
    """What makes names of ``source`` known at a line; None where one of them means something else there."""
    missing = []
    for name in dict.fromkeys(names):
        nodes = [binding.node for binding in module.bindings.get(name, [])]
        if not all(isinstance(node, ast.ImportFrom) and _imports(node, source, name) for node in nodes):
            return None
        if not any(node in module.file.imports and _ends(node) < line for node in nodes):
            missing.append(name)
    if not missing or any(module.absolute(node) == source for node in module.star_imports):
        return ()
    added = _added_to_import(module, source, missing, line) or _new_import(module, source, missing, line)
    return None if added is None else (added,)


def module_imported(module: Module, name: str, line: int) -> tuple[Edit, ...] | None:
    """What makes a module of the standard library known at a line; None where its name means something else."""
    nodes = [binding.node for binding in module.bindings.get(name, [])]
    if nodes:
        alike = all(
            isinstance(node, ast.Import) and any((a.name, a.asname) == (name, None) for a in node.names)
            for node in nodes
        )
        return () if alike else None
    text = f"import {name}"
    file = module.file
    body = file.tree.body
    first = next((node for node in chain(file.imports, body) if not _comes_first(node, body)), body[0])
    before = first_line(first)
    if first.col_offset or _comes_first(first, body) or before >= line:
        return None
    gap = file.newline * (1 if isinstance(first, (ast.Import, ast.ImportFrom)) else 3)
    return (insertion_above(file, first, f"{text}{gap}"),)


def _imports(node: ast.ImportFrom, source: str, name: str) -> bool:
    whence = node.module in (source, "typing_extensions" if source == "typing" else source)
    return whence and not node.level and any((a.name, a.asname or name) == (name, name) for a in node.names)


def _ends(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _added_to_import(module: Module, source: str, names: Sequence[str], line: int) -> Edit | None:
    """Names added to an import from the source that the file has at its top level."""
    for node in module.file.imports:
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module, node.level) == (source, 0)
            and node.names[0].name != "*"
            and _ends(node) < line
        ):
            return changed_statement(module.file, node, lambda statement: _with_names(statement, names))
    return None


def _with_names(statement: cst.BaseSmallStatement, names: Sequence[str]) -> cst.BaseSmallStatement | None:
    if not isinstance(statement, cst.ImportFrom) or isinstance(statement.names, cst.ImportStar):
        return None
    old = list(statement.names)
    commas = [alias.comma for alias in old]
    between = (
        commas[0]
        if len(old) > 1 and not _holds_comment(commas[0])
        else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    )
    new = [*old]
    for name in names:
        keys = [_order(str(alias.evaluated_name)) for alias in new]
        # Where the names are in order, they stay so.
        at = sum(key < _order(name) for key in keys) if keys == sorted(keys) else len(new)
        new.insert(at, cst.ImportAlias(cst.Name(name), comma=between))
    last = new[-1].with_changes(comma=commas[-1])
    others = [alias.with_changes(comma=between) if alias is old[-1] else alias for alias in new[:-1]]
    return statement.with_changes(names=[*others, last])


def _order(name: str) -> tuple[bool, bool, str]:
    """Constants, classes, functions: the order in which sorters of imports put names."""
    return (not name.isupper(), not name[:1].isupper(), name)


def _holds_comment(comma: cst.Comma | cst.MaybeSentinel) -> bool:
    return not isinstance(comma, cst.Comma) or "#" in cst.Module([]).code_for_node(comma)


def _new_import(module: Module, source: str, names: Sequence[str], line: int) -> Edit | None:
    """A new statement, below the imports that it belongs to."""
    file = module.file
    text = f"from {source} import {', '.join(sorted(names))}"
    body = file.tree.body
    imports = [node for node in file.imports if not _comes_first(node, body) and _ends(node) < line]
    alike = [node for node in imports if _is_standard(node) == (source == "typing")]
    if alike:
        return insertion_below(file, alike[-1], f"{file.newline}{text}")
    first = next((node for node in chain(imports, body) if not _comes_first(node, body)), body[0])
    if first.col_offset or _comes_first(first, body):
        return None  # it shares its line with what has to come before
    gap = file.newline * (2 if imports else 3)
    return insertion_above(file, first, f"{text}{gap}")


def _comes_first(node: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    """Whether it is the docstring or an import from ``__future__``."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return (is_text and node is body[0]) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _is_standard(node: ast.Import | ast.ImportFrom) -> bool:
    name = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
    return not getattr(node, "level", 0) and name.partition(".")[0] in sys.stdlib_module_names


def has_torch(module: Module) -> bool:
    """Whether ``torch`` is the package in this file."""
    nodes = [binding.node for binding in module.bindings.get("torch", [])]
    return bool(nodes) and all(
        isinstance(node, ast.Import)
        and any(a.name.partition(".")[0] == "torch" and not a.asname for a in node.names)
        for node in nodes
    )


def torch_imported(module: Module, line: int) -> tuple[Edit, ...] | None:
    """What makes ``torch`` known at a line; None where the name means something else."""
    return () if has_torch(module) else module_imported(module, "torch", line)


def is_of_torch(module: Module, dotted: str) -> bool:
    """Whether a function named so in this file is imported from torch."""
    return comes_from(module, dotted, "torch")


def comes_from(module: Module, dotted: str, package: str) -> bool:
    """Whether a function named so in this file is imported from a package."""
    nodes = [binding.node for binding in module.bindings.get(dotted.partition(".")[0], [])]
    return bool(nodes) and all(_sources(node) == {package} for node in nodes)


def _sources(node: ast.stmt) -> set[str]:
    """The packages that a statement imports from; "" for statements that are no import."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return {(node.module or "").partition(".")[0]}
    return {""}
