"""What a module does without a package depends on whether it is installed where the linter looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

FLAG = """\
from torch import nn

try:
    import quick

    QUICK = True
except ImportError:
    QUICK = False


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if QUICK:
            self.scale = 2

    def forward(self, x):
        return x * self.scale
"""
IN_CONSTRUCTOR = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            from quick.parts import SCALE

            self.scale = 2
        except ModuleNotFoundError:
            pass

    def forward(self, x):
        return x * self.scale
"""
ASKED = """\
from importlib.util import find_spec

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if find_spec("quick") is not None:
            self.scale = 2

    def forward(self, x):
        return x * self.scale
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages, torch among them."""
    folder = tmp_path / "packages"
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "__init__.py").touch()
    return folder


def verdict(source: str, folder: Path, *search_paths: Path) -> str:
    path = folder / "net.py"
    path.write_text(source)
    project = Project(search_paths)
    return judge_script(Program(project), find_target(project.module(path), "Net()")).verdict


@pytest.mark.parametrize("source", [FLAG, IN_CONSTRUCTOR, ASKED])
def test_a_package_that_is_not_installed_is_not_imported(source: str, tmp_path: Path, packages: Path):
    assert verdict(source, tmp_path, packages) == "blocked"


@pytest.mark.parametrize("source", [FLAG, IN_CONSTRUCTOR])
@pytest.mark.parametrize("files", [["quick/__init__.py", "quick/parts.py"], ["quick/parts.so"]])
def test_one_that_is_installed_is_imported(source: str, files: list[str], tmp_path: Path, packages: Path):
    (packages / "quick").mkdir()
    for file in files:
        (packages / file).write_text("SCALE = 2\n")
    assert verdict(source, tmp_path, packages) == "ok"


@pytest.mark.parametrize("source", [FLAG, IN_CONSTRUCTOR])
def test_nothing_is_concluded_where_the_packages_are_not_seen(source: str, tmp_path: Path):
    assert verdict(source, tmp_path) == "ok"
