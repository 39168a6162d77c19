"""Comments that suppress findings: what counts as one."""

from __future__ import annotations

import pytest

from tsguard.source import SourceFile
from tsguard.source.suppressions import suppressions


def found(text: str):
    return suppressions(SourceFile("net.py", text))


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# tsguard: ignore", None),
        ("# tsguard: ignore[TSG101]", ("TSG101",)),
        ("# tsguard: ignore[TSG101, TSG202]", ("TSG101", "TSG202")),
        ("# tsguard: ignore[TSG101 TSG202] because of a reason", ("TSG101", "TSG202")),
        ("#tsguard:ignore[branch-type-mismatch]", ("branch-type-mismatch",)),
        ("# type: ignore  # tsguard: ignore[TSG101]", ("TSG101",)),
        ("# noqa", None),
        ("# NOQA", None),
        ("# noqa: TSG101", ("TSG101",)),
        ("# noqa:E501,TSG101", ("E501", "TSG101")),
        ("# noqa: E501 TSG101  a reason", ("E501", "TSG101")),
    ],
)
def test_forms_on_a_line(comment, codes):
    (suppression,) = found(f"x = 1\ny = 2  {comment}\n")
    assert suppression.codes == codes
    assert suppression.span.line == 2
    assert not suppression.whole_file


@pytest.mark.parametrize(
    ("comment", "codes"), [("# tsguard: ignore-file", None), ("# tsguard: ignore-file[TSG101]", ("TSG101",))]
)
def test_forms_for_a_file(comment, codes):
    (suppression,) = found(f"x = 1\n\n{comment}\n")
    assert suppression.whole_file
    assert suppression.codes == codes


@pytest.mark.parametrize(
    "text",
    [
        "x = '# tsguard: ignore'\n",
        '"""\n# noqa\n"""\n',
        "x = 1  # tsguard: ignored\n",
        "x = 1  # tsguard ignore\n",
        "x = 1  # noqa-like\n",
        "x = 1  # noqa: some words of explanation\n",
        "x = 1  # noqa : \n",
        "# ruff: noqa-file\n",
        "x = 1\n",
    ],
)
def test_what_is_none(text):
    assert found(text) == []


def test_the_place_is_that_of_the_comment():
    (suppression,) = found("s = 'é𝔘'  # why # tsguard: ignore[TSG101] so\n")
    assert suppression.span == (1, 17, 1, 42)


def test_line_ends_of_every_kind_count_once():
    assert [s.span.line for s in found("a = 1\rb = 2  # noqa\r\nc = 3\nd = 4  # noqa\n")] == [2, 4]


def test_those_before_a_syntax_error_are_found():
    assert [s.span.line for s in found("a = 1  # noqa\nx = (\n")] == [1]


def test_the_last_line_needs_no_end():
    assert len(found("x = 1  # noqa")) == 1
