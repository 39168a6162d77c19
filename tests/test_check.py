"""The main job end to end: lint, real attempts, and what they say of each other."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tsguard import rules
from tsguard.checking.run import CheckOptions, run
from tsguard.report import Finding, Report, TargetReport
from tsguard.runtime.launcher import Launcher
from tsguard.settings.config import Settings, TargetSettings
from tsguard.settings.requests import parse
from tsguard.settings.selection import Layer, Selection

FIXTURES = Path(__file__).parents[1] / "fixtures"
QUICK = CheckOptions(modes=("eval",), time_budget=0, workers=2)

Check = Callable[..., Report]


@pytest.fixture
def check(folder: Path, launcher: Launcher) -> Check:
    """Checks what is named in a working folder that holds the fixtures; options differ from QUICK."""
    for file in FIXTURES.glob("*.py"):
        shutil.copy(file, folder)

    def checked(
        *names: str, settings: Settings | None = None, own: bool = False, **options: object
    ) -> Report:
        chosen = settings or Settings(cache=False)
        requests = [parse(name, chosen) for name in names]
        told = replace(QUICK, **options)  # type: ignore[arg-type]
        report, _ = run(requests, chosen, told, launcher=None if own else launcher)
        return report

    return checked


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


def target(report: Report, name: str) -> TargetReport:
    return next(t for t in report.targets if t.qualname == name)


def attempts(report: Report, name: str) -> dict[str, str]:
    return {f"{a.backend} {a.mode}": a.status for a in target(report, name).attempts}


def test_a_file_has_all_its_targets_attempted(check: Check) -> None:
    report = check("detector.py")
    assert [t.qualname for t in report.targets] == ["Backbone", "DetectionHead", "Detector"]
    assert attempts(report, "Detector") == {"eager eval": "ok", "script eval": "ok", "trace eval": "failed"}
    assert dict(report.environment)["torch"]


def test_a_named_target_is_attempted_as_it_is_written(check: Check) -> None:
    report = check("resnet.py:ResNet(width=4, depth=1)", modes=("eval", "train"))
    (only,) = report.targets
    assert only.target == "resnet.py:ResNet(width=4, depth=1)"
    assert only.constructor == "ResNet(width=4, depth=1)"
    assert attempts(report, "ResNet")["trace train"] == "ok"


def test_a_call_of_a_function_means_what_it_returns(check: Check, folder: Path) -> None:
    (folder / "made.py").write_text(
        "from torch import nn\n\n\ndef make(width=8):\n    return nn.Sequential(nn.Linear(width, width), nn.ReLU())\n"
    )
    report = check("made.py:make(16)")
    (only,) = report.targets
    assert (only.script.verdict, only.trace.verdict, only.mode.verdict) == ("ok", "safe", "independent")
    assert report.findings == ()
    assert attempts(report, "make") == {"eager eval": "ok", "script eval": "ok", "trace eval": "ok"}


def test_the_example_inputs_are_shown_as_options(check: Check) -> None:
    report = check("lstm.py:LSTMCell(4, 8)")
    (only,) = report.targets
    assert only.guessed
    assert only.inputs == "--input 'torch.randn(2, 4)' --input '(torch.randn(2, 8), torch.randn(2, 8))'"


def test_given_inputs_are_used(check: Check) -> None:
    report = check("fine.py:Mixer", inputs=("torch.zeros(5, 3, 32, 32)",))
    (only,) = report.targets
    assert (only.inputs, only.guessed) == ("--input 'torch.zeros(5, 3, 32, 32)'", False)


def test_a_finding_that_torch_stumbles_over_is_confirmed(check: Check) -> None:
    report = check("transformer.py:Decoder")
    keywords = [f for f in report.findings if f.code == "TSG103"]
    assert [f.confirmed for f in keywords] == [True]


def test_a_finding_that_torch_contradicts_is_shown_as_such() -> None:
    from tsguard.report import Attempt
    from tsguard.runtime.attempts import TargetAttempts
    from tsguard.runtime.confirmation import confirmed
    from tsguard.runtime.plan import AttemptSpec
    from tsguard.runtime.subject import Subject

    subject = Subject("m.py:Net", "/m.py", "m.py", "/", "m", "Net", "module")
    accepted = Attempt("script", "cpu", "eval", "forward", "ok")
    found = TargetAttempts(subject, attempts={AttemptSpec("script"): accepted})
    claim = Finding("TSG103", "n", "script", "error", "m", None, "m.py", 3, 1, 3, 5, targets=("m.py:Net",))
    assert [f.confirmed for f in confirmed([claim], [found])] == [False]
    assert [f.confirmed for f in confirmed([replace(claim, when="x is None")], [found])] == [None]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fine.py:Mixer", "It works with script and trace; no speed was measured"),
        ("lstm.py:LSTM", "Do not trace it: with other batch size"),
        ("transformer.py:Decoder", "To script it: transformer.py:50"),
        ("collate_traced.py:collate_traced", "it fails at import: .*'NoneType' object is not iterable"),
    ],
)
def test_recommendations(check: Check, name: str, says: str) -> None:
    import re

    (only,) = check(name).targets
    assert re.search(says, only.recommendation or "")


SIZED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor):
        return self.norm(x) * float(x.shape[0] > 64)
"""


