"""What a compiled function reports is kept for whoever reaches it next, and nothing else with it."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.script import compile_target
from tsguard.analysis.subjects import built
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn


def shape(x):
    y = x.no_such_method()
    return y[None:"a"]


class Net(nn.Module):
    def forward(self, x):
        return shape(x)


class Other(nn.Module):
    def forward(self, x):
        return shape(x + 1)
"""


def test_no_frames_are_kept(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(NET)
    program = Program(Project((tmp_path,)))
    events = {}
    for name in ("Net", "Other"):
        interp, target = PythonInterpreter(program), find_target(program.project.module(file), name)
        events[name] = compile_target(interp, target, built(interp, target)).events
    recorded = [
        report.refusal
        for compiled in program.memory.values()
        for report in getattr(getattr(compiled, "recording", None), "reports", ())
    ]
    assert recorded
    assert {event.key for event in events["Net"]} == {event.key for event in events["Other"]}
    assert all(refusal.__traceback__ is None and refusal.__context__ is None for refusal in recorded)
