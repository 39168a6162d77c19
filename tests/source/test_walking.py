"""The nodes of a tree: those that ``ast.walk`` finds, but for operators and contexts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tsguard.source.statements import statements
from tsguard.source.walking import walked

BARE = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
SOURCES = sorted((Path(__file__).parent.parent.parent / "tsguard").rglob("*.py"))


@pytest.mark.parametrize("source", SOURCES[::10], ids=lambda path: path.stem)
def test_nodes_are_found_in_the_order_of_ast_walk(source: Path):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assert list(walked(tree)) == [node for node in ast.walk(tree) if not isinstance(node, BARE)]


@pytest.mark.parametrize("source", SOURCES[::10], ids=lambda path: path.stem)
def test_statements_are_found_in_the_order_of_ast_walk(source: Path):
    tree = ast.parse(source.read_text(encoding="utf-8"))
    assert list(statements(tree)) == [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def test_statements_stand_in_every_kind_of_block():
    tree = ast.parse(
        "try: a\nexcept E: b\nelse: c\nfinally: d\nmatch x:\n case 1: e\nfor i in x: f\nelse: g\n"
    )
    assert list(statements(tree)) == [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]


def test_patterns_are_nodes_too():
    tree = ast.parse("match x:\n case {'a': [1, *rest], **others} | Point(y=0): pass\n")
    assert list(walked(tree)) == [node for node in ast.walk(tree) if not isinstance(node, BARE)]