def test_a_filter_changes_what_is_listed_and_not_what_is_known(check: Check, folder: Path) -> None:
    (folder / "sized.py").write_text(SIZED)
    options = {"backends": ("trace",), "inputs": ("torch.randn(3, 8)",)}
    told = []
    for layer in (Layer(), Layer(ignore=("TSG2",)), Layer(select=("TSG9",))):
        settings = Settings(cache=False, selection=Selection((layer,)))
        report = check("sized.py:Net", settings=settings, **options)
        told.append(report.targets[0].recommendation)
        assert target(report, "Net").trace.verdict == "hazardous"
    (folder / "sized.py").write_text(SIZED.replace("> 64)", "> 64)  # noqa"))
    told.append(check("sized.py:Net", **options).targets[0].recommendation)
    assert len(set(told)) == 1
    assert "TSG208" in (told[0] or "") or "Do not trace it" in (told[0] or "")


REFUSED = """\
import torch
from torch import nn

LAYERS = {"relu": nn.ReLU}
exec("LAYERS['odd'] = type('Odd', (nn.Module,), {'forward': lambda self, x: x + 1})")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = LAYERS["odd"]()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(x)
"""


def test_what_torch_refuses_in_both_modes_is_found_once(check: Check, folder: Path) -> None:
    (folder / "odd.py").write_text(REFUSED)
    report = check("odd.py:Net", inputs=("torch.randn(3)",), modes=("eval", "train"))
    assert codes(report).count("TSG901") == 1


def mode(attempt: str) -> str:
    return "train" if attempt.endswith(" train") else "eval"


@pytest.mark.parametrize(
    ("script", "trace", "attempts", "held"),
    [
        ("ok", "safe", ["script ok", "trace ok"], (True, True)),
        ("ok", "safe", ["script failed", "trace diverged"], (False, False)),
        ("blocked", "hazardous", ["script failed", "trace failed"], (True, True)),
        ("blocked", "hazardous", ["script ok", "trace ok"], (False, None)),
        ("depends", "unknown", ["script failed", "trace failed"], (None, None)),
        ("ok", "safe", ["script timeout", "trace skipped"], (None, None)),
        ("ok", "safe", [], (None, None)),
        # The verdict on a trace is of inference.
        ("ok", "safe", ["script ok", "trace ok", "trace failed train"], (True, True)),
    ],
)
def test_a_verdict_that_an_attempt_refuted_is_shown_so(
    script: str, trace: str, attempts: list[str], held: tuple[bool | None, bool | None]
) -> None:
    from tsguard.formats.tables import verdict_row
    from tsguard.report import Attempt, ScriptJudgement, TraceJudgement
    from tsguard.runtime.confirmation import with_verdicts_held

    made = tuple(Attempt(a.split()[0], "cpu", mode(a), "forward", a.split()[1]) for a in attempts)  # type: ignore
    judged = TargetReport(
        "m.py:Net", "m.py", "Net", 1, "module",
        ScriptJudgement(script), TraceJudgement(trace), attempts=made,  # type: ignore[arg-type]
    )  # fmt: skip
    found = with_verdicts_held(judged)
    assert (found.script.confirmed, found.trace.confirmed) == held
    cells = verdict_row(found)[1:3]
    assert [cell.text.endswith(", refuted") for cell in cells] == [h is False for h in held]
    assert all(cell.tone == "bad" for cell in cells if "refuted" in cell.text)


