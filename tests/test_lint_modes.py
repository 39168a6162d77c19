"""The same report from one process and many, with and without a cache; and what makes a cache entry stale."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tsguard
from tests.formats.reports import EVERYTHING
from tests.samples import BROKEN, NET, STALE
from tsguard.inspection.inspecting import InspectedTarget, Inspection
from tsguard.linting.cache import Cache
from tsguard.settings.requests import Job

SUB = "from base import Net\n\n\nclass Sub(Net):\n    pass\n"


@pytest.fixture
def tree(folder: Path) -> Path:
    """Enough source for several processes: every kind of file, and imports between them."""
    (folder / "base.py").write_text(NET)
    (folder / "broken.py").write_text(BROKEN)
    for number in range(40):
        (folder / f"sub{number}.py").write_text(SUB + STALE + f"# {'-' * 20_000}\n")
    return folder


def test_the_report_is_the_same_in_every_mode(lint, tree):
    plain = lint("--no-cache", "--jobs", "1", ".")
    assert len(plain.targets) == 42
    assert lint("--no-cache", "--jobs", "2", ".") == plain
    assert lint("--jobs", "2", ".") == plain  # fills the cache
    assert lint("--jobs", "1", ".") == plain  # reads it
    assert lint("--jobs", "2", ".") == plain


def test_a_file_says_the_same_of_a_package_that_was_parsed_before(lint, folder, monkeypatch):
    package = folder / ".venv" / "lib" / "python3.11" / "site-packages" / "layers.py"
    package.parent.mkdir(parents=True)
    package.write_text(NET + STALE + "\n\ndef unused(x):\n    y = x\n    z = y\n    return z\n")
    kept = folder / "kept"
    monkeypatch.setenv("TSGUARD_CACHE_DIR", str(kept))
    for edited in ("", "# edited"):
        (folder / "sub.py").write_text(SUB.replace("base", "layers") + edited)
        cold = lint("--no-cache", "sub.py")
        assert cold.targets == ["sub.py:Sub"]
        assert lint("sub.py") == cold
    outlines = [path for path in kept.rglob("*.json") if path.read_bytes().startswith(b"[{")]
    assert len(outlines) == 1


def test_a_kept_inspection_is_the_one_that_was_put(folder):
    path = folder / "net.py"
    path.write_text(NET + STALE)
    job = Job(path, "net.py")
    target = InspectedTarget(EVERYTHING.targets[0], EVERYTHING.findings, 10)
    made = Inspection("net.py", False, EVERYTHING.findings, (target,), EVERYTHING.errors)
    Cache("", "2.13").put(job, made, ())
    assert Cache("", "2.13").get(job) == made


class TestStaleness:
    """A change must be seen though the cache is warm."""

    @pytest.fixture
    def warm(self, lint, folder):
        (folder / "base.py").write_text(NET)
        (folder / "sub.py").write_text(SUB)
        assert lint("sub.py").targets == ["sub.py:Sub"]
        return lint

    def test_the_cache_is_used(self, warm, folder, tmp_path):
        for entry in (tmp_path / "cache").rglob("*.json"):
            kept = json.loads(entry.read_text())
            kept["inspection"]["targets"] = []
            entry.write_text(json.dumps(kept))
        assert warm("sub.py").targets == []
        assert warm("--no-cache", "sub.py").targets == ["sub.py:Sub"]

    def test_a_change_of_the_file(self, warm, folder):
        (folder / "sub.py").write_text(SUB.replace("Sub", "Other"))
        assert warm("sub.py").targets == ["sub.py:Other"]

    def test_a_change_of_a_file_that_it_imports(self, warm, folder):
        (folder / "base.py").write_text("class Net:\n    pass\n")
        assert warm("sub.py").targets == []

    def test_a_change_behind_an_import_of_an_import(self, warm, folder):
        (folder / "base.py").write_text("from deeper import Net\n")
        (folder / "deeper.py").write_text("class Net:\n    pass\n")
        assert warm("sub.py").targets == []
        (folder / "deeper.py").write_text(NET)
        assert warm("sub.py").targets == ["sub.py:Sub"]

    def test_a_file_that_vanishes(self, warm, folder):
        (folder / "base.py").unlink()
        assert warm("sub.py").targets == []

    def test_a_file_that_was_missing_and_appears(self, lint, folder):
        (folder / "sub.py").write_text(SUB)
        assert lint("sub.py").targets == []
        (folder / "base.py").write_text(NET)
        assert lint("sub.py").targets == ["sub.py:Sub"]

    def test_a_package_that_hides_the_module_found_before(self, warm, folder):
        (folder / "base").mkdir()
        (folder / "base" / "__init__.py").write_text("class Net:\n    pass\n")
        assert warm("sub.py").targets == []

    def test_other_search_paths(self, warm, folder):
        (folder / "base.py").unlink()
        (folder / "lib").mkdir()
        (folder / "lib" / "base.py").write_text(NET)
        (folder / "tsguard.toml").write_text("search-paths = ['lib']\n")
        assert warm("sub.py").targets == ["sub.py:Sub"]

    def test_another_way_to_name_the_same_file(self, warm, folder, monkeypatch):
        (folder / "pkg").mkdir()
        monkeypatch.chdir(folder / "pkg")
        assert warm("../sub.py").targets == ["../sub.py:Sub"]

    @pytest.mark.parametrize("damage", ["", "{", "[]", '{"circumstances": 1}', "null"])
    def test_a_damaged_entry_is_made_anew(self, warm, tmp_path, damage):
        for entry in (tmp_path / "cache").rglob("*.json"):
            entry.write_text(damage)
        assert warm("sub.py").targets == ["sub.py:Sub"]

    def test_a_cache_that_cannot_be_written_is_done_without(self, lint, folder, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("TSGUARD_CACHE_DIR", str(tmp_path / "file"))
        (folder / "net.py").write_text(NET)
        ran = lint("net.py")
        assert (ran.status, ran.err) == (0, "")


def test_selection_and_suppression_are_not_kept(lint, folder):
    (folder / "stale.py").write_text(STALE)
    assert lint("--ignore", "TSG003", ".").codes == []
    assert lint(".").codes == ["TSG003"]


def test_a_reader_that_stops_reading_is_no_error(folder):
    (folder / "stale.py").write_text(STALE * 3000)
    command = f"{sys.executable} -m tsguard lint --output-format concise stale.py | head -n 1"
    ran = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert ran.stdout.startswith("stale.py:1:8: TSG003")
    assert "Traceback" not in ran.stderr

    def test_a_checkout_of_tsguard_whose_rules_have_changed_asks_anew(self, tmp_path):
        shutil.copytree(Path(tsguard.__file__).parent, tmp_path / "tsguard")
        shutil.copytree(Path(tsguard.__file__).parent.parent / "rules", tmp_path / "rules")
        (tmp_path / "net.py").write_text(NET)
        command = [sys.executable, "-m", "tsguard", "lint", "--output-format", "concise", "net.py"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "TSGUARD_CACHE_DIR": str(tmp_path / "cache"),
        }

        def found() -> str:
            return subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True
            ).stdout

        assert "anew" not in found()
        with open(tmp_path / "tsguard" / "judges" / "judgement.py", "a") as file:
            file.write("\n\ndef judge(*_):\n    raise RuntimeError('judged anew')\n")
        assert "judged anew" in found()
