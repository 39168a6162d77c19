"""A copy of the code that may be changed and run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tsguard.runtime.subject import Subject
from tsguard.source import SourceFile
from tsguard.source.text import encoding_of

# What is no code of the project, or may be read where it is.
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
_MOST_FILES = 20_000
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Scratch:
    """The folder ``copy`` with the code of the folder ``origin``."""

    origin: Path
    copy: Path

    def there(self, path: str | Path) -> Path:
        """Where a file of the origin lies in the copy."""
        return self.copy / Path(os.path.abspath(path)).relative_to(self.origin)

    def here(self, path: str | Path) -> Path | None:
        """Where a file of the copy comes from; None for files of elsewhere."""
        with suppress(ValueError):
            return self.origin / Path(path).relative_to(self.copy)
        return None

    def subject(self, subject: Subject) -> Subject:
        """The same target in the copy; what was not copied is imported from where it is."""
        file, root = self.there(subject.file), self.there(subject.root)
        paths = (
            str(self.there(path)) if Path(os.path.abspath(path)).is_relative_to(self.origin) else path
            for path in subject.search_paths
        )
        folders = tuple(dict.fromkeys((*paths, str(self.origin))))
        return replace(subject, file=str(file), root=str(root), shown=str(file), search_paths=folders)

    def read(self, path: Path) -> SourceFile:
        """A file of the copy."""
        return SourceFile.read(path, str(path))

    def write(self, texts: Mapping[Path, str]) -> dict[Path, bytes]:
        """Write files of the copy in the encoding that they have; what they held."""
        held = {path: path.read_bytes() for path in texts}
        for path, text in texts.items():
            path.write_bytes(text.encode(encoding_of(held[path])))
        return held


@contextmanager
def scratch(subject: Subject) -> Iterator[Scratch]:
    """A copy of what the target may import from its project; of installed packages, of the target's own."""
    root = Path(subject.root)
    origin = origin_of(subject)
    with TemporaryDirectory(prefix="tsguard-fix-") as folder:
        copy = Path(os.path.realpath(folder)) / _name(origin)
        package = root / subject.module.partition(".")[0]
        if package.is_dir() and _is_all_of_it(package, subject):
            _copy(package, copy / package.name)
        else:
            _copy(origin, copy)
        yield Scratch(origin, copy)


def _name(origin: Path) -> str:
    """The name of the copy: a folder may be imported by its own; torch tells code in site-packages from the user's."""
    return "copy" if origin.name in ("", *_INSTALLED) else origin.name


def _is_all_of_it(package: Path, subject: Subject) -> bool:
    """Whether what lies beside a package is none of the project: it is installed, or the project's folder itself."""
    is_installed = package.parent.name in _INSTALLED
    return is_installed or any(Path(path).is_relative_to(package) for path in subject.search_paths)


def origin_of(subject: Subject) -> Path:
    """The folder that is copied: the one that the target is imported from, or the project's folder above it."""
    root = Path(subject.root)
    above = [Path(os.path.abspath(p)) for p in subject.search_paths]
    return min([root, *(p for p in above if root.is_relative_to(p))], key=lambda p: len(p.parts))


def _copy(origin: Path, copy: Path) -> None:
    """Copy the sources; other files are linked to where they are."""
    number = 0
    for folder, below, files in os.walk(os.path.realpath(origin)):
        # Temporary files may lie in the project: the copy is no part of itself.
        below[:] = [n for n in below if not _is_left_out(folder, n) and Path(folder, n) not in copy.parents]
        there = copy / Path(folder).relative_to(os.path.realpath(origin))
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            number += 1
            if number > _MOST_FILES:
                return
            source = Path(folder, name)
            if not source.is_file():
                continue
            if name.endswith((".py", ".pyi")) and not source.is_symlink():
                shutil.copyfile(source, there / name)
            else:
                (there / name).symlink_to(source)


def _is_left_out(folder: str, name: str) -> bool:
    """Whether a folder is none of the project's own: hidden, of a tool, or an environment."""
    hidden = name.startswith(".") or name in _LEFT_OUT
    return hidden or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
