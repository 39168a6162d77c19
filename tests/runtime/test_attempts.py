"""Real attempts: what torch accepts and refuses, at whose line, in what order."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.runtime.conftest import QUICK, Attempting, subject_in
from tsguard.answer.deciding import answer
from tsguard.answer.facts import Facts
from tsguard.report import Attempt
from tsguard.runtime.attempts import Bounds, TargetAttempts, attempt_target
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.task import Limits

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCRIPT, TRACE = AttemptSpec("script"), AttemptSpec("trace")
TRAINED = AttemptSpec("script", mode="train")


def test_a_fine_model_passes_everything(attempting: Attempting) -> None:
    specs = (SCRIPT, TRACE, TRAINED, AttemptSpec("freeze"), AttemptSpec("optimize_for_inference"))
    found = attempting((FIXTURES / "fine.py").read_text(), "Mixer", specs)
    assert {a.status for a in found.attempts.values()} == {"ok"}
    parity = found.attempts[TRAINED].parity
    assert parity is not None
    assert (parity.ok, parity.gradients, parity.buffers) == (True, True, True)


@pytest.mark.parametrize(
    ("file", "name", "script", "trace"),
    [
        ("conv2d.py", "Conv2d", "ok", "ok"),
        ("conv2d.py", "ScriptConv2d(3, 4, 3)", "ok", "ok"),
        ("lstm.py", "LSTM(8, 8)", "ok", "diverged"),
        ("collate.py", "collate_plain", "failed", "failed"),
        ("collate.py", "collate_scripted", "ok", "failed"),
        ("collate.py", "collate_preallocated", "ok", "failed"),
        ("resnet.py", "ResNet(width=4, depth=1)", "ok", "ok"),
        ("transformer.py", "Decoder", "failed", "ok"),
        ("detector.py", "Detector", "ok", "failed"),
    ],
)
def test_fixtures(launcher: Launcher, file: str, name: str, script: str, trace: str) -> None:
    found = attempt_target(launcher.run, subject_in(FIXTURES / file, name), (SCRIPT, TRACE), QUICK)
    assert found.stop is None
    assert (found.attempts[SCRIPT].status, found.attempts[TRACE].status) == (script, trace)


def test_a_refusal_is_at_the_users_line(attempting: Attempting) -> None:
    found = attempting(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return helper(x)\n\n"
        "def helper(x):\n    y = (lambda t: t + 1)(x)\n    return y\n"
    )
    error = found.attempts[SCRIPT].error
    assert error is not None
    assert (error.path, error.line, error.type) == ("model.py", 8, "UnsupportedNodeError")


def test_what_compiles_and_then_raises_is_at_the_users_line(attempting: Attempting) -> None:
    found = attempting(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x, mask=None):\n"
        "        if mask is not None:\n            x = x * mask\n        return x\n"
    )
    error = found.attempts[SCRIPT].error
    assert error is not None
    assert (found.attempts[SCRIPT].status, error.path, error.line) == ("failed", "model.py", 6)


def test_tracer_warnings_are_at_the_users_lines_each_once(attempting: Attempting) -> None:
    found = attempting(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        n = len(x)\n"
        "        if x.sum() > 0:\n            x = x + n\n        return x\n",
        specs=(TRACE,),
    )
    attempt = found.attempts[TRACE]
    assert [(w.path, w.line) for w in attempt.warnings] == [("model.py", 5), ("model.py", 6)]
    assert attempt.status == "diverged"


TWO = """
import torch
from torch import nn

class Inner(nn.Module):
    def forward(self, x: torch.Tensor):
        return sorted(x, key=lambda v: v)[0]

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x: torch.Tensor):
        return self.inner(x)

class Fine(nn.Module):
    def forward(self, x: torch.Tensor):
        return x.relu()
