"""Patterns of files, written as in ``.gitignore``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class Patterns:
    """Lines of a ``.gitignore`` and the folder in which they hold."""

    def __init__(self, folder: Path, lines: Iterable[str]) -> None:
        from pathspec import GitIgnoreSpec  # costs 15 ms: loaded by those who need it

        self.folder = folder
        self._spec: GitIgnoreSpec = GitIgnoreSpec.from_lines(lines)

    def verdict(self, path: Path, is_folder: bool = False) -> bool | None:
        """True for a match, False for one that a ``!`` line takes back, None for neither."""
        if not path.is_relative_to(self.folder) or path == self.folder:
            return None
        shown = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        return self._spec.check_file(shown).include
