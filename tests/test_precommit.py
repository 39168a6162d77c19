"""The hooks, run by the real pre-commit on a scratch repository."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.samples import BROKEN, NET, STALE

ROOT = Path(__file__).parent.parent
CONFIG = """\
repos:
- repo: {url}
  rev: {rev}
  hooks:
  - id: {hook}
"""

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"
)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    ran = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return ran.stdout.strip()


def committed(folder: Path) -> str:
    """Make a folder a repository with one commit; the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message", "All")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """This checkout as it stands, as a repository that pre-commit can clone; its commit."""
    clone = tmp_path_factory.mktemp("tsguard")
    for name in ("tsguard", "rules"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, clone / name)
    return clone, committed(clone)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environments of hooks."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def pre_commit(tmp_path: Path, hooks: tuple[Path, str], home: Path):
    """Runs a hook on files of a scratch repository; its exit status and what it printed."""

    def run(hook: str, *arguments: str, config: str = CONFIG, **files: str) -> tuple[int, str]:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        (tmp_path / "notes.md").write_text("# Notes\n")
        (tmp_path / ".pre-commit-config.yaml").write_text(
            config.format(url=hooks[0], rev=hooks[1], hook=hook)
        )
        committed(tmp_path)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", hook, *(arguments or ["--all-files"])],
            cwd=tmp_path,
            env={**os.environ, "PRE_COMMIT_HOME": str(home), "PATH": path},
            capture_output=True,
            text=True,
        )
        if "InstallError" in ran.stderr or (
            "pip install" in ran.stdout and "CalledProcessError" in ran.stdout
        ):
            pytest.skip(f"pre-commit could not install the hook's environment here: {ran.stdout[-300:]}")
        return ran.returncode, ran.stdout

    return run


def test_the_lint_hook_passes_clean_files(pre_commit):
    status, said = pre_commit("tsguard", net=NET)
    assert status == 0, said
    assert "Passed" in said


def test_the_lint_hook_fails_on_findings_and_names_them(pre_commit):
    status, said = pre_commit("tsguard", net=NET, broken=BROKEN, stale=STALE)
    assert status == 1
    assert "error[TSG001]" in said
    assert "stale.py:1:8" in said


def test_the_lint_hook_fixes_if_told_to(pre_commit, tmp_path):
    told = CONFIG.format(url="{url}", rev="{rev}", hook="{hook}\n    args: [--fix]")
    status, said = pre_commit("tsguard", config=told, stale=STALE)
    assert status == 1
    assert "files were modified by this hook" in said
    assert (tmp_path / "stale.py").read_text() == "x = 1\n"


def test_the_lint_hook_leaves_out_what_is_excluded(pre_commit, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.tsguard]\nextend-exclude = ['broken.py']\n")
    status, said = pre_commit("tsguard", net=NET, broken=BROKEN)
    assert status == 0, said


def test_the_lint_hook_has_nothing_to_do_without_python_files(pre_commit):
    status, said = pre_commit("tsguard", "--files", "notes.md")
    assert status == 0
    assert "no files to check" in said


def test_the_lint_hook_is_quiet_about_notes(pre_commit):
    noted = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x + torch.zeros(3)\n"
    status, said = pre_commit("tsguard", noted=noted, broken=BROKEN)
    assert status == 1
    assert "error[TSG001]" in said
    assert "info[" not in said


def test_the_check_hook_attempts_the_configured_targets_and_nothing_else(pre_commit, tmp_path):
    pytest.importorskip("torch", reason="check makes real attempts")
    (tmp_path / "tsguard.toml").write_text(
        "[targets.'net.py:Net']\nmodes = ['eval']\nbackends = ['script']\n"
    )
    blocked = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x, **options):\n        return x\n"
    status, said = pre_commit(
        "tsguard-check", "--all-files", "--hook-stage", "manual", net=blocked, broken=BROKEN
    )
    assert status == 1
    assert "net.py:Net" in said
    assert "broken.py" not in said


def test_the_check_hook_has_nothing_to_do_without_configured_targets(pre_commit):
    status, said = pre_commit("tsguard-check", "--all-files", "--hook-stage", "manual", broken=BROKEN)
    assert status == 0, said
