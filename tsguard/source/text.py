"""A source file: bytes decoded as Python would, its tree, and places in it.

The tree is the standard library's ``ast``, because that is what torch compiles from:
its node classes are the grammar that ``torch/jit/frontend.py`` is written in.
"""

from __future__ import annotations

import ast
import errno
import io
import re
import stat
import tokenize
from bisect import bisect_right
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tsguard.report.records import dataclass
from tsguard.source.unread import parsed

if TYPE_CHECKING:
    from tsguard.source.notebooks import Cell
    from tsguard.source.outlines import Outlines

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
_NEWLINE = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """A range of text: 1-based, columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a file has no tree: ``kind`` is "syntax" or "unreadable", ``repair`` what may help."""

    kind: str
    message: str
    span: Span
    repair: str = "save it as UTF-8"


@dataclass(eq=False, repr=False)
class SourceFile:
    """One Python file.  ``path`` is as the user should see it.

    ``broken`` tells why ``tree`` is empty; otherwise it is None.  Of a notebook, the text is
    that of its code ``cells``; a file of Python has none.  What is ``broken`` of a notebook is
    told cell by cell, and the ``tree`` is that of the others.  With ``outlines`` the tree of a text that
    was parsed before has functions whose bodies are parsed when they are read.
    """

    path: str
    text: str
    broken: Broken | None = None
    cells: tuple[Cell, ...] = ()
    outlines: Outlines | None = None
    _tree: ast.Module | None = field(default=None, repr=False)

    @classmethod
    def read(cls, path: Path, shown: str | None = None) -> SourceFile:
        """Read a file; an unreadable one comes back ``broken``, nothing is raised."""
        shown = shown if shown is not None else str(path)
        try:
            data = bytes_of(path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            broken = Broken("unreadable", f"cannot be read: {reason}", Span(1, 1, 1, 1), "make it readable")
            return cls(shown, "", broken)
        return cls._of_notebook(data, shown) if is_notebook(path) else cls.decode(data, shown)

    @classmethod
    def _of_notebook(cls, data: bytes, shown: str) -> SourceFile:
        from tsguard.source.notebooks import NoNotebook, code

        try:
            text, cells = code(data)
        except NoNotebook as error:
            return cls(shown, "", Broken("unreadable", str(error), Span(1, 1, 1, 1), "save it with Jupyter"))
        return cls(shown, text, cells=cells)

    @cached_property
    def broken_cells(self) -> tuple[tuple[Cell, Broken], ...]:
        """The cells of a notebook that do not parse, and why."""
        broken = []
        for cell in self.cells:
            if not cell.parses:
                text = "\n".join(self.lines[cell.line - 1 : cell.line - 1 + cell.lines])
                alone = SourceFile(self.path, text)
                _ = alone.tree
                if alone.broken is not None:
                    broken.append(
                        (cell, replace(alone.broken, span=_lower(alone.broken.span, cell.line - 1)))
                    )
        return tuple(broken)

    @cached_property
    def _parsed_text(self) -> str:
        """The text that ``tree`` is of: that of a notebook without the cells that do not parse."""
        if not self.broken_cells:
            return self.text
        lines = list(self.lines)
        for cell, _ in self.broken_cells:
            lines[cell.line - 1 : cell.line - 1 + cell.lines] = [""] * cell.lines
        return "\n".join(lines)

    def cell_at(self, line: int) -> Cell | None:
        """The cell that a line of a notebook's text lies in."""
        index = bisect_right(self.cells, line, key=lambda cell: cell.line) - 1
        return self.cells[index] if index >= 0 else None

    @classmethod
    def decode(cls, data: bytes, shown: str) -> SourceFile:
        """Decode by the byte-order mark or coding comment, as Python does."""
        try:
            text = data.decode(encoding_of(data))
        except (SyntaxError, UnicodeDecodeError, LookupError):
            line = _first_undecodable_line(data)
            span = Span(line, 1, line, 1)
            why = "is not UTF-8 and declares no other encoding that there is"
            return cls(shown, "", Broken("unreadable", why, span))
        return cls(shown, text.removeprefix("\ufeff"))

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, split where Python's tokenizer splits them."""
        return _NEWLINE.split(self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def newline(self) -> str:
        """How a line ends that is added to the file."""
        return "\r\n" if "\r\n" in self.text else "\n"

    @cached_property
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        """The import statements at the top level."""
        return tuple(node for node in self.tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))

    def offset(self, line: int, column: int) -> int:
        """Where in the text a 1-based place is."""
        return self._starts[line - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a place in the text."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    @property
    def tree(self) -> ast.Module:
        """The parsed module; empty where the file is broken."""
        if self._tree is None:
            self._tree = self._parse()
        return self._tree

    def _parse(self) -> ast.Module:
        if self.broken is not None:
            return ast.Module(body=[], type_ignores=[])
        if "\0" in self._parsed_text:
            self.broken = Broken("syntax", "it holds a null byte", self._first("\0"))
            return ast.Module(body=[], type_ignores=[])
        try:
            return (self.outlines.parsed if self.outlines else parsed)(self._parsed_text)
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), len(self.lines))
            column = max(error.offset or 1, 1)
            message = error.msg or "invalid syntax"
            self.broken = Broken("syntax", message, Span(line, column, line, column + 1))
        except (ValueError, RecursionError, MemoryError) as error:
            reason = "is nested too deeply to be parsed" if isinstance(error, RecursionError) else str(error)
            self.broken = Broken("syntax", reason, Span(1, 1, 1, 1))
        return ast.Module(body=[], type_ignores=[])

    def _first(self, character: str) -> Span:
        line, text = next((n, text) for n, text in enumerate(self.lines, 1) if character in text)
        column = text.index(character) + 1
        return Span(line, column, line, column + 1)

    def column(self, line: int, offset: int) -> int:
        """The 1-based code point column of a UTF-8 byte offset, as ``ast`` counts."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode()[:offset].decode(errors="ignore")) + 1

    def span(self, node: ast.AST) -> Span:
        """The place of a node; of a compound statement, its first line only."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_offset = getattr(node, "end_col_offset", None) or offset
        start = self.column(line, offset)
        if isinstance(node, ast.stmt) and getattr(node, "body", None) and end_line > line:
            return Span(line, start, line, max(len(self.lines[line - 1].rstrip()), start) + 1)
        return Span(line, start, end_line, max(self.column(end_line, end_offset), 1))


def _lower(span: Span, lines: int) -> Span:
    return span._replace(line=span.line + lines, end_line=span.end_line + lines)


def lines_of(text: str) -> list[str]:
    """Lines with their ends, split where Python's tokenizer splits them: not at a form feed, as ``splitlines`` does."""
    return list(io.StringIO(text, newline=""))


def is_notebook(path: str | Path) -> bool:
    """Whether a path is that of a Jupyter notebook."""
    return str(path).endswith(".ipynb")


def bytes_of(path: Path) -> bytes:
    """What a file holds.

    Raises:
        OSError: it cannot be read, or is no file: a pipe or a device may never come to an end.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"it is {_KINDS.get(stat.S_IFMT(mode), 'no file')}", str(path))
    return path.read_bytes()


def encoding_of(data: bytes) -> str:
    """The encoding that the byte-order mark or the coding comment of a file names.

    Raises:
        SyntaxError: it names none that there is.
    """
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def _first_undecodable_line(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1
