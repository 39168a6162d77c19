"""The nodes of a tree: those that ``ast.walk`` finds, but for operators and contexts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tsguard.source.walking import walked

BARE = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
SOURCES = sorted((Path(__file__).parent.parent.parent / "tsguard").rglob("*.py"))


@pytest.mark.parametrize("source", SOURCES[::10], ids=lambda path: path.stem)
def test_nodes_are_found_in_the_order_of_ast_walk(source: Path):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assert list(walked(tree)) == [node for node in ast.walk(tree) if not isinstance(node, BARE)]


def test_patterns_are_nodes_too():
    tree = ast.parse("match x:\n case {'a': [1, *rest], **others} | Point(y=0): pass\n")
    assert list(walked(tree)) == [node for node in ast.walk(tree) if not isinstance(node, BARE)]
