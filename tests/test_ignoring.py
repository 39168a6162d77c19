"""``--add-ignore``: comments are written where they hide the finding, and nothing else changes."""

from __future__ import annotations

import pytest

from tests.formats.reports import finding
from tsguard.repairing.ignoring import add_ignores
from tsguard.source import SourceFile
from tsguard.source.suppressions import suppressions


def at(line: int, end_line: int | None = None, code: str = "TSG101"):
    return finding(code=code, line=line, end_line=end_line or line)


@pytest.fixture
def changed(tmp_path):
    """Adds suppressions to a file of this content; how many, and what it holds then."""

    def changed(content: bytes, *findings) -> tuple[int, bytes]:
        (tmp_path / "net.py").write_bytes(content)
        return add_ignores(tmp_path / "net.py", findings), (tmp_path / "net.py").read_bytes()

    return changed


def test_a_comment_at_the_end_of_the_line(changed):
    assert changed(b"x = 1\ny = 2\n", at(2)) == (1, b"x = 1\ny = 2  # tsguard: ignore[TSG101]\n")


def test_one_comment_for_all_findings_of_a_line(changed):
    added, content = changed(b"x = 1\n", at(1, code="TSG202"), at(1), at(1))
    assert (added, content) == (3, b"x = 1  # tsguard: ignore[TSG101, TSG202]\n")


@pytest.mark.parametrize(
    "before", [b"x = 1  # tsguard: ignore[TSG003]\n", b"x = 1  # tsguard:ignore [TSG003]\n"]
)
def test_codes_join_a_comment_that_is_there(changed, before):
    _, content = changed(before, at(1))
    assert content.rstrip().endswith(b"ignore[TSG003, TSG101]")
    assert content.count(b"#") == 1


@pytest.mark.parametrize("types", [b"# type: ignore", b"# type: ignore[override]"])
def test_what_torch_and_mypy_want_at_the_end_stays_there(changed, types):
    content = changed(b"x = 1  " + types + b"\r\n", at(1))[1]
    assert content == b"x = 1  # tsguard: ignore[TSG101]  " + types + b"\r\n"


def test_a_comment_that_is_there_stays(changed):
    assert changed(b"x = 1  # why\n", at(1))[1] == b"x = 1  # why  # tsguard: ignore[TSG101]\n"


@pytest.mark.parametrize(
    ("content", "first", "last", "commented"),
    [
        (b"f(\n  a,\n  b)\n", 1, 3, 3),
        (b's = """\na\n"""\n', 1, 3, 3),
        (b"x = a + \\\n  b\n", 1, 2, 2),
        (b"x = [a, \\\n  b,\n  c]\n", 2, 3, 3),
        (b'x = f("""\na""", y)\n', 1, 2, 2),
    ],
)
def test_the_last_line_of_a_finding_takes_the_comment(changed, content, first, last, commented):
    added, after = changed(content, at(first, last))
    assert added == 1
    lines = after.splitlines()
    assert [number for number, line in enumerate(lines, 1) if b"ignore[TSG101]" in line] == [commented]


@pytest.mark.parametrize(("content", "line"), [(b"x = a + \\\n  b\n", 1), (b's = """\na\n"""\n', 2)])
def test_a_line_that_takes_no_comment_is_left_alone(changed, content, line):
    assert changed(content, at(line)) == (0, content)


@pytest.mark.parametrize(
    "content",
    [
        b"x = 1\r\ny = 2\r\n",
        b"\xef\xbb\xbfx = 1\ny = 2",
        b"# coding: latin-1\ny = '\xe9'\n",
        b"\x0cx = 1\ny = '\xe2\x80\xa8'\n",
    ],
)
def test_line_ends_encodings_and_odd_characters_stay(changed, content):
    added, after = changed(content, at(2))
    assert added == 1
    assert after.replace(b"  # tsguard: ignore[TSG101]", b"") == content
    (written,) = suppressions(SourceFile.decode(after, "net.py"))
    assert written.covers(2, 2)


def test_a_file_that_cannot_be_tokenized_is_left_alone(changed):
    assert changed(b"x = (\n", at(1)) == (0, b"x = (\n")
