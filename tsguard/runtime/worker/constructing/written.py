"""Chosen constructor arguments as the expression that makes the instance."""

from __future__ import annotations

import re
from types import ModuleType

from tsguard.runtime.budgets import DEEPEST_EXAMPLE
from tsguard.runtime.worker.constructing.arguments import Path, named_class, required

Chosen = dict[Path, str]
"""An expression for each parameter and each part of one."""

_INSTANCE = re.compile(r"([\w.]+)\(\)")


def written(qualname: str, chosen: Chosen, module: ModuleType) -> str:
    """``Net(dim=64, config=SimpleNamespace(heads=4))``."""
    return _call(qualname, chosen, (), module, 0)


def _call(name: str, chosen: Chosen, above: Path, module: ModuleType, depth: int) -> str:
    parts = [path for path in chosen if path[:-1] == above and len(path) == len(above) + 1]
    return f"{name}({', '.join(f'{path[-1]}={_value(path, chosen, module, depth)}' for path in parts)})"


def _value(path: Path, chosen: Chosen, module: ModuleType, depth: int) -> str:
    text = chosen[path]
    if text == "dict(...)" and not all(p[-1].isidentifier() for p in chosen if p[:-1] == path):
        items = (p for p in chosen if p[:-1] == path)
        return "{" + ", ".join(f"{p[-1]!r}: {_value(p, chosen, module, depth)}" for p in items) + "}"
    if text.endswith("(...)"):
        return _call(text.removesuffix("(...)"), chosen, path, module, depth)
    return _completed(text, module, depth)


def _completed(text: str, module: ModuleType, depth: int) -> str:
    """``Block()``, also in a list, with what a ``Block`` must be given."""

    def complete(match: re.Match[str]) -> str:
        found = named_class(match[1], module)
        if found is None:
            return match[0]
        parameters = [p for p in required(found, module) if p.values]
        return _call(match[1], {p.path: p.values[0] for p in parameters}, (), module, depth + 1)

    return _INSTANCE.sub(complete, text) if depth < DEEPEST_EXAMPLE else text
