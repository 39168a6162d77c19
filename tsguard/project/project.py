"""The project: its modules, what their names mean, and the targets in them."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tsguard.project.bindings import Binding
from tsguard.project.finding import Finder
from tsguard.project.modules import Module
from tsguard.report.judgements import ASK_TORCH
from tsguard.report.records import dataclass, replace
from tsguard.source import SourceFile
from tsguard.source.outlines import Outlines
from tsguard.source.walking import walked

COMPILED_ONLY = "only compiled code of it is installed"
"""Why the source of a name is not read that is there."""


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
    """A name in a package that cannot be read: ``pkg.thing``.

    ``why`` tells what is there instead of its source, ``help`` what to do then.
    """

    name: str
    why: str = ""
    help: str = ASK_TORCH


Meaning = Definition | External | Missing | Module
# Bases of a class: definitions, names of those that are not read, None for what is not found.
Bases = tuple[Definition | str | None, ...]
_Seen = frozenset[tuple[Module, str]]
_Source = Module | External | Missing


class Project:
    """Files under analysis and the packages that they import.

    Args:
        search_paths: folders in which imported packages are looked for, after the
            importing file's own.
        outlines: what is kept of installed files that were parsed before, None for nothing.
        complete: whether a package that is not there is not installed, so that importing it fails.
    """

    def __init__(
        self, search_paths: tuple[Path, ...] = (), outlines: Outlines | None = None, complete: bool = True
    ) -> None:
        self.finder = Finder(search_paths, outlines, complete)
        self._meanings: dict[tuple[Module, str], Meaning | None] = {}
        self.bases: dict[tuple[Module, ast.ClassDef], Bases] = {}
        self._stars: dict[Module, list[_Source]] = {}
        self._offers: dict[Module, dict[str, list[Module]]] = {}

    def module(self, path: Path, *, shown: str | None = None, text: str | None = None) -> Module:
        """The module of a file; ``text`` replaces what is on disk (standard input)."""
        file = SourceFile(shown or str(path), text) if text is not None else None
        return self.finder.of_file(path, file, shown)

    def forget(self, paths: Iterable[Path]) -> dict[Path, Module]:
        """Forget files that have changed, and what rests on them: the modules that are gone, by their files."""
        gone = self.finder.forget(paths)
        modules = set(gone.values())
        self._meanings = {key: found for key, found in self._meanings.items() if key[0] not in modules}
        self.bases = {key: found for key, found in self.bases.items() if key[0] not in modules}
        self._stars = {module: found for module, found in self._stars.items() if module not in modules}
        self._offers = {
            package: offers
            for package, offers in self._offers.items()
            if package not in modules and modules.isdisjoint(m for found in offers.values() for m in found)
        }
        return gone

    def meaning(self, module: Module, name: str) -> Meaning | None:
        """What a module-level name leads to through imports, or None if unbound."""
        key = (module, name)
        if key not in self._meanings:
            self._meanings[key] = self._meaning(module, name, frozenset())
        return self._meanings[key]

    def _meaning(self, module: Module, name: str, visited: _Seen) -> Meaning | None:
        if (module, name) in visited:
            return None
        seen = visited | {(module, name)}
        bindings = _by_certainty(self.bindings(module, name))
        found = self._bound([b for b in bindings if b.guard != "except"], module, seen)
        found = found or self._lazily(module, name, seen)
        if found is None and module.is_package and module.lazy is not None:
            # Before the names in its modules, of which there may be thousands.
            found = self.finder.find(f"{module.name}.{name}", module)
        found = found or self._through_stars(module, name, seen)
        if found is None and not self.has_unread_side(module, name, visited):
            found = self._bound([b for b in bindings if b.guard == "except"], module, seen)
        if found is None and module.is_package:
            found = self.finder.find(f"{module.name}.{name}", module)
        if found is None and bindings:
            found = self._binding_meaning(module, bindings[0], seen)
        return found if found is not None else self._scanned(module, name, seen)

    def has_unread_side(self, module: Module, name: str, visited: _Seen = frozenset()) -> bool:
        """Whether an import that cannot be read binds a name, if it does not fail."""
        imports = (
            b for b in module.bindings.get(name, ()) if isinstance(b.node, (ast.Import, ast.ImportFrom))
        )
        seen = visited | {(module, name)}
        return any(isinstance(self._binding_meaning(module, b, seen), Missing) for b in imports)

    def _bound(self, bindings: list[Binding], module: Module, seen: _Seen) -> Meaning | None:
        """What the first of these statements binds whose meaning can be told."""
        for binding in bindings:
            found = self._binding_meaning(module, binding, seen)
            if found is not None and not isinstance(found, Missing):
                return found
        return None

    def _lazily(self, module: Module, name: str, seen: _Seen) -> Meaning | None:
        """What a name means that the module gives only when asked, by its tables or the stub beside it."""
        if module.lazy is None:
            return None
        for source, attribute in module.lazy.sources.get(name, ()):
            relative = source.lstrip(".")
            ups = max(len(source) - len(relative) - 1, 0)
            package = module.package.split(".")
            inside = ".".join([*package[: len(package) - ups], relative])
            for place in (inside, relative):
                found = self.finder.find(place, module)
                meaning = None if found is None or found is module else self._member(found, attribute, seen)
                if meaning is not None:
                    return meaning
        stub = self.finder.stub_beside(module)
        return self._meaning(stub, name, seen) if stub is not None else None

    def _scanned(self, module: Module, name: str, seen: _Seen) -> Meaning | None:
        """What a name means of a package that looks through its files for what they offer."""
        if module.lazy is None or not module.lazy.scans:
            return None
        if module not in self._offers:
            offers: dict[str, list[Module]] = {}
            for inner in self.finder.below(module):
                for offered in inner.offered:
                    offers.setdefault(offered, []).append(inner)
            self._offers[module] = offers
        for inner in self._offers[module].get(name, ()):
            found = self._meaning(inner, name, seen)
            if found is not None:
                return found
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
        for name in names:
            if self.finder.is_absent(name, module):
                yield name

    def _through_stars(self, module: Module, name: str, seen: _Seen) -> Meaning | None:
        """What star imports bind a name to; what cannot be read may bind any but Python's own."""
        unread: Missing | None = None
        for source in self._starred(module, name):
            if isinstance(source, Module):
                found = self._meaning(source, name, seen)
                if found is not None:
                    return found
            elif isinstance(source, External) and name in public_names(source.name):
                return External(f"{source.name}.{name}")
            elif isinstance(source, Missing) and not hasattr(builtins, name):
                unread = unread or replace(source, name=f"{source.name}.{name}")
        for cell, _ in module.file.broken_cells if not hasattr(builtins, name) else ():
            unread = unread or Missing(name, f"cell {cell.number} does not parse", "repair the cell")
        return unread

    def _starred(self, module: Module, name: str) -> Iterator[_Source]:
        """The modules of a module's star imports that may give it a name, in the order of the imports.

        One is looked at when the one before it has not given the name: compiled, a generator expression would ask them all.
        """
        for source in self._star_sources(module):
            if self._may_offer(source, name):
                yield source

    def _star_sources(self, module: Module) -> Iterator[_Source]:
        """The modules of a module's star imports, found as far as somebody asks."""
        known = self._stars.setdefault(module, [])
        for index, node in enumerate(module.star_imports):
            if index >= len(known):
                source = self.imported(module, module.absolute(node))
                if index == len(known):  # else finding this one has asked for more
                    known.append(source)
            yield known[index]

    def _may_offer(self, source: _Source, name: str, depth: int = 0) -> bool:
        """Whether a star import of a module may bind a name, as far as that is told without reading more of it."""
        if not isinstance(source, Module):
            return not name.startswith("_")
        if source.exported is not None:
            return name in source.exported or self._is_added(source, name)
        if source.lazy is None or depth > _DEEPEST:
            return not name.startswith("_") and (name in source.file.text or bool(source.star_imports))
        if name in source.bindings or name in source.lazy.sources:
            return True
        return any(self._may_offer(inner, name, depth + 1) for inner in self._star_sources(source))

    def _is_added(self, source: Module, name: str) -> bool:
        """Whether a decorator adds to ``__all__`` what a module defines, as those of registries do."""
        if not any(f"\n{kind} {name}" in source.file.text for kind in ("def", "class")):
            return False
        definitions = (binding.node for binding in source.bindings.get(name, ()))
        return any(
            self._adds(source, decorator)
            for node in definitions
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            for decorator in node.decorator_list
        )

    def _adds(self, source: Module, decorator: ast.expr) -> bool:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = self.meaning(source, function.id) if isinstance(function, ast.Name) else None
        if not isinstance(found, Definition) or not isinstance(found.node, ast.FunctionDef):
            return False
        return any(isinstance(part, ast.Attribute) and part.attr == "__all__" for part in walked(found.node))

    def _binding_meaning(self, module: Module, binding: Binding, seen: _Seen) -> Meaning | None:
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
        return External(name) if self.finder.is_described(name) else self._missing(name, importer)

    def _missing(self, name: str, importer: Module) -> Missing:
        compiled = self.finder.compiled(name, importer)
        why = f"{COMPILED_ONLY} ({compiled.name})" if compiled is not None else ""
        return Missing(name, why)

    def member(self, importer: Module, source: str, name: str, seen: _Seen = frozenset()) -> Meaning | None:
        """What ``from source import name`` binds."""
        module = self.imported(importer, source)
        if isinstance(module, Module):
            return self._member(module, name, seen) or Missing(f"{source}.{name}")
        return replace(module, name=f"{source}.{name}")

    def _member(self, module: Module, name: str, seen: _Seen) -> Meaning | None:
        found = self._meaning(module, name, seen)
        return found if found is not None else self.finder.find(f"{module.name}.{name}", module)


# No package hands star imports on through more packages.
_DEEPEST = 8
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
