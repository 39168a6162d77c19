"""Python files and notebooks below a folder, less what is excluded.

Left out are hidden files and folders, what ``exclude`` names (by default the folders
that linters usually pass over), and what git ignores.  Symbolic links to folders are
not followed.  A folder that the user names is searched even if something excludes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from tsguard.report.records import dataclass
from tsguard.source.patterns import Patterns

SUFFIXES = (".py", ".ipynb")
# ruff's defaults, less the hidden ones, which are passed over anyway.
DEFAULT_EXCLUDE = frozenset(
    {"__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"}
)


@dataclass(frozen=True)
class Exclusions:
    """What the settings leave out.

    ``root`` is the folder that patterns start from; ``exclude`` None stands for the
    defaults.  Patterns are those of ``.gitignore``.
    """

    root: Path
    exclude: tuple[str, ...] | None = None
    extend: tuple[str, ...] = ()

    @cached_property
    def _patterns(self) -> Patterns | None:
        lines = (*(self.exclude or ()), *self.extend)
        return Patterns(self.root, lines) if lines else None

    def names(self, name: str) -> bool:
        """Whether an entry of this name is left out wherever it lies."""
        return name.startswith(".") or (self.exclude is None and name in DEFAULT_EXCLUDE)

    def patterns(self, path: Path, is_folder: bool) -> bool:
        """Whether a configured pattern leaves out an entry, or a folder that holds it."""
        return self._patterns is not None and self._patterns.verdict(path, is_folder) is True

    def excludes(self, path: Path) -> bool:
        """Whether a file that the user names falls under the exclusions."""
        path = Path(os.path.abspath(path))
        inside = path.relative_to(self.root).parts if path.is_relative_to(self.root) else (path.name,)
        return self.patterns(path, path.is_dir()) or any(self.names(part) for part in inside)


def python_files(
    folder: Path, exclusions: Exclusions, unreadable: Callable[[OSError], None] = lambda error: None
) -> Iterator[Path]:
    """The Python files and notebooks below a folder in a stable order; ``unreadable`` hears of folders that cannot be read."""
    folder = folder.absolute()
    ignores = _ignores_above(folder)
    # The user named this folder, so what leaves out the whole of it does not count.
    if ignores and _git_ignores(folder, ignores):
        ignores = None
    patterned = not exclusions.patterns(folder, is_folder=True)
    yield from _walk(folder, exclusions, patterned, ignores, unreadable)


def _walk(
    folder: Path,
    exclusions: Exclusions,
    patterned: bool,
    ignores: list[Patterns] | None,
    unreadable: Callable[[OSError], None],
) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        unreadable(error)
        return
    if ignores is not None and any(entry.name == ".gitignore" for entry in entries):
        ignores = [*ignores, *_read_ignores(folder / ".gitignore")]
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if exclusions.names(entry.name) or not (is_folder or _is_python(entry)):
            continue
        path = Path(entry.path)
        if patterned and exclusions.patterns(path, is_folder):
            continue
        if ignores and _git_ignores(path, ignores, is_folder):
            continue
        if is_folder:
            yield from _walk(path, exclusions, patterned, ignores, unreadable)
        else:
            yield path


def _is_python(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is to be read as Python or a notebook, or to be reported because it cannot be."""
    if not entry.name.endswith(SUFFIXES):
        return False
    try:
        return entry.is_file(follow_symlinks=False) or not stat.S_ISDIR(entry.stat().st_mode)
    except FileNotFoundError:
        return False  # a link to nowhere
    except OSError:
        return True


def _git_ignores(path: Path, ignores: list[Patterns], is_folder: bool = True) -> bool:
    for patterns in reversed(ignores):  # the nearest file has the last word
        verdict = patterns.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _ignores_above(folder: Path) -> list[Patterns] | None:
    """The ignore files that hold in a folder, outermost first; None outside a repository."""
    line = [folder, *folder.parents]
    tops = [i for i, place in enumerate(line) if os.path.exists(place / ".git")]
    if not tops:
        return None
    top = line[tops[0]]
    found = _read_ignores(top / ".git" / "info" / "exclude", top)
    for place in reversed(line[1 : tops[0] + 1]):
        found += _read_ignores(place / ".gitignore")
    return found


def _read_ignores(file: Path, folder: Path | None = None) -> list[Patterns]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [Patterns(folder or file.parent, tuple(lines))]
