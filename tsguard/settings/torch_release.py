"""Which torch releases code is judged for: what is said, installed or required, in this order."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tsguard.language.tables import RELEASES, as_numbers
from tsguard.report.records import dataclass

_VERSION = re.compile(r"\s*v?(\d+)\.(\d+)(?:[.+a-z].*)?\s*")
_INSTALLED = re.compile(r"torch-(\d[^-]*?)(?:-py[\d.]+)?\.(?:dist|egg)-info")
_NAMES_TORCH = re.compile(r"torch\s*(?![\w.-])", re.IGNORECASE)


class NoTables(LookupError):
    """Code cannot be judged for a release: it is older than all tables, or no release."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The releases whose tables serve, oldest first, and what tells them.

    ``note`` says what is to be known about them, None if nothing is.
    """

    releases: tuple[str, ...]
    told_by: str
    note: str | None = None

    def __str__(self) -> str:
        return ",".join(self.releases)


def judged_for(said: str | None, packages: Iterable[Path], root: Path) -> Judged:
    """The releases to judge for.

    Args:
        said: what ``torch-version`` says, such as "2.4" or "2.4,2.15".
        packages: the folders whose packages are read; nothing of them is imported.
        root: the project's folder, whose requirements count where torch is not installed.

    Raises:
        NoTables: what is said is no release, or one older than the tables.
    """
    if said is not None:
        return _of_words(said)
    version = installed(packages)
    if version is not None:
        release, note = _served(version, oldest=True)
        return Judged((release,), f"the installed torch {version}", note)
    for name, requirement in _requirements(root):
        newest = _newest_allowed(requirement)
        if newest is not None:
            return Judged((newest,), f"{name}: {requirement}")
    return Judged((RELEASES[-1],), "the newest supported release, because no torch is installed or required")


def installed(packages: Iterable[Path]) -> str | None:
    """The version of the torch that lies in the first of the folders that has one, by its metadata."""
    for folder in packages:
        for path in sorted(folder.glob("torch-*-info")):
            if (match := _INSTALLED.fullmatch(path.name)) and _VERSION.fullmatch(match[1]):
                return match[1]
    return None


def _of_words(said: str) -> Judged:
    served = [_served(part.strip()) for part in said.split(",") if part.strip()]
    if not served:
        raise NoTables(f"{said!r} is not a torch release")
    releases = sorted({release for release, _ in served}, key=as_numbers)
    return Judged(tuple(releases), "torch-version", next((note for _, note in served if note), None))


def _served(version: str, oldest: bool = False) -> tuple[str, str | None]:
    """The release whose tables serve a version, and what is to be said if they are not its own.

    ``oldest`` has the oldest tables serve versions before them.
    """
    match = _VERSION.fullmatch(version) if version.count(".") else None
    if match is None:
        raise NoTables(f"{version!r} is not a torch release; the supported releases are {_TABLES}")
    release = f"{match[1]}.{match[2]}"
    before = [known for known in RELEASES if as_numbers(known) <= as_numbers(release)]
    if release in before:
        return release, None
    if before[-1:] == [RELEASES[-1]]:
        return before[
            -1
        ], f"torch {version} is newer than the newest supported release: it is checked as {before[-1]}"
    if before:
        return before[-1], f"torch {version} is not supported: it is checked as {before[-1]}"
    if oldest:
        return RELEASES[
            0
        ], f"torch {version} is older than the oldest supported release: it is checked as {RELEASES[0]}"
    raise NoTables(f"torch {version} is not supported; the supported releases are {_TABLES}")


_TABLES = f"{RELEASES[0]} to {RELEASES[-1]}"


def _requirements(root: Path) -> Iterator[tuple[str, str]]:
    """The requirements of torch that a project declares, with the name of the file."""
    project = root / "pyproject.toml"
    files: dict[Path, Iterable[str]] = {project: _declared(project)} if project.is_file() else {}
    files |= {path: _lines(path) for path in sorted(root.glob("requirements*.txt"))}
    for path, requirements in files.items():
        for requirement in requirements:
            if _NAMES_TORCH.match(requirement):
                yield path.name, requirement


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line.partition(" #")[0].strip() for line in text.splitlines()]


def _declared(path: Path) -> Iterator[str]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    project = _table(document, "project")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    for group in (*groups, *_table(document, "dependency-groups").values()):
        if isinstance(group, list):
            yield from (item for item in group if isinstance(item, str))


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _newest_allowed(requirement: str) -> str | None:
    """The newest release with tables that a requirement allows; None of one that leaves it open."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        # How torch was built (2.6.0+cu124) says nothing of its release.
        specifier = Requirement(re.sub(r"\+[\w.]+", "", requirement)).specifier
    except InvalidRequirement:
        return None
    # A patch release may be what is pinned: 2.4.1 is of 2.4.
    allowed = [r for r in RELEASES if any(f"{r}.{patch}" in specifier for patch in range(10))]
    return allowed[-1] if allowed and specifier else None
