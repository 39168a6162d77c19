"""Modules of the project and of installed packages: found on disk, read, never run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tsguard.project.changes import Changes, changes
from tsguard.source import SourceFile

# Packages that the language tables describe: their sources are never read.
_DESCRIBED = frozenset({"torch", "numpy", "typing_extensions"}) | sys.stdlib_module_names


@dataclass(frozen=True, slots=True)
class Attempt:
    """A ``try`` around a statement, which runs if nothing is raised there (``succeeds``) or if something is."""

    node: ast.Try
    succeeds: bool


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that gives a module-level name its value.

    ``node`` is the defining statement (class, function, import, assignment, ...).
    ``guard`` tells how certain it is that the statement runs: "" always, "try" in a
    try body, "except" in its handlers, "if"/"else" in a branch, "typing" only for
    type checkers.  ``test`` is the condition of the innermost ``if`` around it, ``holds``
    the truth that it must have.  ``attempts`` are the ``try`` statements around it, each with
    whether the statement runs if nothing is raised.
    """

    name: str
    node: ast.stmt
    guard: str = ""
    test: ast.expr | None = None
    holds: bool = True
    attempts: tuple[Attempt, ...] = ()


@dataclass(eq=False, repr=False)
class Module:
    """A Python module by its source.

    ``root`` is the folder from which ``name`` is importable.
    """

    name: str
    file: SourceFile
    root: Path
    is_package: bool = False

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Module-level names and the statements that bind them, in source order."""
        found: dict[str, list[Binding]] = {}
        for binding in _bindings(self.file.tree.body, ""):
            found.setdefault(binding.name, []).append(binding)
        return found

    @cached_property
    def changes(self) -> Changes:
        """What the module's code does to its global containers and classes."""
        return changes(self.file.tree)

    @cached_property
    def star_imports(self) -> list[ast.ImportFrom]:
        """The ``from x import *`` statements at module level."""
        return [
            node
            for node in self.file.tree.body
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        ]

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that a ``from`` import reads."""
        if not node.level:
            return node.module or ""
        parts = self.package.split(".") if self.package else []
        kept = parts[: len(parts) - (node.level - 1)]
        return ".".join([*kept, *([node.module] if node.module else [])])

    @cached_property
    def exported(self) -> frozenset[str] | None:
        """The names in ``__all__`` where it is a literal, else None."""
        for binding in self.bindings.get("__all__", ()):
            value = getattr(binding.node, "value", None)
            if isinstance(value, (ast.List, ast.Tuple)):
                names = [e.value for e in value.elts if isinstance(e, ast.Constant)]
                return frozenset(n for n in names if isinstance(n, str))
        return None


_TRY = (ast.Try, ast.TryStar) if sys.version_info >= (3, 11) else (ast.Try,)


def _bindings(
    statements: list[ast.stmt],
    guard: str,
    test: ast.expr | None = None,
    holds: bool = True,
    attempts: tuple[Attempt, ...] = (),
) -> Iterator[Binding]:
    for node in statements:
        yield from (Binding(name, node, guard, test, holds, attempts) for name in _bound(node))
        if isinstance(node, ast.If):
            typing_only = "TYPE_CHECKING" in ast.dump(node.test)
            inner = "typing" if typing_only else guard or "if"
            yield from _bindings(node.body, inner, node.test, True, attempts)
            inner = guard if typing_only else guard or "else"
            yield from _bindings(node.orelse, inner, node.test, False, attempts)
        for body, inner, attempt in _blocks(node, guard):
            yield from _bindings(body, inner, test, holds, (*attempts, *attempt))


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement binds by itself, its blocks aside."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.name
    elif isinstance(node, ast.Import):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from assigned_names(target)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.For)):
        yield from assigned_names(node.target)


def _blocks(node: ast.stmt, guard: str) -> Iterator[tuple[list[ast.stmt], str, tuple[Attempt, ...]]]:
    """The blocks of a statement that is no ``if``, in order, each with what its names hang on."""
    if isinstance(node, _TRY):
        succeeds = (Attempt(node, True),) if isinstance(node, ast.Try) else ()
        fails = (Attempt(node, False),) if isinstance(node, ast.Try) else ()
        yield node.body, guard or "try", succeeds
        for handler in node.handlers:
            yield handler.body, "except", fails
        yield node.orelse, guard or "try", succeeds
        yield node.finalbody, guard, ()
    elif isinstance(node, ast.For):
        yield node.body, guard or "if", ()
    elif isinstance(node, (ast.With, ast.While)):
        yield node.body, guard, ()


def assigned_names(target: ast.expr) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from assigned_names(element)
    elif isinstance(target, ast.Starred):
        yield from assigned_names(target.value)


class Finder:
    """Finds modules by name among search paths, and names modules by file."""

    def __init__(self, search_paths: tuple[Path, ...] = ()) -> None:
        self._search_paths = search_paths
        self._by_path: dict[Path, Module] = {}
        self._located: dict[tuple[str, Path], Path | None] = {}
        self._found: dict[tuple[str, Module], Module | None] = {}
        self._looked_at: dict[Module, set[Path]] = {}

    def of_file(self, path: Path, file: SourceFile | None = None, shown: str | None = None) -> Module:
        """The module that a file holds; ``file`` when its text is already at hand."""
        path = path.absolute()
        module = self._by_path.get(path)
        if module is None or file is not None:
            name, root = _module_name(path)
            source = file or SourceFile.read(path, shown)
            module = Module(name, source, root, path.name == "__init__.py")
            self._by_path[path] = module
        return module

    @staticmethod
    def is_described(name: str) -> bool:
        """Whether the language tables tell about this package instead of its source."""
        return name.partition(".")[0] in _DESCRIBED

    def find(self, name: str, importer: Module) -> Module | None:
        """The module of this absolute name as ``importer`` would find it, or None."""
        if not name or self.is_described(name):
            return None
        key = (name, importer)
        if key not in self._found:
            self._found[key] = self._search(name, importer)
        return self._found[key]

    def is_absent(self, name: str, importer: Module) -> bool:
        """Whether importing a module fails: the environment is at hand, and nothing of this name is in it."""
        if not name or self.is_described(name) or self.find(name, importer) is not None:
            return False
        roots = (importer.root, *self._search_paths)
        if not any(self._locate("torch", root) for root in roots):
            return False
        return not any(_is_binary_or_bare(name, root) for root in roots)

    def files_behind(self, module: Module) -> set[Path]:
        """The files that the meaning of a module's names rests on, as far as they were asked for.

        They are those that its imports, and the imports of what they lead to, were found
        in or looked for in vain: if none of them changes, appears or vanishes, neither
        does the meaning.
        """
        files: set[Path] = set()
        todo = [module]
        while todo:
            new = self._looked_at.get(todo.pop(), set()) - files
            files |= new
            todo += [self._by_path[path] for path in new if path in self._by_path]
        return files

    def _search(self, name: str, importer: Module) -> Module | None:
        looked_at = self._looked_at.setdefault(importer, set())
        for root in (importer.root, *self._search_paths):
            looked_at.update(_candidates(name, root))
            path = self._locate(name, root)
            if path is not None:
                return self.of_file(path)
        return None

    def _locate(self, name: str, root: Path) -> Path | None:
        key = (name, root)
        if key not in self._located:
            found = (path for path in _candidates(name, root) if path.is_file())
            self._located[key] = next(found, None)
        return self._located[key]


def _candidates(name: str, root: Path) -> tuple[Path, Path]:
    """Where a module of this name would lie below a root: as a package, else as a file."""
    base = root.joinpath(*name.split("."))
    return base / "__init__.py", base.with_name(base.name + ".py")


def _is_binary_or_bare(name: str, root: Path) -> bool:
    """Whether a module lies below a root in a form that is not read: compiled, or a folder of its own."""
    base = root.joinpath(*name.split("."))
    return base.is_dir() or any(base.parent.glob(f"{base.name}.*"))


def _module_name(path: Path) -> tuple[str, Path]:
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder
