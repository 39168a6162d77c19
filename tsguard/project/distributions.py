"""Installed distributions: what their metadata tell, without running anything.

Source: the Python packaging user guide, "Recording installed projects" and "Names and normalization".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


def installed(search_paths: Iterable[Path]) -> dict[str, Path]:
    """The metadata of every distribution on the search paths, by its normalized name; the first of a name counts."""
    found: dict[str, Path] = {}
    for folder in search_paths:
        for metadata in sorted(folder.glob("*.dist-info/METADATA")):
            found.setdefault(normalized(_parts(metadata)[0]), metadata)
    return found


def version(metadata: Path) -> str:
    """The version that the metadata of a distribution are of."""
    return _parts(metadata)[1]


def normalized(name: str) -> str:
    """A distribution's name, in the one of its spellings that all tools compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _parts(metadata: Path) -> tuple[str, str]:
    name, _, number = metadata.parent.name.removesuffix(".dist-info").rpartition("-")
    return name, number
