"""``tsguard check`` from the command line: options reach the attempts, the report comes back whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

pytest.importorskip("torch", reason="check makes real attempts")

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()


class Blocked(nn.Module):
    def forward(self, x: torch.Tensor, **options: int) -> torch.Tensor:
        return 2 * x
"""
QUICK = ("--time-budget", "0", "--mode", "eval", "--device", "cpu")


@pytest.fixture
def check(tsguard, folder):
    (folder / "net.py").write_text(NET)
    return lambda *arguments: tsguard("check", "--output-format", "json", *QUICK, *arguments)


def attempted(ran) -> dict[str, list[tuple[str, str]]]:
    """Backend and status of each target's attempts."""
    return {t["target"]: [(a["backend"], a["status"]) for a in t["attempts"]] for t in ran.report["targets"]}


def test_a_named_target_is_attempted_and_reported(check):
    ran = check("net.py:Net(8)", "--input", "torch.randn(2, 8)")
    assert ran.status == 0, ran.err
    (target,) = ran.report["targets"]
    assert target["target"] == "net.py:Net(8)"
    assert target["inputs"] == "--input 'torch.randn(2, 8)'"
    assert {("script", "ok"), ("trace", "ok")} <= set(attempted(ran)["net.py:Net(8)"])


def test_a_file_is_attempted_whole_and_torch_confirms_the_findings(check):
    ran = check("net.py")
    assert ran.status == 1
    assert ("script", "failed") in attempted(ran)["net.py:Blocked"]
    assert [f["confirmed"] for f in ran.report["findings"] if f["code"] == "TSG103"] == [True]


def test_of_a_folder_only_configured_targets_are_attempted(check, folder):
    (folder / "tsguard.toml").write_text(
        "[targets.'net.py:Net']\ninputs = ['torch.randn(3, 4)']\nbackends = ['trace']\n"
    )
    ran = check(".")
    made = {target: attempts for target, attempts in attempted(ran).items() if attempts}
    assert set(made) == {"net.py:Net"}
    assert ("trace", "ok") in made["net.py:Net"]
    assert ("script", "ok") not in made["net.py:Net"]


def test_an_unmet_requirement_is_status_1(check):
    assert check("net.py:Net", "--require", "script").status == 0
    assert check("net.py:Blocked", "--require", "script", "--ignore", "TSG1").status == 1


def test_what_does_not_exist_is_said_and_the_rest_is_done(check):
    ran = check("gone.py", "net.py:Nett", "net.py:Net")
    assert ran.status == 2
    assert "no such file or folder: 'gone.py'" in ran.err
    assert "did you mean 'Net'" in ran.err
    assert ("script", "ok") in attempted(ran)["net.py:Net"]


def test_nothing_to_check(tsguard, folder):
    ran = tsguard("check")
    assert ran.status == 0
    assert "no targets given, none configured" in ran.err


def test_of_a_folder_it_is_said_why_nothing_was_attempted(check, folder):
    assert "no targets are configured" in check(".").err
    (folder / "docs").mkdir()
    ran = check("docs")
    assert ran.status == 0
    assert "no Python files in docs" in ran.err


FAULTY = """\
import ctypes
import os
import sys
import time

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        FAULT
        return x


def example_inputs():
    return (torch.rand(2),)
"""
FAULTS = {
    "raises": ("raise RuntimeError('boom')", "RuntimeError: boom"),
    "hangs": ("time.sleep(600)", "did not end within the time limit"),
    "exits": ("sys.exit(3)", "SystemExit: 3"),
    "quits": ("os._exit(3)", "exited with status 3"),
    "crashes": ("ctypes.string_at(0)", "killed by SIGSEGV"),
}


def test_a_faulty_forward_is_named_at_its_line_and_the_rest_is_done(check, folder):
    for name, (fault, _) in FAULTS.items():
        (folder / f"{name}.py").write_text(FAULTY.replace("FAULT", fault))
    (folder / "prints.py").write_text(FAULTY.replace("FAULT", "os.write(1, b'x' * 5_000_000)"))
    ran = check(
        "--timeout", "4", "--select", "TSG9", *(f"{name}.py" for name in FAULTS), "prints.py", "net.py"
    )
    assert ran.status == 1
    found = {f["path"]: f for f in ran.report["findings"] if f["code"] == "TSG909"}
    assert set(found) == {f"{name}.py" for name in FAULTS}
    for name, (_, says) in FAULTS.items():
        finding = found[f"{name}.py"]
        assert "fails on the file's own example_inputs()" in finding["message"]
        assert says in finding["message"]
        if name != "quits":  # a process that ends itself leaves no stack
            assert (finding["line"], finding["column"]) == (12, 9)
    made = attempted(ran)
    assert ("trace", "ok") in made["prints.py:Net"]
    assert ("script", "ok") in made["net.py:Net"]
    assert len(ran.out) < 100_000


def test_an_interruption_ends_the_run_and_its_workers(check, folder):
    sleeping = "open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    (folder / "hangs.py").write_text(FAULTY.replace("FAULT", sleeping))
    started = subprocess.Popen(
        [sys.executable, "-m", "tsguard", "check", "--timeout", "600", "hangs.py"],
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, interruptions are ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    pid = folder / "pid"
    while not (pid.exists() and pid.read_text()):
        assert started.poll() is None
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=100)
    assert (started.returncode, told.strip()) == (130, "interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_inputs_that_cannot_be_guessed_are_reported_with_the_flag_and_the_cause(check, folder):
    (folder / "odd.py").write_text(
        "from torch import nn\n\n\nclass Odd(nn.Module):\n    def forward(self, batch):\n"
        "        return batch.images['left'].decode()\n\n\n"
        "def odd(batch):\n    return batch.images['left'].decode()\n"
    )
    ran = check("--select", "TSG9", "odd.py", "odd.py:odd")
    assert ran.status == 0
    assert [(f["code"], f["line"]) for f in ran.report["findings"]] == [("TSG908", 4), ("TSG908", 9)]
    for finding, line in zip(ran.report["findings"], (6, 10), strict=True):
        assert "the nearest try ends in AttributeError" in finding["message"]
        assert f"at odd.py:{line}" in finding["message"]
        assert "--input" in finding["help"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--backend", "tvm"),
        ("--mode", "sleep"),
        ("--threads", "0"),
        ("--dtype", "float99"),
        ("--compare", "gone.json"),
        ("--min-speedup", "x"),
    ],
)
def test_a_wrong_option_is_status_2(tsguard, arguments):
    assert tsguard("check", *arguments, "net.py").status == 2


def test_the_text_shows_attempts_and_recommendation(tsguard, folder):
    (folder / "net.py").write_text(NET)
    text = tsguard("check", *QUICK, "net.py:Net").out
    assert "equal on" in text
    assert "recommendation: It works with script and trace" in text