"""


def verdicts(found: TargetAttempts) -> dict[str, tuple[str, str | None]]:
    def verdict(attempt: Attempt) -> tuple[str, str | None]:
        return attempt.status, attempt.error.message if attempt.error else None

    return {spec.phase: verdict(attempt) for spec, attempt in found.attempts.items()}


def test_verdicts_do_not_depend_on_the_order_of_attempts(attempting: Attempting) -> None:
    """A failed torch.jit.script leaves state behind that falsifies the next one."""
    specs = (SCRIPT, AttemptSpec("freeze"), AttemptSpec("script", mode="train"))
    found = [verdicts(attempting(TWO, "Outer", order)) for order in itertools.permutations(specs)]
    assert all(other == found[0] for other in found)
    assert found[0]["script cpu eval"][0] == "failed"
    assert "redefine" not in str(found)


def test_what_one_mode_has_compiled_serves_no_other(attempting: Attempting) -> None:
    source = (
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        turned = x * (torch.cos(x) + 1j * torch.sin(x))\n        return torch.view_as_real(turned)\n"
    )
    alone = attempting(source, specs=(TRAINED,)).attempts[TRAINED]
    after = attempting(source, specs=(SCRIPT, TRAINED)).attempts[TRAINED]
    # In training TorchScript multiplies by a complex number whose gradient it takes for a real one.
    assert (alone.status, alone.error) == (after.status, after.error)
    assert alone.status == "diverged"


def test_verdicts_do_not_depend_on_the_order_of_targets(attempting: Attempting) -> None:
    names = ("Inner", "Outer", "Fine")
    found = [{n: verdicts(attempting(TWO, n)) for n in order} for order in (names, names[::-1])]
    assert found[0] == found[1]


HALF_COMPILED = """
import torch
from torch import nn

class Box:
    def __init__(self, value: torch.Tensor):
        self.value = value
    def doubled(self) -> torch.Tensor:
        return (lambda value: 2 * value)(self.value)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    def forward(self, x: torch.Tensor):
        return self.part(Box(x).doubled())
