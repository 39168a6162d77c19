"""Work on the deep stack: it gives what it would give elsewhere, and may nest deeper."""

from __future__ import annotations

import ast
import threading

import pytest

from tsguard.inspection.deep_stack import on_deep_stack

NESTED = f"{'-' * 1500}1"


def negations(node: ast.AST) -> int:
    return 1 + negations(node.operand) if isinstance(node, ast.UnaryOp) else 0


def test_what_work_returns_comes_back():
    assert on_deep_stack(lambda: 42) == 42


def test_what_work_raises_is_raised():
    with pytest.raises(KeyError, match="lost"):
        on_deep_stack(lambda: {}["lost"])


def test_a_tree_is_followed_deeper_than_python_goes_by_itself():
    assert on_deep_stack(lambda: negations(ast.parse(NESTED, mode="eval").body)) == 1500


def test_threads_that_are_started_later_have_stacks_as_before():
    before = threading.stack_size()
    on_deep_stack(lambda: None)
    assert threading.stack_size() == before
