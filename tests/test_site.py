"""The documentation site: built strictly, its captures made by the tool while it is built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tsguard
from tsguard.rules import pages

ROOT = Path(__file__).parent.parent
SHOWN = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built site; a link that leads nowhere would have ended the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def test_each_rule_has_a_page(site):
    built = {path.parent.name for path in (site / "reference" / "rules").glob("TSG*/index.html")}
    assert built == {page.stem for page in pages().values()}


def test_what_is_public_has_a_docstring_of_its_own():
    """The page of the Python API shows it; a constant has only that of its type."""
    assert [name for name in tsguard.__all__ if not callable(getattr(tsguard, name))] == []


def test_an_example_says_which_releases_it_is_about(site):
    """A fence that Markdown does not take would show as text."""
    (page,) = (site / "reference" / "rules").glob("TSG115-*/index.html")
    titles = re.findall(r'class="filename">(.*?)<', page.read_text())
    assert set(titles) == {"torch &gt;=2.3", "torch &gt;=2.2,&lt;2.3"}
    assert [
        p.parent.name for p in (site / "reference" / "rules").rglob("*.html") if "```" in p.read_text()
    ] == []


def test_captures_are_what_the_tool_prints(site):
    start = re.sub("<[^>]+>", "", (site / "index.html").read_text())
    assert "console run" not in start
    assert "error[TSG103]" in start
    assert re.search(
        r"script:|recommendation|Script it", (site / "tutorials" / "ship-to-cpp" / "index.html").read_text()
    )


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_no_page_shows_findings_that_nobody_made(page):
    """A finding in a capture that is written by hand would grow old unseen."""
    written = [block for block in SHOWN.findall(page.read_text()) if re.search(r"\[TSG\d+\]", block)]
    assert written == []


def test_the_reference_is_made_from_the_code(site):
    reference = (site / "reference" / "cli" / "index.html").read_text()
    for command in ("lint", "check", "server", "init", "completion"):
        assert f"tsguard {command}" in reference
    assert "fail-level" in (site / "reference" / "configuration" / "index.html").read_text()
    assert "tsguard.check" in (site / "reference" / "python" / "index.html").read_text()
