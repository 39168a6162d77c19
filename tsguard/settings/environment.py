"""Where imported packages' sources lie, found without running anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tsguard.report.records import dataclass

_SITE_FOLDERS = ("site-packages", "dist-packages")
_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
_OF_PROJECT = (".venv", "venv")


class NoEnvironment(LookupError):
    """A configured Python has no folder of installed packages."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python whose installed packages are read.

    ``source`` tells how it was found, ``folders`` are those of its packages, best first, and
    those that their ``.pth`` files name (editable installs).  ``is_of_tool`` where it may have been made for
    tsguard alone, so that the project may well have packages that are not in it.
    """

    path: Path
    source: str
    folders: tuple[Path, ...]
    is_of_tool: bool = False


def find_environment(root: Path, python: Path | None = None) -> Environment | None:
    """The environment of a project; None where there is none.

    It is ``python`` (an interpreter or an environment's folder) if given, else the active one
    (``VIRTUAL_ENV``, ``CONDA_PREFIX``), else ``.venv`` or ``venv`` in ``root`` or a folder above,
    else one whose commands are on ``PATH``, else that of this interpreter.  One that this
    interpreter runs in counts only with torch: a hook has an environment of its own, which tells
    nothing about the project.  Even with torch it may be that of a tool, unless it lies in the project,
    is active, or is no virtual environment at all.

    Raises:
        NoEnvironment: ``python`` is given and has no installed packages.
    """
    if python is not None:
        found = _of_environment(python)
        if not found:
            raise NoEnvironment(
                f"{python} is not a Python interpreter or an environment with installed packages"
            )
        return Environment(python, "the python setting", _with_linked(found))
    own = Path(sys.prefix).resolve()
    for path, source in _candidates(root):
        found = _of_environment(path) if path.is_dir() else []
        if found and (path.resolve() != own or _has_torch(found)):
            # pre-commit activates the environments that it makes for hooks.
            is_hook_s = "PRE_COMMIT" in os.environ and source not in _OF_PROJECT
            is_of_tool = is_hook_s and path.resolve() == own
            return Environment(path, source, _with_linked(found), is_of_tool)
    running = [Path(entry) for entry in sys.path if Path(entry).name in _SITE_FOLDERS]
    running = [path for path in running if path.is_dir()]
    if not _has_torch(running):
        return None
    is_of_tool = sys.prefix != sys.base_prefix
    return Environment(Path(sys.prefix), "the running interpreter", _with_linked(running), is_of_tool)


def _candidates(root: Path) -> Iterator[tuple[Path, str]]:
    for variable in _VARIABLES:
        if active := os.environ.get(variable):
            yield Path(active), variable
    for folder in (root, *root.absolute().parents):
        for name in _OF_PROJECT:
            yield folder / name, name
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        prefix = Path(entry).parent
        if entry and ((prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir()):
            yield prefix, "PATH"


def _has_torch(folders: list[Path]) -> bool:
    return any((folder / "torch").is_dir() for folder in folders)


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