def test_a_file_that_cannot_be_imported_is_reported_and_the_rest_done(check: Check) -> None:
    report = check("collate_traced.py", "fine.py:Mixer")
    broken = next(f for f in report.findings if f.code == "TSG909")
    decorator = (FIXTURES / "collate_traced.py").read_text().splitlines().index("@jit.trace") + 1
    # Python 3.10 calls a decorator in the line of the function.
    called = decorator if sys.version_info >= (3, 11) else decorator + 1
    assert (broken.path, broken.line) == ("collate_traced.py", called)
    assert attempts(report, "Mixer")["script eval"] == "ok"


def test_a_folder_has_its_configured_targets_attempted(check: Check, folder: Path) -> None:
    targets = {
        "fine.py:Mixer(dim=8)": TargetSettings(inputs=("torch.rand(1, 3, 32, 32)",), backends=("trace",))
    }
    targets["fine.py:Mixer"] = TargetSettings(backends=("script",))
    report = check(".", settings=Settings(root=folder, cache=False, targets=targets))
    names = [t.target for t in report.targets]
    assert len(names) == len(set(names)), "what is configured by its name is no target twice"
    attempted = [t for t in report.targets if t.attempts]
    assert {t.target: [a.backend for a in t.attempts] for t in attempted} == {
        "fine.py:Mixer(dim=8)": ["eager", "trace"],
        "fine.py:Mixer": ["eager", "script"],
    }
    assert len(report.targets) > 10


@pytest.mark.parametrize(
    ("require", "codes_expected"), [("script", ["TSG906"]), ("trace", []), ("either", [])]
)
def test_requirements(check: Check, require: str, codes_expected: list[str]) -> None:
    report = check("transformer.py:CausalSelfAttention", require=require)
    assert [c for c in codes(report) if c == "TSG906"] == codes_expected


def test_a_wanted_speedup_that_is_out_of_reach_is_unmet(check: Check) -> None:
    report = check("fine.py:Mixer", time_budget=2.0, min_speedup=50.0)
    assert "TSG906" in codes(report)


def test_a_regression_is_told_from_the_previous_report(check: Check, folder: Path) -> None:
    report = check("fine.py:Mixer")
    previous = report.to_json()
    former = next(a for a in previous["targets"][0]["attempts"] if a["backend"] == "trace")
    file = folder / "previous.json"
    file.write_text(json.dumps(previous))
    assert "TSG907" not in codes(check("fine.py:Mixer", previous=file))
    source = (folder / "fine.py").read_text()
    (folder / "fine.py").write_text(source.replace("return self.head(", "return str(x), self.head("))
    worse = next(f for f in check("fine.py:Mixer", previous=file).findings if f.code == "TSG907")
    assert former["status"] == "ok"
    assert "worked before and is failed now" in worse.message


def test_a_previous_report_that_is_none_is_an_error(check: Check, folder: Path) -> None:
    (folder / "fine.json").write_text("{}")
    report = check("fine.py:Mixer", previous=folder / "fine.json")
    assert "is not a JSON report of tsguard" in report.errors[0].message
    assert target(report, "Mixer").attempts


def test_a_previous_report_of_another_schema_is_an_error(check: Check, folder: Path) -> None:
    (folder / "old.json").write_text('{"schema_version": 99, "targets": []}')
    report = check("fine.py:Mixer", previous=folder / "old.json")
    assert "is a report of schema version 99, not 1: write it again" in report.errors[0].message
    assert target(report, "Mixer").attempts


def test_names_that_nothing_has_are_errors_before_anything_runs(check: Check) -> None:
    report = check("fine.py:Mixer", backends=("scirpt",), modes=("test",))
    assert [e.message.partition(";")[0] for e in report.errors] == [
        "the command line: no backend 'scirpt'",
        "the command line: no mode 'test'",
    ]
    assert not target(report, "Mixer").attempts


def test_a_device_that_is_not_there_is_an_error(check: Check) -> None:
    report = check("fine.py:Mixer", devices=("cuda:7",))
    assert "no device cuda:7" in report.errors[0].message


def test_suppressed_and_unselected_findings_stay_away(check: Check, folder: Path) -> None:
    source = "import torch\n\nclass Net(torch.nn.Module):\n    def __init__(self, odd):\n        raise odd\n"
    (folder / "odd.py").write_text(source)
    assert "TSG908" in codes(check("odd.py"))
    (folder / "odd.py").write_text(source.replace("Module):", "Module):  # tsguard: ignore[TSG908]"))
    assert "TSG908" not in codes(check("odd.py"))