"""


def test_a_refusal_leaves_what_was_compiled_before_alone(attempting: Attempting) -> None:
    """The model holds a compiled part; the class that torch refuses is refused each time alike."""
    specs = (SCRIPT, TRACE, AttemptSpec("freeze"), TRAINED)
    found = verdicts(attempting(HALF_COMPILED, specs=specs, inputs=("torch.randn(3, 4)",)))
    assert found["script cpu eval"] == found["script cpu train"]
    assert found["script cpu eval"][0] == "failed"
    assert "redefine" not in str(found)
    assert (found["trace cpu eval"][0], found["freeze cpu eval"][0]) == ("ok", "ok")


def test_a_bug_of_another_kind_does_not_hide_that_it_scripts(attempting: Attempting) -> None:
    found = attempting(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        return x.view(7, 11, 13)\n",
        inputs=("torch.randn(2, 3)",),
    )
    eager = found.attempts[AttemptSpec("eager")]
    assert eager.error is not None
    assert (eager.status, eager.error.line) == ("failed", 5)
    assert found.attempts[SCRIPT].status == "ok"
    assert found.attempts[TRACE].status == "skipped"


def test_explicit_inputs_win_and_may_be_keywords(attempting: Attempting) -> None:
    found = attempting(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor, scale: float = 1.0):\n"
        "        return x * scale\n",
        inputs=("torch.ones(5)", "scale=3.0"),
        specs=(SCRIPT,),
    )
    assert (found.source, found.inputs) == ("given", ("torch.ones(5)", "scale=3.0"))
    assert found.attempts[SCRIPT].status == "ok"


def test_what_is_saved_must_work_without_the_code(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return helper(x)\n\n"
        "@torch.jit.ignore\ndef helper(x: torch.Tensor) -> torch.Tensor:\n    return x + 1\n\n"
        "class Good(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x + 1\n\n"
        "def shifted(x: torch.Tensor, by: float = 1.0):\n    return x + by\n"
    )
    kept = tmp_path / "kept"
    bounds = Bounds(Limits(), Settings(timing_seconds=0, folder=str(tmp_path)), kept)
    bad, good, function = (
        attempt_target(launcher.run, subject_in(file, name), (SCRIPT,), bounds).attempts[SCRIPT]
        for name in ("Net", "Good", "shifted")
    )
    assert {a.status for a in (bad, good, function)} == {"ok"}
    assert (bad.saved, good.saved, function.saved) == (False, True, True)
    assert "cannot be saved" in (bad.note or "")
    assert {path.name for path in kept.iterdir()} == {"Good.script.cpu.eval.pt", "shifted.script.cpu.eval.pt"}


def test_other_dtypes_on_request(attempting: Attempting) -> None:
    spec = AttemptSpec("script", dtype="bfloat16")
    found = attempting((FIXTURES / "fine.py").read_text(), "Mixer", (SCRIPT, spec, TRAINED))
    assert {a.status for a in found.attempts.values()} == {"ok"}
    assert found.attempts[spec].dtype == "bfloat16"


def test_what_is_compiled_already_is_not_compared_with_itself(launcher: Launcher) -> None:
    bounds = Bounds(Limits(), Settings(timing_seconds=1.0))
    found = attempt_target(
        launcher.run, subject_in(FIXTURES / "conv2d.py", "ScriptConv2d(3, 4, 3)"), (SCRIPT,), bounds
    )
    attempt = found.attempts[SCRIPT]
    assert (attempt.status, attempt.parity, attempt.speedup) == ("ok", None, None)
    told = answer(Facts(attempts=tuple(found.attempts.values())))
    assert told.text == "It is compiled already, and runs."


def test_what_changes_the_process_runs_alone(attempting: Attempting) -> None:
    specs = (SCRIPT, AttemptSpec("onednn"), AttemptSpec("export"))
    found = attempting((FIXTURES / "fine.py").read_text(), "Mixer", specs)
    assert {spec.backend: found.attempts[spec].status for spec in specs} == {
        "script": "ok",
        "onednn": "ok",
        "export": "ok",
    }


def test_a_timed_attempt_has_an_interval(attempting: Attempting) -> None:
    bounds = Bounds(Limits(), Settings(timing_seconds=2.0))
    source = (
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        for step in range(200):\n            x = x + step\n        return x\n"
    )
    attempt = attempting(source, specs=(SCRIPT,), bounds=bounds, inputs=("torch.ones(3)",)).attempts[SCRIPT]
    assert attempt.speedup is not None
    assert attempt.speedup.low <= attempt.speedup.median <= attempt.speedup.high
    assert attempt.warm_up_calls >= 5
    assert attempt.seconds is not None
    assert attempt.eager_seconds is not None
    assert attempt.first_call_seconds is not None


@pytest.mark.parametrize(
    ("signature", "body", "inputs"),
    [("xs: List[torch.Tensor]", "return len(xs)", ("[]",)), ("", "return torch.ones(3)", ())],
    ids=["an empty list", "no parameters"],
)
def test_without_a_tensor_among_the_inputs_there_is_no_trace(
    attempting: Attempting, signature: str, body: str, inputs: tuple[str, ...]
) -> None:
    source = (
        "import torch\nfrom typing import List\n\nclass Net(torch.nn.Module):\n"
        f"    def forward(self, {signature}):\n        {body}\n"
    )
    found = attempting(source, inputs=inputs)
    assert found.attempts[AttemptSpec("script")].status == "ok"
    trace = found.attempts[AttemptSpec("trace")]
    assert (trace.status, trace.note) == (
        "skipped",
        "no input is a tensor: a trace would keep this one result",
    )


def test_what_takes_gradients_itself_is_given_them_in_inference(attempting: Attempting) -> None:
    found = attempting(
        """\
import torch
from torch import nn


class Forces(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        positions = positions.detach().requires_grad_(True)
        forces = torch.autograd.grad([self.energy(positions).sum()], [positions])[0]
        assert forces is not None
        return -forces
""",
        "Forces",
        (SCRIPT, TRACE),
        inputs=("torch.randn(5, 3)",),
    )
    script = found.attempts[SCRIPT]
    assert (script.status, script.passes, script.parity and script.parity.ok) == ("ok", "forward", True)
    assert found.attempts[TRACE].status == "failed"
