"""Modules by name: where an import finds them, on disk, without running anything."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from tsguard.project import distributions
from tsguard.project.editable import editable_packages
from tsguard.project.modules import Module, is_installed
from tsguard.source import SourceFile
from tsguard.source.outlines import Outlines
from tsguard.source.text import bytes_of

# Packages that the language tables describe: their sources are never read.
_TABLED = frozenset({"torch", "numpy", "typing_extensions"})
_DESCRIBED = _TABLED | sys.stdlib_module_names
# Begins with letters, for which a text is looked through fast.
_RELATIVE = re.compile(r"from[ \t]+(\.+)")
_COMPILED = (".so", ".pyd", ".pyc")


class Finder:
    """Finds modules by name among search paths, and names modules by file.

    With ``outlines``, bodies of functions of installed files are parsed when they are read.  What is not among
    search paths that are not ``complete`` may be installed all the same.
    """

    def __init__(
        self, search_paths: tuple[Path, ...] = (), outlines: Outlines | None = None, complete: bool = True
    ) -> None:
        self._search_paths = search_paths
        self._is_complete = complete
        self._outlines = outlines
        self._by_path: dict[Path, Module] = {}
        self._located: dict[tuple[str, Path], Path | None] = {}
        self._found: dict[tuple[str, Module], Module | None] = {}
        self._looked_at: dict[Module, set[Path]] = {}
        self._listed: set[Path] = set()
        self._below: dict[Path, list[Path]] = {}
        self._filling: dict[tuple[Module, frozenset[str]], list[Path]] = {}
        self._roots: dict[Path, Path] = {}
        self._compiled: dict[tuple[str, Path], Path | None] = {}
        self._editable: dict[str, Path] | None = None
        self._installed: dict[str, Path] | None = None
        root = search_paths[0] if search_paths else Path()
        self._nowhere = Module("", SourceFile("", ""), root)

    def of_file(self, path: Path, file: SourceFile | None = None, shown: str | None = None) -> Module:
        """The module that a file holds; ``file`` when its text is already at hand."""
        path = path.absolute()
        module = self._by_path.get(path)
        if module is None or file is not None:
            source = file or SourceFile.read(path, shown)
            source.outlines = self._outlines if is_installed(path) else None
            name, root = _module_name(path, source.text)
            root = self._roots.setdefault(root, root)  # what is identical is compared fast
            module = Module(name, source, root, path.stem == "__init__", path.suffix == ".pyi")
            self._by_path[path] = module
        return module

    @staticmethod
    def is_described(name: str) -> bool:
        """Whether the language tables tell about this package instead of its source."""
        return name.partition(".")[0] in _DESCRIBED

    def find(self, name: str, importer: Module) -> Module | None:
        """The module of this absolute name as ``importer`` would find it, or None.

        Source comes before stubs, wherever they lie, and both before folders without ``__init__.py``.
        """
        if not name or self.is_described(name):
            return None
        key = (name, importer)
        if key not in self._found:
            self._found[key] = self._search(name, importer)
        return self._found[key]

    def named(self, name: str) -> Module | None:
        """The module of this absolute name as who is nowhere would find it, by the search paths alone."""
        return self.find(name, self._nowhere)

    def version(self, name: str) -> str | None:
        """The version of a distribution on the search paths, by its metadata; None where it is not found."""
        if self._installed is None:
            self._installed = distributions.installed(self._search_paths)
        metadata = self._installed.get(distributions.normalized(name))
        if metadata is None:
            return None
        self._looked_at.setdefault(self._nowhere, set()).add(metadata)
        return distributions.version(metadata)

    def stub_beside(self, module: Module) -> Module | None:
        """The ``.pyi`` file that lies beside a module's own."""
        name = "__init__" if module.is_package else module.name.rpartition(".")[2]
        path = self._folder(module) / f"{name}.pyi"
        return self.of_file(path) if path.is_file() else None

    def below(self, module: Module) -> Iterator[Module]:
        """The modules in a package's folder and in those below it, but for the package itself."""
        for path in self._paths_below(module):
            found = self.of_file(path)
            if found is not module:
                yield found

    def filling(self, home: Module, words: frozenset[str]) -> Iterator[Module]:
        """The modules that may fill a table of ``home``: those of its package, or beside it, that hold one of the words.

        What ``home`` means rests on them from now on.  Other texts are not kept: a large package has thousands.
        """
        if (home, words) not in self._filling:
            package = self.find(home.name.partition(".")[0], home) if "." in home.name else None
            paths = self._paths_beside(home) if package is None else self._paths_below(package)
            filling = [path for path in paths if self._holds(path, words)]
            self._looked_at.setdefault(home, set()).update(filling, (path.parent for path in paths))
            self._filling[home, words] = filling
        yield from map(self.of_file, self._filling[home, words])

    def _holds(self, path: Path, words: Collection[str]) -> bool:
        known = self._by_path.get(path)
        if known is not None:
            return any(word in known.file.text for word in words)
        try:
            data = bytes_of(path)
        except OSError:
            return False
        return any(word.encode() in data for word in words)

    def _paths_below(self, module: Module) -> list[Path]:
        top = self._folder(module)
        if top not in self._below:
            paths: list[Path] = []
            for folder, folders, names in os.walk(top):
                folders[:] = [name for name in folders if name != "__pycache__"]
                self._listed.add(Path(folder))
                paths += [Path(folder, name) for name in names if name.endswith(".py")]
            self._listed.update(paths)
            self._below[top] = sorted(paths)
        return self._below[top]

    def _paths_beside(self, module: Module) -> list[Path]:
        paths = sorted(self._folder(module).glob("*.py"))
        self._listed.update([self._folder(module), *paths])
        return paths

    def is_absent(self, name: str, importer: Module) -> bool:
        """Whether importing a module fails: the project's environment is at hand, and nothing of this name is in it."""
        if not self._is_complete:
            return False
        if not name or self.is_described(name) or self.find(name, importer) is not None:
            return False
        roots = (importer.root, *self._search_paths)
        if not any(self._locate("torch", root) for root in roots):
            return False
        return self.compiled(name, importer) is None

    def compiled(self, name: str, importer: Module) -> Path | None:
        """The file that holds a module of which only compiled code is installed."""
        for root in (importer.root, *self._search_paths):
            if (name, root) not in self._compiled:
                self._compiled[name, root] = _compiled_in(root, name)
            found = self._compiled[name, root]
            if found is not None:
                return found
        return None

    @property
    def files_read(self) -> Collection[Path]:
        """The files whose text is kept."""
        return self._by_path.keys()

    def forget(self, paths: Iterable[Path]) -> dict[Path, Module]:
        """Read these files anew when they are next asked for; so too what rests on them.

        Returns:
            The modules that were forgotten.
        """
        importers: dict[Path, list[Path]] = {}
        for path, module in self._by_path.items():
            for looked_at in self._looked_at.get(module, ()):
                importers.setdefault(looked_at, []).append(path)
        changed = set(paths)
        # A file that was not read, or was not there, may still be one of a folder that was looked through.
        folders = {path.parent for path in changed if path not in self._by_path}
        todo, affected = [*changed, *folders], set(changed)
        while todo:
            new = [path for path in importers.get(todo.pop(), ()) if path not in affected]
            affected.update(new)
            todo += new
        self._installed = None
        gone = {path: self._by_path.pop(path) for path in affected if path in self._by_path}
        modules = set(gone.values())
        for module in modules:
            self._looked_at.pop(module, None)
        self._found = {key: found for key, found in self._found.items() if key[1] not in modules}
        self._located = {
            key: found for key, found in self._located.items() if changed.isdisjoint(_candidates(*key))
        }
        self._compiled.clear()
        self._below.clear()
        self._filling.clear()
        return gone

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

    def files_looked_through(self) -> set[Path]:
        """What any judgement so far may rest on: folders that were listed, with the files in them, and what
        was looked for by name alone.
        """
        return self._listed | self.files_behind(self._nowhere)

    def _search(self, name: str, importer: Module) -> Module | None:
        looked_at = self._looked_at.setdefault(importer, set())
        roots = (importer.root, *self._search_paths)
        for root in roots:
            looked_at.update(_candidates(name, root))
            path = self._locate(name, root)
            if path is not None:
                return self.of_file(path)
        for found in self._elsewhere(name, roots):
            looked_at.add(found)
            if found.is_dir():
                return self._by_path.setdefault(found, Module(name, SourceFile(str(found), ""), found, True))
            if found.exists():
                return self.of_file(found)
        return None

    def _elsewhere(self, name: str, roots: tuple[Path, ...]) -> Iterator[Path]:
        """Where a module may be found that is in no folder of packages as a source file."""
        if self._editable is None:
            self._editable = editable_packages(self._search_paths)
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            base = self._editable.get(".".join(parts[:length]))
            if base is not None:
                yield from _below(base, parts[length:], ".py")
        for root in roots:
            yield from _below(root, parts, ".pyi")
            yield from _below(root, [f"{parts[0]}-stubs", *parts[1:]], ".pyi")
        for root in roots:
            folder = root.joinpath(*parts)
            if folder.is_dir() and not any(folder.glob("__init__.*")):
                yield folder

    def _folder(self, module: Module) -> Path:
        parts = module.name.split(".") if module.name else []
        return module.root.joinpath(*(parts if module.is_package else parts[:-1]))

    def _locate(self, name: str, root: Path) -> Path | None:
        key = (name, root)
        if key not in self._located:
            self._located[key] = next((path for path in _candidates(name, root) if path.is_file()), None)
        return self._located[key]


