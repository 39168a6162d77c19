"""The project: its modules, what their names mean, and the targets in them."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tsguard.project.modules import Binding, Finder, Module
from tsguard.source import SourceFile


@dataclass(frozen=True, slots=True)
class Definition:
    """A class, function or other statement of a module that a name leads to."""

    module: Module
    node: ast.stmt


@dataclass(frozen=True, slots=True)
class External:
    """A name in a package whose source is not read: ``torch.nn.Module``."""

    name: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A name in a package that cannot be found: ``pkg.thing``."""

    name: str


Meaning = Definition | External | Missing | Module


class Project:
    """Files under analysis and the packages that they import.

    Args:
        search_paths: folders in which imported packages are looked for, after the
            importing file's own.
    """

    def __init__(self, search_paths: tuple[Path, ...] = ()) -> None:
        self.finder = Finder(search_paths)
        self._meanings: dict[tuple[Module, str], Meaning | None] = {}

    def module(self, path: Path, *, shown: str | None = None, text: str | None = None) -> Module:
        """The module of a file; ``text`` replaces what is on disk (standard input)."""
        file = SourceFile(shown or str(path), text) if text is not None else None
        return self.finder.of_file(path, file, shown)

    def meaning(self, module: Module, name: str) -> Meaning | None:
        """What a module-level name leads to through imports, or None if unbound."""
        key = (module, name)
        if key not in self._meanings:
            self._meanings[key] = self._meaning(module, name, frozenset())
        return self._meanings[key]

    def _meaning(self, module: Module, name: str, visited: frozenset[tuple[str, str]]) -> Meaning | None:
        if (module.name, name) in visited:
            return None
        seen = visited | {(module.name, name)}
        bindings = _by_certainty(self.bindings(module, name))
        for binding in bindings:
            found = self._binding_meaning(module, binding, seen)
            if found is not None and not isinstance(found, Missing):
                return found
        starred = self._through_stars(module, name, seen)
        if starred is not None:
            return starred
        for binding in bindings:
            return self._binding_meaning(module, binding, seen)
        if module.is_package:
            return self.finder.find(f"{module.name}.{name}", module)
        return None

    def bindings(self, module: Module, name: str) -> list[Binding]:
        """The statements that may bind a module-level name: of imports that fail, those that replace them."""
        found: list[Binding] = []
        for binding in module.bindings.get(name, []):
            failing = [(a, self.failing_import(module, a.node)) for a in binding.attempts]
            if any(s is not None and a.succeeds and binding.node.lineno >= s.lineno for a, s in failing):
                continue
            if failing and binding.guard == "except" and all(s is not None for _, s in failing):
                binding = replace(binding, guard="")
            found.append(binding)
        return found

    def failing_import(self, module: Module, node: ast.Try) -> ast.stmt | None:
        """The first import in a ``try`` that fails, where a handler is there for that."""
        if not any(_catches_imports(handler) for handler in node.handlers):
            return None
        return next((s for s in node.body if any(self.absent(module, s))), None)

    def absent(self, module: Module, node: ast.stmt) -> Iterator[str]:
        """The modules that a statement imports and that are not installed."""
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [module.absolute(node)]
        return (name for name in names if self.finder.is_absent(name, module))

    def _through_stars(self, module: Module, name: str, seen: frozenset[tuple[str, str]]) -> Meaning | None:
        for node in module.star_imports:
            source = self.imported(module, module.absolute(node))
            if isinstance(source, Module):
                hidden = name.startswith("_") if source.exported is None else name not in source.exported
                found = None if hidden else self._meaning(source, name, seen)
                if found is not None:
                    return found
            elif isinstance(source, External) and name in public_names(source.name):
                return External(f"{source.name}.{name}")
        return None

    def _binding_meaning(
        self, module: Module, binding: Binding, seen: frozenset[tuple[str, str]]
    ) -> Meaning | None:
        node = binding.node
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.partition(".")[0]) == binding.name:
                    wanted = alias.name if alias.asname else alias.name.partition(".")[0]
                    return self.imported(module, wanted)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == binding.name:
                    return self.member(module, module.absolute(node), alias.name, seen)
        return Definition(module, node)

    def imported(self, importer: Module, name: str) -> Module | External | Missing:
        """The module that ``import name`` binds."""
        found = self.finder.find(name, importer)
        if found is not None:
            return found
        return External(name) if self.finder.is_described(name) else Missing(name)

    def member(
        self, importer: Module, source: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()
    ) -> Meaning | None:
        """What ``from source import name`` binds."""
        module = self.imported(importer, source)
        if not isinstance(module, Module):
            return type(module)(f"{source}.{name}")
        found = self._meaning(module, name, seen)
        if found is None:
            found = self.finder.find(f"{source}.{name}", importer)
        return found if found is not None else Missing(f"{source}.{name}")


# Modules of the standard library that models star-import, none of which does anything when it is loaded.
_STARRED = frozenset(["collections", "dataclasses", "enum", "functools", "itertools", "math", "typing"])


@functools.cache
def public_names(module: str) -> frozenset[str]:
    """What ``from module import *`` binds; nothing for modules that are not looked into."""
    if module not in _STARRED:
        return frozenset()
    loaded = importlib.import_module(module)
    return frozenset(getattr(loaded, "__all__", [name for name in dir(loaded) if not name.startswith("_")]))


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type is not None else ""
    return not caught or any(name in caught for name in ("ImportError", "ModuleNotFoundError", "Exception"))


def _by_certainty(bindings: list[Binding]) -> list[Binding]:
    """The bindings of a name, the one most likely in force first."""
    certain = [i for i, b in enumerate(bindings) if not b.guard]
    last = certain[-1] if certain else -1
    later = [b for b in bindings[last + 1 :] if b.guard != "typing"]
    ranks = {"try": 0, "if": 1, "else": 2, "except": 3}
    later.sort(key=lambda b: ranks.get(b.guard, 4))
    head = later if last < 0 else [*[b for b in later if b.guard in ("try", "if")], bindings[last], *later]
    return [*head, *[b for b in bindings if b.guard == "typing"]]
