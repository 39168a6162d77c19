"""Where imported packages' sources lie, found without running anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

_SITE_FOLDERS = ("site-packages", "dist-packages")


class NoEnvironment(LookupError):
    """A configured Python has no folder of installed packages."""


def package_folders(root: Path, python: Path | None = None) -> tuple[Path, ...]:
    """Folders of installed packages, best first.

    They are those of ``python`` (an interpreter or an environment's folder) if given,
    else of ``VIRTUAL_ENV``, else of ``.venv`` in ``root``, else this interpreter's own.
    Folders that their ``.pth`` files name (editable installs) follow.

    Raises:
        NoEnvironment: ``python`` is given and has no such folder.
    """
    if python is not None:
        found = _of_environment(python)
        if not found:
            raise NoEnvironment(f"{python} is no Python interpreter or environment with installed packages")
        return _with_linked(found)
    active = os.environ.get("VIRTUAL_ENV")
    for candidate in (Path(active) if active else None, root / ".venv"):
        if candidate is not None and (found := _of_environment(candidate)):
            return _with_linked(found)
    own = [Path(entry) for entry in sys.path if Path(entry).name in _SITE_FOLDERS]
    return _with_linked([path for path in own if path.is_dir()])


def _of_environment(python: Path) -> list[Path]:
    for prefix in _prefixes(python):
        found = [
            folder
            for pattern in ("lib/python3*/*", "local/lib/python3*/*", "lib/python3/*", "Lib/*")
            for folder in sorted(prefix.glob(pattern))
            if folder.name in _SITE_FOLDERS and folder.is_dir()
        ]
        if found:
            return list(dict.fromkeys(found))
    return []


def _prefixes(python: Path) -> Iterator[Path]:
    if python.is_dir():
        yield python
    elif python.exists():
        # An environment's own packages come first, those of the Python that it links to next.
        yield python.parent.parent
        yield python.resolve().parent.parent
        yield python.resolve().parent


def _with_linked(folders: list[Path]) -> tuple[Path, ...]:
    linked = [path for folder in folders for path in _linked(folder)]
    return tuple(dict.fromkeys([*folders, *linked]))


def _linked(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.pth")):
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            # Python would execute a line that begins with "import": it is passed over.
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                path = folder / line.strip()
                if path.is_dir():
                    yield path
