"""The pytest plugin, in a pytest of its own, and the Python API that it stands on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


class Bad(Net):
    def forward(self, x, **more):
        return self.linear(x)


class Branches(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if bool(x.sum() > 0) else self.linear(x)
"""
CONFIGURATION = """\
[tool.tsguard.targets."model.py:Net(4)"]
inputs = ["torch.randn(2, 4)"]
require = "script"

[tool.tsguard.targets."model.py:Bad(4)"]
inputs = ["torch.randn(2, 4)"]
require = "script"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in a folder; the plugin is named as an installed tsguard's entry point names it."""
    root = Path(__file__).parent.parent.parent
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    # Without the entry points of this environment: an older tsguard may be among them.
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tsguard.testing.plugin", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_the_fixture_passes_what_works_and_fails_with_findings(folder):
    (folder / "test_model.py").write_text(
        "import pytest\nimport torch\nfrom model import Bad, Branches, Net\n\n\n"
        "def test_live(tsguard):\n    tsguard.check(Net(4), [torch.randn(2, 4)])\n\n\n"
        "def test_named(tsguard):\n    tsguard.check('model.py:Net(8)', ['torch.randn(2, 8)'])\n\n\n"
        "def test_bad(tsguard):\n    tsguard.check(Bad(4), [torch.randn(2, 4)])\n\n\n"
        "@pytest.mark.tsguard(require='trace')\n"
        "def test_marked(tsguard):\n    tsguard.check(Branches(4), [torch.ones(2, 4)])\n\n\n"
        "def test_lint(tsguard):\n    tsguard.lint('test_model.py')\n"
    )
    ran = run(folder)
    assert "2 failed, 3 passed" in ran.stdout, ran.stdout
    bad, marked = ran.stdout.split("___ test_")[-2:]
    assert "error[TSG103]" in bad
    assert "Traceback" not in bad
    assert "error[TSG2" in marked
    assert "test_bad - Failed: tsguard found TSG906, TSG103" in ran.stdout


def test_the_configured_targets_are_tests(folder):
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    ran = run(folder, "--tsguard")
    assert "1 failed, 1 passed" in ran.stdout, ran.stdout
    assert "model.py:Bad(4)" in ran.stdout
    assert "error[TSG103]" in ran.stdout
    assert "no tests ran" in run(folder).stdout


@pytest.mark.parametrize(
    ("arguments", "collected"),
    [
        (
            [],
            [
                "test_it.py::test_a",
                "test_it.py::test_b",
                "tsguard::model.py:Net(4)",
                "tsguard::model.py:Bad(4)",
            ],
        ),
        (["test_it.py::test_a"], ["test_it.py::test_a"]),
        (["tsguard::model.py:Net(4)"], ["tsguard::model.py:Net(4)"]),
        (
            ["test_it.py::test_b", "tsguard::model.py:Bad(4)"],
            ["test_it.py::test_b", "tsguard::model.py:Bad(4)"],
        ),
        (["-k", "Bad"], ["tsguard::model.py:Bad(4)"]),
    ],
)
def test_tests_and_targets_are_chosen_by_their_names(folder, arguments, collected):
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    (folder / "test_it.py").write_text("def test_a():\n    pass\n\n\ndef test_b():\n    pass\n")
    ran = run(folder, "--tsguard", "--collect-only", *arguments)
    assert [line for line in ran.stdout.splitlines() if "::" in line] == collected, ran.stdout + ran.stderr


def test_a_target_that_is_not_configured_is_wrong_usage(folder):
    (folder / "pyproject.toml").write_text(CONFIGURATION)
    ran = run(folder, "--tsguard", "tsguard::model.py:Nett")
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no such target in [tool.tsguard.targets]: model.py:Nett" in ran.stderr


def test_a_class_that_no_other_process_can_import_is_said(folder):
    (folder / "test_model.py").write_text(
        "from torch import nn\n\n\ndef test_local(tsguard):\n"
        "    class Local(nn.Module):\n        pass\n    tsguard.check(Local())\n"
    )
    assert "cannot be saved for another process" in run(folder).stdout


def test_lint_is_the_command_line_for_python(folder, monkeypatch):
    import tsguard

    monkeypatch.chdir(folder)
    report = tsguard.lint(["model.py"], isolated=True, select=["TSG1"])
    assert {finding.code for finding in report.findings} == {"TSG103"}
    assert {target.qualname: target.script.verdict for target in report.targets}["Net"] == "ok"
    assert [error.message for error in tsguard.lint("absent.py").errors] == [
        "no such file or folder: 'absent.py'"
    ]


def test_importing_the_package_imports_nothing_else():
    code = "import sys, tsguard; print([m for m in sys.modules if m.startswith('tsguard.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
