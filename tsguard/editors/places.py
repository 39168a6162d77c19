"""Places of a report as the protocol counts them: from 0, columns in the client's units."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from tsguard.report import Edit, Finding
from tsguard.source import SourceFile
from tsguard.source.sources import Sources


class Places:
    """Ranges in the files of a report.

    Args:
        codec: knows in which units the client counts.
    """

    def __init__(self, codec: PositionCodec, sources: Sources) -> None:
        self._codec = codec
        self._sources = sources

    def of(self, place: Finding | Edit) -> lsp.Range:
        """The range of a finding or an edit."""
        file = self._sources.file(place.path)
        start = self._position(file, place.line, place.column)
        return lsp.Range(start, self._position(file, place.end_line, place.end_column))

    def line(self, path: str, line: int) -> lsp.Range:
        """The code on a line."""
        file = self._sources.file(path)
        text = file.lines[line - 1] if line <= len(file.lines) else ""
        start = len(text) - len(text.lstrip())
        return lsp.Range(
            self._position(file, line, start + 1), self._position(file, line, len(text.rstrip()) + 1)
        )

    def width(self, path: str, line: int) -> int:
        """The length of a line in the client's units."""
        file = self._sources.file(path)
        return self._position(file, line, len(file.lines[line - 1]) + 1).character

    def whole(self, path: str) -> lsp.Range:
        """All of a file."""
        lines = self._sources.file(path).lines
        return lsp.Range(
            lsp.Position(0, 0), self._position(self._sources.file(path), len(lines), len(lines[-1]) + 1)
        )

    def _position(self, file: SourceFile, line: int, column: int) -> lsp.Position:
        text = file.lines[line - 1] if line <= len(file.lines) else ""
        return lsp.Position(line - 1, self._codec.client_num_units(text[: column - 1]))


def uri(path: str) -> str:
    """The address of a file."""
    return Path(path).absolute().as_uri()
