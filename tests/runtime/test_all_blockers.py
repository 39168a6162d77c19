"""All that torch refuses in a target, past its first error."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.conftest import QUICK, Attempting
from tsguard.report import Finding
from tsguard.runtime.all_blockers import all_blockers
from tsguard.runtime.confirmation import confirmed
from tsguard.runtime.holes import HoledSource
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec

SCRIPT = (AttemptSpec("script"),)
MANY = """
import torch
from torch import nn


def helper(x, scale=2.0):
    try:
        y = x * scale
    except RuntimeError:
        y = x
    return y


class Bad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, *args, mode="a", **kwargs):
        shift = lambda t: t + 1
        moved = shift(x)
        with open("/dev/null") as file:
            doubled = x * 2
        return self.fc(doubled)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bad = Bad()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        x = self.bad(x)
        name = f"{x.shape[0]:>5}"
        for i in range(3):
            x = self.layers[i](x)
        return helper(x)
"""


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(MANY.split("\n"), 1) if text in line)


def test_every_blocker_is_found_in_torchs_own_words(attempting: Attempting, launcher: Launcher) -> None:
    found = attempting(MANY, specs=SCRIPT)
    blockers = all_blockers(launcher.run, found, QUICK)
    certain = {b.error.line for b in blockers if not b.follow_up}
    texts = (":>5", "*args", "lambda t", "open(", "self.layers[i]", "try:", "scale=2.0")
    assert certain == {line_of(text) for text in texts}
    follow_ups = {b.error.line for b in blockers if b.follow_up}
    assert follow_ups <= {line_of("moved = shift(x)")}
    assert all(b.error.path == "model.py" for b in blockers)


def test_findings_past_the_first_error_are_confirmed(attempting: Attempting, launcher: Launcher) -> None:
    found = attempting(MANY, specs=SCRIPT)
    found.blockers = all_blockers(launcher.run, found, QUICK)
    findings = [
        Finding(
            "TSG103", "n", "script", "error", "m", None, "model.py", n, 1, n, 9, targets=(found.subject.spec,)
        )
        for n in (line_of("lambda t"), line_of("super().__init__"))
    ]
    assert [f.confirmed for f in confirmed(findings, [found])] == [True, None]


def test_what_compiles_has_no_blockers(attempting: Attempting, launcher: Launcher) -> None:
    found = attempting((Path(__file__).parents[2] / "fixtures" / "fine.py").read_text(), "Mixer", SCRIPT)
    assert all_blockers(launcher.run, found, QUICK) == []


def without(source: str, line: int) -> str:
    holed = HoledSource(source)
    assert holed.remove_statement(line) is not None
    return holed.text


def test_a_statement_is_taken_out_line_for_line() -> None:
    source = "def f(x):\n    a, b = (\n        x,\n        x,\n    )\n    return a\n"
    assert without(source, 3) == (
        "def f(x):\n    a = _tsguard_hole_0_0(); b = _tsguard_hole_0_1()\n\n\n\n    return a\n"
    )


def test_only_the_header_of_a_loop_is_replaced() -> None:
    source = "def f(x):\n    for a, b in x.items():\n        g(a)\n"
    assert "    for (a, b) in [(_tsguard_hole_0_0(), _tsguard_hole_0_1(),)]:\n        g(a)\n" in without(
        source, 2
    )


def test_only_the_body_of_a_try_stays() -> None:
    source = "def f(x):\n    try:\n        y = x\n    except E as e:\n        y = e\n    return y\n"
    assert without(source, 2) == "def f(x):\n    if True:\n        y = x\n\n\n    return y\n"


def test_a_signature_is_made_plain() -> None:
    source = "def f(x, *args, n=3, flag=None, names=[], t: int = 1, **kw) -> int:\n    return n\n"
    first = without(source, 1).partition("\n")[0]
    assert first == "def f(x, names: Tensor, n: int = 3, flag: Optional[Tensor] = None, t: int = 1) -> int:"


def test_a_statement_that_reads_a_hole_is_a_follow_up() -> None:
    holed = HoledSource("def f(x):\n    g = lambda y: y\n    z = g(x)\n    w = bad(x)\n")
    taken = [holed.remove_statement(line) for line in (2, 3, 4)]
    assert [holed.is_follow_up(t) for t in taken if t is not None] == [False, True, False]
