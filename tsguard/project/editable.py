"""Packages installed to be edited, where a generated finder module tells their places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tsguard.source import SourceFile

# What setuptools names the finder modules that it writes, and the tables in them.
_FINDERS = "__editable___*_finder.py"
_TABLES = frozenset({"MAPPING", "NAMESPACES"})


def editable_packages(folders: Iterable[Path]) -> dict[str, Path]:
    """Packages by name, and where their sources lie, as the finder modules in these folders say."""
    found: dict[str, Path] = {}
    for folder in folders:
        for file in sorted(folder.glob(_FINDERS)):
            for name, place in _places(SourceFile.read(file).tree):
                found.setdefault(name, Path(place))
    return found


def _places(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        table = getattr(node, "value", None)
        if names & _TABLES and isinstance(table, ast.Dict):
            for key, value in zip(table.keys, table.values, strict=True):
                # A namespace may have several places: the first is where it begins.
                place = value.elts[0] if isinstance(value, ast.List) and value.elts else value
                if isinstance(key, ast.Constant) and isinstance(place, ast.Constant):
                    yield str(key.value), str(place.value)
