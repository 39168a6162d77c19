"""The page of ``tsguard migrate`` as a browser shows it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.test_html_in_a_browser import BROWSER, NARROW, names
from tests.test_cli_migrate import LAYERS, MODEL

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")


@pytest.fixture
def dom(tsguard: Callable[..., object], folder: Path, tmp_path: Path) -> Callable[..., str]:
    """The page of a little project after a script has run in it."""
    (folder / "layers.py").write_text(LAYERS)
    (folder / "model_with_a_long_name.py").write_text(MODEL)
    tsguard("migrate", "--isolated", "--output-format", "html", "-o", "way.html", ".")
    page = (folder / "way.html").read_text()

    def shown(script: str = "", width: int = 1100) -> str:
        (folder / "shown.html").write_text(page.replace("</body>", f"<script>{script}</script></body>"))
        command = [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}",
            f"--window-size={width},900", "--dump-dom", (folder / "shown.html").as_uri(),
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout

    return shown


def test_it_is_in_the_order_to_go_until_it_is_sorted(dom: Callable[..., str]) -> None:
    first = names(dom())
    assert first.index("layers.py:Gate") < first.index("model_with_a_long_name.py:Net")
    click = "document.querySelectorAll('#verdicts th button')[3].click();"
    assert set(names(dom(click))) == set(first)
    back = click + "document.querySelectorAll('#verdicts th button')[0].click();"
    assert names(dom(back)) == first


def test_it_is_filtered(dom: Callable[..., str]) -> None:
    type_in = "const f = document.getElementById('filter'); f.value = 'refused gate'; f.dispatchEvent(new Event('input'));"
    assert names(dom(type_in)) == ["layers.py:Gate"]


def test_it_fits_a_telephone(dom: Callable[..., str]) -> None:
    page = dom(NARROW, width=800)
    assert int(page.partition("<title>")[2].partition("<")[0]) <= 400
