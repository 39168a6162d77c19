"""A file that was parsed before: the same tree, its functions parsed when their bodies are read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import tsguard
from tsguard.source import SourceFile
from tsguard.source.changing import changed_in, filled_in
from tsguard.source.outlines import Outlines, outline_of, outlined
from tsguard.source.unread import Unread, parsed
from tsguard.source.walking import walked

FUNCTION = """
import torch

class Net:
    def forward(self, x):
        y = x + 1
        known.append(y)
        self.table[y] = x
        return y
"""
SHAPES = {
    "a method": FUNCTION,
    "a docstring of several lines": 'def f(x):\n    """One.\n\n    Two.\n    """\n    return x\n',
    "text that ends to the left": "def f(x):\n    y = x\n    z = y\n    return '''\na'''\n",
    "a bracket that ends to the left": "def f(x):\n    y = x\n    z = y\n    return (\n  y\n)\n",
    "tabs": "if True:\n\tdef f(x):\n\t\ty = x\n\t\tz = y\n\t\treturn z\n",
    "a header of several lines": "def f(\n    x, y=(1,\n    2),\n) -> int:  # what\n    # why\n    z = x\n\n    z += 1\n    return z  # end\nx = f(1)\n",
    "a line that goes on": "def f(x): \\\n    return \\\n        x + \\\n        1\n",
    "a decorated function within": "def f():\n    @wraps\n    def g():\n        return 1\n    g()\n    return g\n",
    "letters of more bytes than one": "def f():\n    a = 'ä'\n    b = 'ö'\n    return a + b + 'ü'\n\nx = 'ß'\n",
    "two statements in the last line": "def f():\n    a = 1\n    b = 2\n    a = b; return a\n",
    "ends of lines of two kinds": "def f():\r\n    a = 1\n    b = 2\r\n    return a\n",
    "an else after it": "if a:\n    def f():\n        b = 1\n        c = 2\n        return b\nelse:\n    f = None\n",
    "a coroutine": "async def f():\n    def g():\n        a = 1\n        b = 2\n        return a\n    return g\n",
    "a function alone in a line": "def f(): return 1\n\ndef g(): a = 1; b = 2; return a\n",
}


def dumped(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        getattr(node, "body", None)
    return ast.dump(tree, include_attributes=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_tree_of_an_outline_is_that_of_the_text(shape: str) -> None:
    text = SHAPES[shape]
    tree = parsed(text)
    assert dumped(outlined(text, outline_of(tree, text))) == dumped(tree)


@pytest.mark.parametrize(
    "path", sorted(Path(tsguard.__file__).parent.glob("*/*.py"))[::20], ids=lambda p: p.stem
)
def test_so_it_is_for_real_files(path: Path) -> None:
    text = path.read_text()
    tree = parsed(text)
    assert dumped(outlined(text, outline_of(tree, text))) == dumped(tree)


@pytest.fixture
def read_twice(tmp_path: Path) -> Callable[[str], ast.Module]:
    """The tree of a text that was parsed before, by outlines that lie in a folder."""

    def read(text: str) -> ast.Module:
        outlines = Outlines(tmp_path / "kept", "this tsguard")
        trees = [SourceFile("net.py", text, outlines=outlines).tree for _ in range(2)]
        return trees[1]

    return read


def method(tree: ast.Module) -> ast.stmt:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef)).body[0]


def test_a_body_is_parsed_when_it_is_read(read_twice: Callable[[str], ast.Module]) -> None:
    function = method(read_twice(FUNCTION))
    assert isinstance(function, Unread)
    assert function.name == "forward"
    assert isinstance(function.body[-1], ast.Return)
    assert type(function) is ast.FunctionDef


def test_what_it_changes_is_told_without_its_body(read_twice: Callable[[str], ast.Module]) -> None:
    function = method(read_twice(FUNCTION))
    assert changed_in(function) | filled_in(function) == {"known", "table"}
    assert isinstance(function, Unread)
    assert changed_in(function) | filled_in(function) == {"known", "table"}


def test_who_walks_through_it_reads_it(read_twice: Callable[[str], ast.Module]) -> None:
    assert any(isinstance(node, ast.Return) for node in walked(read_twice(FUNCTION)))


def test_a_text_that_changed_is_another(read_twice: Callable[[str], ast.Module]) -> None:
    read_twice(FUNCTION)
    other = read_twice(FUNCTION.replace("x + 1", "x + 2"))
    assert "x + 2" in ast.unparse(other)


def test_a_broken_file_stays_broken(tmp_path: Path) -> None:
    outlines = Outlines(tmp_path, "this tsguard")
    for _ in range(2):
        file = SourceFile("net.py", "def f(:\n", outlines=outlines)
        assert not file.tree.body
        assert file.broken is not None
    assert not list(tmp_path.rglob("*.json"))


def test_an_outline_that_cannot_be_read_is_made_anew(
    tmp_path: Path, read_twice: Callable[[str], ast.Module]
) -> None:
    read_twice(FUNCTION)
    for kept in tmp_path.rglob("*.json"):
        kept.write_text("[{}]")
    assert isinstance(method(read_twice(FUNCTION)), Unread)
