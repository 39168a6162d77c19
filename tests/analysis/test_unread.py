"""Verdicts of what rests on code that was not read: never the good ones, and the cause is named once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = "import foolib\nimport torch\nfrom barlib import Block, Net as Base, act, registry\nfrom torch import nn\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        return {returned}
"""


def judged(folder: Path, source: str) -> Judgement:
    path = folder / "net.py"
    path.write_text(HEAD + source, encoding="utf-8")
    project = Project(())
    return judge(Program(project), find_target(project.module(path), "Net"))


@pytest.mark.parametrize(
    ("made", "returned"),
    [
        ("self.part = foolib.Part(3)", "self.part(x)"),
        ("self.part = foolib.Part(3)", "x"),
        ("self.part = nn.Sequential(Block(3), nn.ReLU())", "self.part(x)"),
        ("self.part = nn.Sequential(Block(3), nn.ReLU())", "x"),
        ("self.parts = nn.ModuleList([Block(i) for i in range(3)])", "self.parts[0](x)"),
        ("self.part = registry.build('block')", "self.part(x)"),
        ("self.part = registry['block'](3).eval()", "self.part(x)"),
        ("self.size = 3", "act(x)"),
        ("self.size = 3", "foolib.functional.act(x)"),
        ("self.scale = foolib.SCALE", "x * self.scale"),
        ("self.size = 3", "x * foolib.SCALE"),
        ("self.parts = [foolib.Part(i) for i in range(2)]", "x"),
    ],
)
def test_what_was_not_read_is_not_ok(tmp_path: Path, made: str, returned: str):
    found = judged(tmp_path, NET.format(made=made, returned=returned))
    assert found.script == "unknown"
    assert len(found.unknown) == 1
    (cause,) = found.unknown
    package = "foolib" if "foolib" in made + returned else "barlib"
    assert cause.why == f'the source of package "{package}" cannot be found'
    assert (cause.path, cause.line) == (str(tmp_path / "net.py"), 1 if package == "foolib" else 3)
    assert "environment" in (cause.help or "")


def test_what_a_trace_or_a_mode_runs_unread_is_not_safe(tmp_path: Path):
    found = judged(tmp_path, NET.format(made="self.part = foolib.Part(3)", returned="self.part(x)"))
    assert (found.trace, found.mode) == ("unknown", "unknown")
    assert [gap.line for gap in (*found.trace_unknown, *found.mode_unknown)] == [1, 1]


def test_an_unread_decorator_may_make_anything_of_forward(tmp_path: Path):
    found = judged(
        tmp_path, "class Net(nn.Module):\n    @foolib.wrap\n    def forward(self, x):\n        return x\n"
    )
    assert found.script == "unknown"


def test_an_unread_annotation_may_mean_anything(tmp_path: Path):
    source = "class Net(nn.Module):\n    def forward(self, x: foolib.Data):\n        return x.size(0)\n"
    assert judged(tmp_path, source).script == "unknown"


def test_what_was_read_decides_where_it_is_refused(tmp_path: Path):
    source = NET.format(made="self.part = foolib.Part(3)", returned="self.part(lambda: x)")
    assert judged(tmp_path, source).script == "blocked"


def test_an_argument_that_is_called_may_be_anything(tmp_path: Path):
    source = NET.replace("(self)", "(self, part)", 1).format(made="self.part = part", returned="self.part(x)")
    assert judged(tmp_path, source).script == "unknown"
