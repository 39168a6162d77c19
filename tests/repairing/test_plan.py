"""What is left to do by hand: few steps, at places that the user knows, with an example of how it is written instead."""

from __future__ import annotations

from pathlib import Path

from tsguard.linting.run import lint
from tsguard.repairing.fixing import Change
from tsguard.repairing.plan import before_changes, in_few_words, line_in, steps_by_hand
from tsguard.repairing.results import Judged
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan
from tsguard.source import SourceFile

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.name = "fc"

    def forward(self, *args, **options):
        x = self.fc(*args, **options)
        return self.other(x)

    def other(self, x):
        x = getattr(self, self.name + "")(x)
        x = getattr(self, self.name + "")(x)
        return x
"""


def steps(tmp_path: Path, torch_stops_at: int):
    path = tmp_path / "net.py"
    path.write_text(NET)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    report, _ = lint(plan([parse(f"{path}:Net", settings)], settings), settings)
    findings = [f for f in report.findings if f.family == "script"]
    farthest = Judged("refused", places=((findings[0].path, torch_stops_at),))
    return steps_by_hand(findings, farthest, lambda found: SourceFile.read(path, str(found)))


def test_findings_of_one_cause_are_one_step(tmp_path):
    by_code = {step.finding.code: step for step in steps(tmp_path, 10)}
    assert list(by_code) == ["TSG103", "TSG142"]
    assert by_code["TSG142"].others == (16,)
    assert by_code["TSG142"].text == 'x = getattr(self, self.name + "")(x)'


def test_what_torch_comes_to_first_is_the_first_step(tmp_path):
    assert [step.finding.code for step in steps(tmp_path, 15)] == ["TSG142", "TSG103"]


def test_a_step_shows_how_it_is_written_in_an_example(tmp_path):
    first = steps(tmp_path, 15)[0]
    assert any(line.startswith("- ") and "getattr(" in line for line in first.sketch)
    assert any(line.startswith("+ ") for line in first.sketch)


def test_a_line_is_found_again_where_lines_came_and_went():
    before, after = "a\nb\nc\nd\n", "new\na\nB\nd\n"
    assert [line_in(before, after, line) for line in (1, 2, 4)] == [2, 3, 4]


def test_submodules_of_one_list_are_told_as_one():
    blocks = [f"blocks.{i}.{name}" for i in range(12) for name in ("norm", "fc")]
    assert in_few_words([*blocks, "head"]) == "blocks.*.norm (12), blocks.*.fc (12), head"
    assert in_few_words(["layers.0", "a", "b"], most=2) == "layers.0, a and 1 more"


def test_a_step_is_at_the_lines_of_the_file_as_it_is_where_nothing_is_written(tmp_path):
    (step,) = [s for s in steps(tmp_path, 15) if s.finding.code == "TSG142"]
    path = step.finding.path
    once = {path: Change(NET.replace("from torch import nn\n", ""), NET)}
    twice = {path: Change(NET, NET)}
    shown = before_changes(step, [once, twice])
    assert (step.finding.line, step.others) == (15, (16,))
    assert (shown.finding.line, shown.others) == (14, (15,))
