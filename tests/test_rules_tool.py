"""The pages of the tool's own rules are true: Bad is reported on the marked line, Good is not."""

from __future__ import annotations

import pytest

from tsguard import rules


def blocks(code: str, section: str) -> list[tuple[str, str]]:
    _, body = rules.split_page(rules.pages()[code].read_text(encoding="utf-8"))
    return [(block.language, block.text) for block in rules.code_blocks(rules.sections(body)[section])]


@pytest.mark.parametrize("code", ["TSG001", "TSG003"])
def test_bad(lint, folder, code):
    for _, text in blocks(code, "Bad"):
        (folder / "bad.py").write_text(text)
        marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {code}")]
        found = lint("--select", code, "bad.py").report["findings"]
        assert marked
        assert [finding["line"] for finding in found] == marked


@pytest.mark.parametrize("code", ["TSG001", "TSG003"])
def test_good(lint, folder, code):
    for _, text in blocks(code, "Good"):
        (folder / "good.py").write_text(text)
        assert lint("good.py").codes == []


@pytest.mark.parametrize(("section", "codes"), [("Bad", ["TSG002"]), ("Good", [])])
def test_unreadable_file(lint, folder, section, codes):
    ((_, literal),) = blocks("TSG002", section)
    (folder / "cafe.py").write_bytes(eval(literal))
    assert lint("cafe.py").codes == codes