def _compiled_in(root: Path, name: str) -> Path | None:
    base = root.joinpath(*name.split("."))
    for pattern in (f"{base.name}.*", f"{base.name}/__init__.*"):
        for path in base.parent.glob(pattern):
            if path.suffix in _COMPILED:
                return path
    return None


def _candidates(name: str, root: Path) -> tuple[Path, Path]:
    """Where a module of this name would lie below a root: as a package, else as a file."""
    package, file = _below(root, name.split("."), ".py")
    return package, file


def _below(root: Path, parts: list[str], suffix: str) -> tuple[Path, Path]:
    base = root.joinpath(*parts)
    return base / f"__init__{suffix}", base.with_name(base.name + suffix)


def _module_name(path: Path, text: str) -> tuple[str, Path]:
    """The name by which a file is imported, and from where; one with relative imports lies in a package.

    A package that would hide torch from its own files lies in a namespace, as in ``company/torch/``.
    """
    parts = [] if path.stem == "__init__" else [path.stem]
    folder, inside = path.parent, max(_levels(text), default=0)
    while folder.name.isidentifier() and (
        inside > 0 or _is_package(folder) or (parts[0] in _TABLED and _is_package(folder / parts[0]))
    ):
        parts.insert(0, folder.name)
        folder, inside = folder.parent, inside - 1
    return ".".join(parts), folder


def _levels(text: str) -> Iterator[int]:
    """How many dots each relative import begins with."""
    for match in _RELATIVE.finditer(text):
        if not text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip(" \t"):
            yield len(match[1])


def _is_package(folder: Path) -> bool:
    return any((folder / f"__init__{suffix}").is_file() for suffix in (".py", ".pyi"))
