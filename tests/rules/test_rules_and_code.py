"""No rule without code that reports it, no report without a page that words it, and all facts that it needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import tsguard
from tests.rules.pages import reported_names, source_strings
from tools import rule_names
from tsguard import rules

PACKAGE = Path(tsguard.__file__).parent
SOURCES = sorted((PACKAGE / "analysis").rglob("*.py"))


def refusals(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """The rules that ``Refusal(rule, node, **facts)`` is made of, with its facts where all are named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refusal":
            facts = {keyword.arg for keyword in node.keywords}
            if None not in facts:
                yield from ((rule, {str(fact) for fact in facts}) for rule in _literals(node.args[0]))


def _literals(expression: ast.expr) -> Iterator[str]:
    if isinstance(expression, ast.IfExp):
        yield from _literals(expression.body)
        yield from _literals(expression.orelse)
    elif isinstance(expression, ast.Constant):
        yield expression.value


def fields(name: str) -> set[str]:
    """What the wording of a rule, or of a variant, fills in."""
    rule, _, variant = name.partition("/")
    wording = rules.rule(rule).wordings[variant]
    parsed = [*Formatter().parse(wording.message), *Formatter().parse(wording.help or "")]
    return {field for _, field, _, _ in parsed if field}


def test_the_type_of_rule_names_is_made_from_the_pages():
    assert rule_names.TARGET.read_text(encoding="utf-8") == rule_names.source()


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_refusal_gives_all_facts_that_its_page_words(source: Path):
    for name, facts in refusals(ast.parse(source.read_text(encoding="utf-8"))):
        assert fields(name) <= facts, name


def test_refusals_are_found():
    assert sum(1 for source in SOURCES for _ in refusals(ast.parse(source.read_text(encoding="utf-8")))) > 200


@pytest.mark.parametrize("code", sorted(rules.pages()))
def test_the_code_reports_every_page_and_every_variant(code: str):
    rule = rules.rule(code)
    variants = {f"{rule.name}/{variant}" for variant in rule.wordings if variant}
    assert variants <= reported_names()
    assert variants or rule.name in reported_names() or code in source_strings()
