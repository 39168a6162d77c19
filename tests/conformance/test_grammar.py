"""The grammar is the one that the installed torch's front end builds."""

from __future__ import annotations

import ast

import pytest

from tsguard.language import grammar

frontend = pytest.importorskip("torch.jit.frontend")

# Builders of nodes that Python's parser makes no more, or that torch makes itself.
_OBSOLETE = {"Print", "Num", "Str", "NameConstant", "Ellipsis"}


def _builders(cls: type) -> set[str]:
    return {name.removeprefix("build_") for name in dir(cls) if name.startswith("build_")} - _OBSOLETE


def _nodes(table: dict[type, str]) -> set[str]:
    return {node.__name__ for node in table}


def test_statements():
    assert _builders(frontend.StmtBuilder) == grammar.STATEMENTS


def test_expressions():
    assert _builders(frontend.ExprBuilder) == grammar.EXPRESSIONS


def test_augmented_assignments():
    assert _nodes(frontend.StmtBuilder.augassign_map) == grammar.AUGMENTED


def test_unary_operators():
    assert _nodes(frontend.ExprBuilder.unop_map) == grammar.UNARY


def test_all_other_operators_of_python_are_built():
    for base, table in (
        (ast.operator, frontend.ExprBuilder.binop_map),
        (ast.boolop, frontend.ExprBuilder.boolop_map),
        (ast.cmpop, frontend.ExprBuilder.cmpop_map),
    ):
        assert _nodes(table) == {node.__name__ for node in base.__subclasses__()}
