"""A report that holds some of everything, for the tests of formats."""

from __future__ import annotations

from tsguard.report import (
    Attempt,
    AttemptError,
    Breakdown,
    Edit,
    Error,
    Finding,
    Fix,
    Layer,
    ModeJudgement,
    Parity,
    Report,
    ScriptJudgement,
    Speedup,
    Submodule,
    TargetReport,
    TraceJudgement,
    Unknown,
    Variant,
)
from tsguard.source.sources import Sources

TEXT = """\
class Net:
    def forward(self, x):
\t\tscale = 1.0  # 変数
        return (x +
                scale)
"""
SOURCES = Sources({"pkg/net 1.py": TEXT, "long.py": "x = " + "1 + " * 50_000 + "y\n"})


def finding(**fields: object) -> Finding:
    """A finding, the given fields its own."""
    plain: dict[str, object] = {
        "code": "TSG003",
        "name": "unused-suppression",
        "family": "script",
        "severity": "error",
        "message": "message",
        "help": None,
        "path": "pkg/net 1.py",
        "line": 3,
        "column": 3,
        "end_line": 3,
        "end_column": 8,
    }
    return Finding(**{**plain, **fields})  # type: ignore[arg-type]


FINDINGS = (
    finding(
        id=0,
        message='"scale" is float, not <Tensor>: 100%, é',
        help="write it\nlike this",
        when="norm is None",
        chain=("Net.forward", "attend"),
        targets=("pkg/net 1.py:Net",),
        fix=Fix("safe", "Convert it", (Edit("pkg/net 1.py", 3, 11, 3, 14, "torch.tensor(1.0)"),)),
        confirmed=True,
    ),
    finding(id=1, severity="warning", family="trace", line=4, column=16, end_line=5, end_column=23),
    finding(
        id=2, severity="info", code="TSG777", name="no-page", line=2, column=24, end_line=2, end_column=24
    ),
)
ATTEMPTS = (
    Attempt(
        "script",
        "cpu",
        "eval",
        "forward",
        "ok",
        parity=Parity(True, (Variant("given", True), Variant("batch of 3", True))),
        speedup=Speedup(1.8, 1.741, 1.86, 40, "faster"),
    ),
    Attempt(
        "trace", "cpu", "eval", "forward", "diverged", parity=Parity(False, (Variant("sign", False, 0.5),))
    ),
    Attempt(
        "script",
        "cuda:0",
        "train",
        "forward+backward",
        "failed",
        error=AttemptError("RuntimeError", "\nno Tensor\nsecond line", "pkg/net 1.py", 3),
    ),
    Attempt("compile", "cpu", "eval", "forward", "skipped", note="not asked for"),
)
NET = TargetReport(
    target="pkg/net 1.py:Net",
    path="pkg/net 1.py",
    qualname="Net",
    line=1,
    kind="module",
    script=ScriptJudgement("blocked", (0,), (Unknown("pkg/net 1.py", 2, "what x is"),)),
    trace=TraceJudgement("hazardous", (1,)),
    mode=ModeJudgement("dependent", layers=(Layer("drop", "torch.nn.Dropout"),)),
    attempts=ATTEMPTS,
    constructor="Net(3)",
    inputs="--input 'torch.rand(2, 3)'",
    guessed=True,
    breakdown=Breakdown(
        submodules=(
            Submodule(
                "", "Net", 1, 1.0, "failed", "diverged", error=AttemptError("RuntimeError", "no Tensor")
            ),
            Submodule("drop", "nn.Dropout", 1, 0.01, "ok", "ok", note="not timed: below 2% of the time"),
            Submodule("layers.0", "nn.Linear", 3, 0.42, "ok", "ok", Speedup(1.5, 1.4, 1.6, 20, "faster")),
        ),
        chosen=("layers.0",),
        speedup=Speedup(1.2, 1.1, 1.3, 20, "faster"),
        equal=True,
    ),
    recommendation="Script it.",
)
FINE = TargetReport(
    "fine.py:Fine",
    "fine.py",
    "Fine",
    1,
    "module",
    ScriptJudgement("ok"),
    TraceJudgement("safe"),
    ModeJudgement("independent"),
)
EVERYTHING = Report(
    "0.1.0",
    "2.13",
    FINDINGS,
    (NET, FINE),
    2,
    (Error("no such file or folder: 'gone.py'"),),
    (("torch", "2.13.0"),),
)
NOTHING = Report("0.1.0", "2.13")
