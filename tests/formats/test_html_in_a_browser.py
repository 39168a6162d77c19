"""The page as a browser shows it: what its script does, and whether it fits a telephone."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.reports import EVERYTHING, FINE, NET, SOURCES
from tsguard.formats import View, render
from tsguard.report import Report, ScriptJudgement

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

# Long names, some of everything.
LONG = "packages/of/a/very/deep/project/with_a_long_name.py:" + "VeryLongModelName" * 4
REPORT = replace(
    EVERYTHING,
    targets=(NET, FINE, replace(FINE, target=LONG, script=ScriptJudgement("depends"))),
)
Dom = Callable[..., str]


@pytest.fixture
def dom(tmp_path: Path) -> Dom:
    """The page after a script has run in it, at a width."""

    def shown(script: str = "", width: int = 1100, place: str = "", report: Report = REPORT) -> str:
        page = render(report, "html", View(SOURCES, command="tsguard check . " + "x" * 300))
        file = tmp_path / "report.html"
        file.write_text(page.replace("</body>", f"<script>{script}</script></body>"))
        command = [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}",
            f"--window-size={width},900", "--dump-dom", f"{file.as_uri()}{place}",
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout

    return shown


def names(dom: str) -> list[str]:
    """The targets of the table, from top to bottom."""
    table = dom[dom.index('id="verdicts"') : dom.index("</table>", dom.index('id="verdicts"'))]
    rows = re.findall(r"<tr(?P<hidden>[^>]*)>\s*<td class=\"name\".*?<a[^>]*>([^<]*)</a>", table, re.DOTALL)
    return [name for hidden, name in rows if "hidden" not in hidden]


# 400 pixels is less than the window of a browser can be: the page is put into a frame.
NARROW = """
const frame = document.createElement("iframe");
frame.style.width = "400px";
frame.srcdoc = document.documentElement.outerHTML.replace(/<script>const frame[^]*$/, "</body></html>");
frame.onload = () => { document.title = frame.contentDocument.documentElement.scrollWidth; };
document.body.append(frame);
"""


def test_the_table_sorts_by_a_column_both_ways(dom: Dom) -> None:
    click = "document.querySelectorAll('#verdicts th button')[1].click();"
    assert names(dom()) == [NET.target, FINE.target, LONG]
    assert names(dom(click)) == [NET.target, LONG, FINE.target]  # blocked, depends, ok
    assert names(dom(click * 2)) == [FINE.target, LONG, NET.target]


def test_the_table_is_filtered_by_names_and_verdicts(dom: Dom) -> None:
    type_in = (
        "const f = document.getElementById('filter'); f.value = '{}'; f.dispatchEvent(new Event('input'));"
    )
    assert names(dom(type_in.format("DEPENDS"))) == [LONG]
    assert names(dom(type_in.format("fine safe"))) == [FINE.target]
    assert names(dom(type_in.format("nothing"))) == []


def test_a_link_opens_what_it_leads_to(dom: Dom) -> None:
    assert re.search(r'<details class="target" id="target-0"[^>]* open=""', dom(place="#target-0"))
    # A note lies within what is folded.
    assert re.search(r'<details class="notes"[^>]* open=""', dom(place="#finding-2"))
    assert not re.search(r'<details class="notes"[^>]* open=""', dom())


def test_nothing_sticks_out_at_400_pixels(dom: Dom) -> None:
    opened = "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
    page = dom(f"{opened}\n{NARROW}", place="#target-0")
    title = re.search(r"<title>(\d+)</title>", page)
    assert title is not None, "the page was not laid out"
    assert int(title[1]) <= 400
