"""Every rule page is whole and says what the registry needs."""

from __future__ import annotations

import re
import string
from typing import get_args

import pytest

from tsguard import rules
from tsguard.fixes.repairs import fixable_rules
from tsguard.report import SEVERITIES, Family

SECTIONS = ["What it does", "Why", "Bad", "Good", "Fix", "Reference"]
KEYS = {
    "code",
    "name",
    "family",
    "severity",
    "outcome",
    "shapes",
    "doubt",
    "compile",
    "fix",
    "torch",
    "message",
    "help",
}

every_page = pytest.mark.parametrize("code", sorted(rules.pages()))


def page(code: str) -> tuple[dict[str, str], str]:
    return rules.split_page(rules.pages()[code].read_text(encoding="utf-8"))


@every_page
def test_the_front_matter_says_what_the_file_name_says(code):
    matter, _ = page(code)
    assert rules.pages()[code].name == f"{matter['code']}-{matter['name']}.md"


@every_page
def test_the_front_matter_has_known_keys_and_values(code):
    matter, _ = page(code)
    assert {key.partition(".")[0] for key in matter} <= KEYS
    assert matter["family"] in get_args(Family)
    assert matter["severity"] in SEVERITIES
    assert matter.get("fix", "none") in ("none", "safe", "unsafe")
    for bounds in rules.rule(code).torch.values():
        assert re.fullmatch(r">=\d+\.\d+(,<\d+\.\d+)?", bounds)
    assert rules.rule(code).torch.keys() <= rules.rule(code).wordings.keys()


@every_page
def test_the_front_matter_says_whether_there_is_a_fix(code):
    rule = rules.rule(code)
    assert (rule.fix != "none") == (rule.name in fixable_rules())
    _, body = page(code)
    said = re.findall(r"--(fix|unsafe-fixes)\b", rules.sections(body)["Fix"])
    assert ("fix" in said) == (rule.fix != "none")
    assert "unsafe-fixes" in said or rule.fix != "unsafe"


@every_page
def test_message_and_help_are_templates(code):
    rule = rules.rule(code)
    for wording in rule.wordings.values():
        for _, field, _, _ in string.Formatter().parse(wording.message + (wording.help or "")):
            assert field is None or field.isidentifier()


@every_page
def test_the_body_begins_with_one_line_and_has_the_sections_in_order(code):
    rule = rules.rule(code)
    assert rule.summary.endswith(".")
    assert not rule.summary.startswith("#")
    _, body = page(code)
    assert list(rules.sections(body)) == SECTIONS


def test_a_rule_is_found_by_code_and_by_name():
    assert rules.rule("TSG001") == rules.rule("tsg001") == rules.rule("syntax-error")


def test_an_unknown_rule_is_told_apart():
    with pytest.raises(rules.UnknownRule):
        rules.rule("TSG000")


def test_names_are_unique():
    names = [path.stem.partition("-")[2] for path in rules.pages().values()]
    assert len(set(names)) == len(names)
