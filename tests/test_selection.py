"""What a selector takes in, with codes of three digits and of four."""

from __future__ import annotations

import pytest

from tsguard import rules
from tsguard.rules import registry
from tsguard.settings.selection import Layer, Selection, UnknownSelector, selector

FOURTH_DIGIT = "TSG1100"


@pytest.fixture
def hundredth(tmp_path, monkeypatch):
    """The registry with one more script rule, of four digits."""
    for code, page in rules.pages().items():
        text = page.read_text(encoding="utf-8")
        (tmp_path / page.name).write_text(text, encoding="utf-8")
        if code == "TSG110":
            name = page.name.replace("TSG110-", f"{FOURTH_DIGIT}-more-")
            text = text.replace("code: TSG110", f"code: {FOURTH_DIGIT}").replace("name: ", "name: more-", 1)
            (tmp_path / name).write_text(text, encoding="utf-8")
    cached = (rules.pages, rules.rule, registry._codes_by_name)
    for function in cached:
        function.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_pages_folder", lambda: tmp_path)
        yield
    for function in cached:
        function.cache_clear()


def selected(*selectors: str) -> set[str]:
    chosen = Selection((Layer(select=tuple(map(selector, selectors))),))
    return {code for code in rules.pages() if chosen.selects(code)} - {"TSG001", "TSG002", "TSG004", "TSG005"}


def test_a_code_selects_no_longer_code_that_begins_alike(hundredth):
    assert selected("TSG110") == {"TSG110"}
    assert selected(FOURTH_DIGIT) == {FOURTH_DIGIT}
    assert FOURTH_DIGIT not in selected("TSG11")


@pytest.mark.parametrize("family", ["TSG1", "script", "Script"])
def test_a_family_selects_what_declares_itself_of_it(hundredth, family):
    assert selected(family) == {code for code in rules.pages() if rules.rule(code).family == "script"}
    assert FOURTH_DIGIT in selected(family)


def test_a_name_selects_its_rule_alone(hundredth):
    name = rules.rule("TSG110").name
    assert selected(name) == {"TSG110"}
    assert selected(f"more-{name}") == {FOURTH_DIGIT}


def test_the_narrowest_selector_decides(hundredth):
    layer = Layer(select=("TSG1",), ignore=("TSG11",))
    assert not Selection((layer,)).selects("TSG110")
    assert Selection((layer,)).selects(FOURTH_DIGIT)
    assert Selection((Layer(select=("TSG110",), ignore=("TSG1",)),)).selects("TSG110")


def test_codes_stand_in_the_order_of_their_families(hundredth):
    codes = list(rules.pages())
    assert codes.index("TSG199") < codes.index(FOURTH_DIGIT) < codes.index("TSG201")


@pytest.mark.parametrize("text", ["TSG8", "TSG1999", "TS", "no-such-rule", ""])
def test_what_selects_nothing_is_an_error(text):
    with pytest.raises(UnknownSelector):
        selector(text)
