"""A verdict does not hang on what was judged before in the same run."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

OTHERS = """\
def scaled(x, by):
    if by == 0:
        raise ValueError(by)
    return x * by if x.sum() > 0 else x
"""
OWN = """\
from torch import nn

from others.scaling import scaled


class Never(nn.Module):
    def forward(self, x):
        return scaled(x, 0)


class Net(nn.Module):
    def forward(self, x):
        return scaled(x, 2)
"""


def verdicts(folder: Path, *names: str) -> dict[str, str]:
    project = Project((folder / "own", folder / "site"))
    program = Program(project)
    module = project.module(folder / "own" / "net.py")
    return {name: judge(program, find_target(module, name)).trace for name in names}


def test_a_function_of_another_package_that_could_not_be_followed_once_is_followed_again(tmp_path: Path):
    (tmp_path / "own").mkdir()
    (tmp_path / "site" / "others").mkdir(parents=True)
    (tmp_path / "own" / "net.py").write_text(OWN)
    (tmp_path / "site" / "others" / "__init__.py").write_text("")
    (tmp_path / "site" / "others" / "scaling.py").write_text(OTHERS)
    alone = verdicts(tmp_path, "Net")["Net"]
    assert alone == "hazardous"
    assert verdicts(tmp_path, "Never", "Net")["Net"] == alone
