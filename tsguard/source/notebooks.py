"""The Python of a Jupyter notebook: its code cells, one after the other, as one text.

What IPython alone understands (magics, shell lines, a trailing "?") becomes a line of Python
that does nothing, so that every other line keeps its place.
"""

from __future__ import annotations

import ast
import builtins
import json
import keyword
import re
import warnings
from typing import Any

from tsguard.report.records import dataclass

# Cell magics whose cell is still Python; any other makes it something else.
# Magics over Python code; those of others are taken for such where the cell is Python.
_PYTHON_CELLS = frozenset({"capture", "debug", "prun", "python", "python3", "time", "timeit", "tsguard"})
_OTHER_CELLS = frozenset(
    {
        *(
            "HTML",
            "R",
            "SVG",
            "bash",
            "bigquery",
            "cmd",
            "cython",
            "file",
            "html",
            "javascript",
            "js",
            "julia",
        ),
        *("latex", "markdown", "perl", "powershell", "pypy", "python2", "ruby", "script", "sh", "sql", "svg"),
        *("sx", "system", "writefile"),
    }
)
_CELL_MAGIC = re.compile(r"\s*%%(?P<name>\w+)")
_COMMAND = re.compile(
    r"""(?P<indent>\s*)(?:[%!?]|(?P<assigned>\w[\w.,:*|"'()\[\] ]*=|\([\w.,* ]+\)\s*=)\s*[%!]|[^#]*[\w*\]]\?{1,2}\s*$)"""
)
_AUTOMAGIC = re.compile(r"\s*(?P<name>[^\W\d]\w*)[ \t]+(?![^\w\s]*=)\S")
_FORMAT = 4


class NoNotebook(ValueError):
    """A file holds no notebook that can be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among all cells from 1 on, and the line of the text it begins on.

    ``lines`` is how many it has; ``parses`` tells whether they are Python.
    """

    number: int
    line: int
    lines: int
    parses: bool


def code(data: bytes) -> tuple[str, tuple[Cell, ...]]:
    """The text of a notebook's code cells and where each begins; none if it is not in Python.

    Raises:
        NoNotebook: it is not JSON, or not of notebook format 4.
    """
    notebook = _parsed(data)
    parts: list[str] = []
    cells: list[Cell] = []
    line = 1
    for number, source in _sources(notebook):
        lines, parses = _python(source)
        cells.append(Cell(number, line, len(lines), parses))
        parts += [f"{text}\n" for text in lines]
        line += len(lines)
    return "".join(parts), tuple(cells)


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError):
        raise NoNotebook("is not a notebook: it is not JSON") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise NoNotebook(f"is not a notebook of format {_FORMAT}: it has no cells")
    return notebook


def _sources(notebook: dict[str, Any]) -> list[tuple[int, str]]:
    if _language(notebook).lower() not in ("python", "ipython"):
        return []
    found = []
    for number, cell in enumerate(notebook["cells"], 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            text = "".join(map(str, source)) if isinstance(source, list) else str(source)
            found.append((number, text.replace("\r\n", "\n").replace("\r", "\n")))
    return found


def _language(notebook: dict[str, Any]) -> str:
    """The language of the kernel; Python where the notebook does not say."""
    metadata = notebook.get("metadata")
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        said = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(said, dict) and isinstance(said.get(field), str):
            return str(said[field])
    return "python"


def _python(source: str) -> tuple[list[str], bool]:
    """The lines of a cell, IPython's own taken out, and whether they parse; another language is left empty."""
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic:
        lines[first] = ""
        is_python = magic["name"] not in _OTHER_CELLS
        if not is_python or (magic["name"] not in _PYTHON_CELLS and _first_error(lines) is not None):
            return [""] * len(lines), True
    wrong = _first_error(lines)
    while wrong is not None:
        command = next((n for n in range(wrong, -1, -1) if _COMMAND.match(lines[n])), None)
        if command is None:
            break  # a syntax error of the user's
        _take_out(lines, command)
        wrong = _first_error(lines)
    if wrong is not None and _is_automagic(source):
        return [""] * len(lines), True
    return lines, wrong is None


def _is_automagic(source: str) -> bool:
    """Whether a cell that is no Python is a magic without its sign: IPython takes one only for a cell of one line."""
    found = _AUTOMAGIC.match(source)
    if found is None or len(source.splitlines()) > 1:
        return False
    return not keyword.iskeyword(found["name"]) and not hasattr(builtins, found["name"])


def _first_error(lines: list[str]) -> int | None:
    """The index of the line where the cell stops being Python, None where it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return min(max((error.lineno or 1) - 1, 0), len(lines) - 1)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def _take_out(lines: list[str], at: int) -> None:
    """Put a statement that does nothing in the place of a command and the lines it goes on in."""
    found = _COMMAND.match(lines[at])
    assert found is not None
    last = at
    while lines[last].endswith("\\") and last + 1 < len(lines):
        last += 1
    # What a command returns is not known: IPython's own function stands for it.
    assigned = found["assigned"]
    lines[at] = f"{found['indent']}{f'{assigned} get_ipython()' if assigned else 'pass'}"
    lines[at + 1 : last + 1] = [""] * (last - at)
