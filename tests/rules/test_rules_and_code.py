"""No rule without code that reports it, and no report without a rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tsguard
from tests.rules.pages import reported_names, source_strings
from tsguard import rules

REPORTERS = {"Refusal", "Refused", "Unusable", "Event", "_note"}
PACKAGE = Path(tsguard.__file__).parent
SOURCES = sorted(p for part in ("analysis", "language") for p in (PACKAGE / part).rglob("*.py"))


def rules_reported(tree: ast.AST) -> Iterator[str]:
    """The literal rule names that calls of the reporters are given, at any position."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REPORTERS:
            yield from _choices([a for a in node.args[:2] if isinstance(a, (ast.Constant, ast.IfExp))])
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "rule":
            yield from _choices([node.value])


def _choices(expressions: list[ast.expr]) -> Iterator[str]:
    for expression in expressions:
        if isinstance(expression, ast.IfExp):
            yield from _choices([expression.body, expression.orelse])
        elif isinstance(expression, ast.Constant) and isinstance(expression.value, str) and expression.value:
            yield expression.value


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_every_rule_that_the_code_reports_has_a_page_that_words_it(source: Path):
    for name in rules_reported(ast.parse(source.read_text(encoding="utf-8"))):
        rule, _, variant = name.partition("/")
        assert variant in rules.rule(rule).wordings


@pytest.mark.parametrize("code", sorted(rules.pages()))
def test_the_code_reports_every_page_and_every_variant(code: str):
    rule = rules.rule(code)
    variants = {f"{rule.name}/{variant}" for variant in rule.wordings if variant}
    assert variants <= reported_names()
    assert variants or rule.name in reported_names() or code in source_strings()
