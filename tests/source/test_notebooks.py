"""Notebooks as text: what is Python in them keeps its place, what is not leaves no trace."""

from __future__ import annotations

import ast
import json

import pytest

from tsguard.source.notebooks import NoNotebook, code


def notebook(*cells: str | list[str], kinds: str = "", **metadata: object) -> bytes:
    """A notebook of these cells; ``kinds`` has an m for each that is Markdown."""
    made = [
        {"cell_type": "markdown" if kinds[i : i + 1] == "m" else "code", "source": source}
        for i, source in enumerate(cells)
    ]
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": made}).encode()


def text(*cells: str | list[str]) -> str:
    return code(notebook(*cells))[0]


def test_cells_follow_each_other_and_know_their_numbers() -> None:
    found, cells = code(notebook("x = 1\ny = 2", "# title", ["z = 3\n", "w = 4"], kinds="cmc"))
    assert found == "x = 1\ny = 2\nz = 3\nw = 4\n"
    assert [(cell.number, cell.line) for cell in cells] == [(1, 1), (3, 3)]


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n  torch\nx = 1", "pass\n\nx = 1"),
        ("if x:\n    !ls\n    y = 1", "if x:\n    pass\n    y = 1"),
        ("files = !ls\nn = len(files)", "files = get_ipython()\nn = len(files)"),
        ("took: float = %time 3", "took: float = get_ipython()"),
        ("(a, b) = !ls", "(a, b) = get_ipython()"),
        ("d['a b'] = %time 3", "d['a b'] = get_ipython()"),
        ("if x:\n    net.took[0] = %time 3", "if x:\n    net.took[0] = get_ipython()"),
        ("model?", "pass"),
        ("x = nn.Linear?", "pass"),
        ("*int*?", "pass"),
        ("model.forward??", "pass"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%tsguard\nx = 1", "\nx = 1"),
        ("%%memit\nx = 1", "\nx = 1"),
        ("%%unheard of\nthis is no Python", "\n"),
        ("%%writefile model.py\nx = 1", "\n"),
        ("%%bash\nls -l\necho", "\n\n"),
        ("\n%%html\n<b>", "\n\n"),
        # A magic without its sign, of which IPython takes one to a cell.
        ("pip install torch", ""),
        ("run other.py\n", "\n"),
        ("ls", "ls"),
        # Python that only looks like a command.
        ("x = (a\n% b)", "x = (a\n% b)"),
        ('s = """\n!important\n"""', 's = """\n!important\n"""'),
        ("a = b\n!= c", "a = b\npass"),
    ],
)
def test_commands_become_lines_that_do_nothing(cell: str, python: str) -> None:
    assert text(cell, "last = 1") == f"{python}\nlast = 1\n"
    ast.parse(text(cell))


@pytest.mark.parametrize(
    "cell",
    [
        "def f(:\n    pass",
        "import a b",
        'print "a"',
        "run other.py\nx = 1",
        "x += %time 3",
        "x = 1 # why?\n)",
    ],
)
def test_a_syntax_error_of_the_user_stays(cell: str) -> None:
    found, cells = code(notebook(cell))
    assert found == f"{cell}\n"
    assert not cells[0].parses


def test_line_ends_of_other_systems() -> None:
    assert text("x = 1\r\ny = 2") == "x = 1\ny = 2\n"


def test_other_languages_have_no_cells() -> None:
    assert code(notebook("x <- 1", language_info={"name": "R"})) == ("", ())
    assert code(notebook("x <- 1", kernelspec={"language": "R"})) == ("", ())
    assert code(notebook("x = 1", metadata=3))[0] == "x = 1\n"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"worksheets": []}', b"\xff", b"[" * 10**5])
def test_what_is_no_notebook(data: bytes) -> None:
    with pytest.raises(NoNotebook):
        code(data)


@pytest.mark.parametrize("cell", [None, 3, {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1]}])
def test_odd_cells_are_survived(cell: object) -> None:
    data = json.dumps({"cells": [cell, {"cell_type": "code", "source": "x = 1"}]}).encode()
    assert code(data)[0].endswith("x = 1\n")
