"""The texts that findings lie in, by the paths that reports show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tsguard.source.text import SourceFile


class Sources:
    """Source files read when they are first asked for.

    Args:
        texts: what stands for a file that is not read from disk (standard input).
    """

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._files = {path: SourceFile(path, text) for path, text in (texts or {}).items()}

    def file(self, path: str) -> SourceFile:
        """The file of this path; one that cannot be read has no text."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = SourceFile.read(Path(path), path)
        return found

    def line(self, path: str, number: int, cell: int | None = None) -> str:
        """A line without its end, "" past the end of the file; of a notebook's cell if that is given."""
        lines = self.file(path).lines
        number += self.lines_above(path, cell)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def lines_above(self, path: str, cell: int | None) -> int:
        """How many lines of a notebook's text lie above a cell; 0 for other files."""
        if cell is None:
            return 0
        return next((c.line - 1 for c in self.file(path).cells if c.number == cell), 0)