def test_without_torch_the_static_part_is_given(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison = tmp_path / "poison"
    poison.mkdir()
    (poison / "torch.py").write_text("raise ImportError('not installed')\n")
    monkeypatch.setenv("PYTHONPATH", str(poison))
    report = check("transformer.py:Decoder", own=True)
    assert "TSG103" in codes(report)
    assert "pip install tsguard[torch]" in report.errors[0].message


def test_the_step_summary_of_github_is_written(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    check("fine.py:Mixer")
    assert "| `fine.py:Mixer` | script, eval on cpu | ✅ ok |" in summary.read_text()


def test_the_breakdown_names_the_parts(check: Check) -> None:
    report = check("transformer.py:Decoder(depth=2)", time_budget=0.5, breakdown=True)
    parts = {row.path: row for row in (target(report, "Decoder").breakdown or pytest.fail("none")).submodules}
    assert parts["blocks.0"].calls == 2
    assert (parts["blocks.0.attention"].script, parts["blocks.0.mlp"].script) == ("failed", "ok")
    assert (parts["blocks.0.attention"].error or pytest.fail("none")).line == 30
    assert all(row.share is not None and row.share > 0 for row in parts.values())


def test_the_breakdown_measures_what_it_recommends(check: Check, folder: Path) -> None:
    (folder / "parts.py").write_text(
        "import torch\nfrom torch import nn\n\n"
        "class Loop(nn.Module):\n    def forward(self, x: torch.Tensor):\n        for _ in range(100):\n"
        "            x = x * 0.5 + 1.0\n        return x\n\n"
        "class Head(nn.Module):\n    def forward(self, x, **options):\n        return x\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.loop = Loop()\n"
        "        self.head = Head()\n    def forward(self, x):\n        return self.head(self.loop(x))\n"
    )
    report = check("parts.py:Net", time_budget=2.0, breakdown=True, inputs=("torch.ones(3)",))
    found = target(report, "Net").breakdown or pytest.fail("none")
    assert (found.chosen, found.equal, found.note) == (("loop",), True, None)
    assert found.speedup is not None


def test_the_breakdown_gives_a_reason_for_what_fails_and_for_what_has_no_speed(
    check: Check, folder: Path
) -> None:
    (folder / "parts.py").write_text(
        "import torch\nfrom torch import nn\n\n"
        "class Count(nn.Module):\n    def forward(self, x: torch.Tensor, n: int):\n        return [x] * n\n\n"
        "class Names(nn.Module):\n    def forward(self, x, **options):\n        return {'a': [x], 'b': x}\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.count = Count()\n"
        "        self.names = Names()\n        self.linear = nn.Linear(512, 512)\n        self.drop = nn.Identity()\n"
        "    def forward(self, x):\n"
        "        return self.names(self.drop(self.linear(self.count(x, 2)[0])))['b']\n"
    )
    report = check("parts.py:Net", time_budget=0.5, breakdown=True, inputs=("torch.ones(512, 512)",))
    parts = {row.path: row for row in (target(report, "Net").breakdown or pytest.fail("none")).submodules}
    for part in parts.values():
        assert "failed" not in (part.script, part.trace) or part.error is not None
        assert part.script != "ok" or part.speedup is not None or part.note is not None
    assert (parts["names"].script, parts["names"].trace) == ("failed", "failed")
    assert parts["names"].trace_error is not None
    assert "below 2% of the time" in (parts["drop"].note or "")


EXAMPLES = [
    (code, section)
    for code in rules.pages()
    if code.startswith("TSG9")
    for section in ("Bad", "Good")
    if "```python" in rules.sections(rules.split_page(rules.pages()[code].read_text())[1])[section]
]


@pytest.mark.parametrize(("code", "section"), EXAMPLES)
def test_the_examples_of_the_rule_pages(check: Check, folder: Path, code: str, section: str) -> None:
    _, body = rules.split_page(rules.pages()[code].read_text())
    (block,) = rules.code_blocks(rules.sections(body)[section])
    (folder / "example.py").write_text(block.text)
    timed = code == "TSG905"
    backends = ("export",) if code in ("TSG913", "TSG914") else ("script", "trace")
    report = check("example.py", time_budget=4.0 if timed else 0, timeout=30, backends=backends)
    assert (code in codes(report)) == (section == "Bad"), [f.message for f in report.findings]
