"""``tsguard check`` from the command line: options reach the attempts, the report comes back whole."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from xml.etree import ElementTree

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


def test_modules_are_imported_from_the_projects_folder_too(check, folder):
    (folder / "lib").mkdir()
    (folder / "lib" / "sizes.py").write_text("WIDTH = 4\n")
    (folder / "models").mkdir()
    (folder / "models" / "net.py").write_text("from lib.sizes import WIDTH\n" + NET)
    assert ("script", "ok") in attempted(check("models/net.py:Net(WIDTH)"))["models/net.py:Net(WIDTH)"]


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


UNFIT = {
    "raises": ("raise RuntimeError('boom')", "info", "the nearest try ends in RuntimeError: boom"),
    "hangs": ("time.sleep(600)", "warning", "Timeout: did not end within the time limit"),
    "exits": ("sys.exit(3)", "warning", "SystemExit: 3"),
    "quits": ("os._exit(3)", "warning", "exited with status 3"),
    "crashes": ("ctypes.string_at(0)", "warning", "killed by SIGSEGV"),
}


def test_what_a_guess_does_not_survive_counts_and_is_named(check, folder):
    guessed = FAULTY.partition("\n\ndef example_inputs")[0]
    for name, (fault, _, _) in UNFIT.items():
        (folder / f"{name}.py").write_text(guessed.replace("FAULT", fault))
    ran = check("--timeout", "4", "--select", "TSG9", *(f"{name}.py" for name in UNFIT))
    assert ran.status == 1
    found = {f["path"]: f for f in ran.report["findings"] if f["code"] in ("TSG908", "TSG912")}
    for name, (_, severity, says) in UNFIT.items():
        assert found[f"{name}.py"]["severity"] == severity
        assert says in found[f"{name}.py"]["message"]
        if severity == "warning":
            assert "did not finish with torch.randn(2, 16, 64)" in found[f"{name}.py"]["message"]
            assert "--input 'torch.randn(2, 16, 64)'" in found[f"{name}.py"]["help"]
    assert ran.report["summary"]["not_attempted"] == len(UNFIT)
    assert all(target["not_attempted"] for target in ran.report["targets"])


def test_a_constructor_that_does_not_survive_a_guess_counts(check, folder):
    source = (
        "import os\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self, width):\n        os._exit(width)\n"
    )
    (folder / "quits.py").write_text(source)
    ran = check("--select", "TSG9", "quits.py")
    assert ran.status == 1
    assert (
        "did not finish with Net(width=64): Crash: the process exited with status 64"
        in ran.report["findings"][0]["message"]
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("torch.randn(1, 5)",), "mat1 and mat2 shapes cannot be multiplied (1x5 and 4x4)"),
        (("y=torch.randn(1, 4)",), "'y'"),
        (("torch.randn(1, 4)", "torch.randn(1, 4)"), "it takes x"),
    ],
    ids=["size", "name", "number"],
)
def test_given_inputs_that_do_not_fit_are_said_to(check, given, says):
    ran = check("--select", "TSG9", "net.py:Net", *(part for text in given for part in ("--input", text)))
    assert ran.status == 1
    (finding,) = ran.report["findings"]
    assert finding["code"] == "TSG909"
    assert says in finding["message"]
    (script,) = (a for a in ran.report["targets"][0]["attempts"] if a["backend"] == "script")
    assert script["status"] == "ok"
    assert "inputs" in script["note"]
    assert "want of" not in script["note"]


def test_what_was_not_attempted_is_skipped_in_junit_with_the_reason(tsguard, folder):
    (folder / "odd.py").write_text(ODD)
    text = tsguard("check", "--output-format", "junit", *QUICK, "odd.py").out
    (case,) = (
        case for case in ElementTree.fromstring(text).iter("testcase") if case.find("skipped") is not None
    )
    assert case.get("name") == "odd.py:Odd"
    assert "no example inputs were found" in case.find("skipped").get("message")


ODD = "from torch import nn\n\n\nclass Odd(nn.Module):\n    def forward(self, batch):\n        raise OSError('never')\n"


def test_what_a_forward_leaves_behind_does_not_hold_the_run(tsguard, folder):
    leaving = "if os.fork() == 0:\n            os.setsid(); open(f'{os.getpid()}.pid', 'w').close(); time.sleep(600)"
    (folder / "forks.py").write_text(FAULTY.replace("FAULT", leaving))
    ran = tsguard("check", "--timeout", "8", "--time-budget", "0.5", "--mode", "eval", "forks.py")
    assert "trace" in ran.out
    left = [int(file.stem) for file in folder.glob("*.pid")]
    assert left
    for pid in left:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_log_of_a_build_gets_a_line_a_target(tsguard, folder, monkeypatch):
    monkeypatch.setenv("CI", "1")
    (folder / "net.py").write_text(NET)
    told = tsguard("check", *QUICK, "net.py").err
    assert re.search(r"^\[1/2\] net.py:\w+: ", told, re.MULTILINE)
    assert re.search(r"^\[2/2\] net.py:\w+: ", told, re.MULTILINE)
    assert "net.py:Net: script ok, trace ok" in told


def test_a_terminal_sees_how_much_is_done_what_is_being_done_and_since_when(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    (folder / "net.py").write_text(NET)
    master, slave = os.openpty()
    command = [sys.executable, "-m", "tsguard", "check", *QUICK, "net.py"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):  # the terminal of a process that has ended
        while piece := os.read(master, 4096):
            seen += piece
    os.close(master)
    process.wait()
    assert re.search(rb"0:00:\d\d", seen)
    assert re.search(rb"1 of 2 done {2}net.py:\w+: ", re.sub(rb"\x1b\[[\d;]*m", b"", seen))


@pytest.fixture
def interrupted(folder):
    """Runs a check of a fine file and one whose forward sleeps, interrupts it there; status, output, errors."""
    processes = []

    def run(*options: str, times: int = 1) -> tuple[int, str, str]:
        sleeping = "open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
        (folder / "hangs.py").write_text(FAULTY.replace("FAULT", sleeping))
        (folder / "net.py").write_text(NET)
        command = [
            sys.executable,
            "-m",
            "tsguard",
            "check",
            *QUICK,
            "--timeout",
            "600",
            "--workers",
            "1",
            *options,
        ]
        started = subprocess.Popen(
            [*command, "net.py", "hangs.py"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Where the tests run in the background of a shell, interruptions are ignored.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        processes.append(started)
        pid = folder / "pid"
        while not (pid.exists() and pid.read_text()):
            assert started.poll() is None
            time.sleep(0.05)
        for _ in range(times):
            started.send_signal(signal.SIGINT)
            time.sleep(0.2)
        out, told = started.communicate(timeout=100)
        return started.returncode, out, told

    yield run
    for process in processes:
        process.kill()


def test_an_interruption_shows_what_is_done_and_ends_the_workers(interrupted, folder):
    status, out, told = interrupted("--output-format", "json")
    assert status == 130
    assert told.strip().endswith("interrupted")
    report = json.loads(out)
    assert report["interrupted"]
    assert ("script", "ok") in [
        (a["backend"], a["status"])
        for t in report["targets"]
        if t["qualname"] == "Net"
        for a in t["attempts"]
    ]
    by_target = {t["target"]: t["not_attempted"] for t in report["targets"]}
    assert by_target["net.py:Net"] is None
    assert "interrupted" in by_target["hangs.py:Net"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def test_a_partial_report_can_be_compared_with(interrupted, folder, check):
    assert check("net.py:Net", "-o", "before.json").status == 0
    status, out, _ = interrupted("--output-format", "json", "--compare", "before.json")
    assert status == 130
    assert "TSG907" not in out
    (folder / "partial.json").write_text(out)
    assert check("net.py:Net", "--compare", "partial.json").status == 0


def test_what_worked_before_and_is_not_attempted_now_is_worse(check, folder):
    assert check("net.py:Net", "-o", "before.json").status == 0
    (folder / "net.py").write_text(NET.replace("return self", "import os; os._exit(1); return self"))
    ran = check("net.py:Net", "--compare", "before.json", "--select", "TSG907")
    assert ran.status == 1
    (finding,) = ran.report["findings"]
    assert "script and trace worked before and is not attempted now: it fails" in finding["message"]


def test_a_second_interruption_ends_at_once(interrupted):
    status, _, _ = interrupted(times=2)
    # One that comes while Python is already ending kills it: a shell calls both 130.
    assert status in (130, -signal.SIGINT)


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
        assert "the nearest try ends in TypeError" in finding["message"]
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


EXPORTING = """\
import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x


class Halves(nn.Module):
    def forward(self, x):
        return x.view(2, -1) if x.shape[0] == 2 else x


class Fine(nn.Module):
    def forward(self, x):
        return x * 2


def example_inputs():
    return (torch.ones(2, 4),)
"""


def test_export_is_attempted_and_the_linter_is_held_against_it(check, folder):
    (folder / "exporting.py").write_text(EXPORTING)
    ran = check("exporting.py", "--backend", "export,script")
    assert ran.status == 1
    found = attempted(ran)
    ends = {name: dict(ends) for name, ends in found.items()}
    assert ends["exporting.py:Gate"]["export"] == "failed"
    assert (ends["exporting.py:Halves"]["export"], ends["exporting.py:Halves"]["export_dynamic"]) == (
        "ok",
        "diverged",
    )
    assert (ends["exporting.py:Fine"]["export"], ends["exporting.py:Fine"]["export_dynamic"]) == ("ok", "ok")
    refusals = [f for f in ran.report["findings"] if f["code"] == "TSG601"]
    assert [f["confirmed"] for f in refusals] == [True]
    held = {t["target"]: t["export"] for t in ran.report["targets"]}
    assert held["exporting.py:Gate"]["confirmed"] is True
    assert held["exporting.py:Fine"]["confirmed"] is True
    assert held["exporting.py:Fine"]["dynamic_confirmed"] is True
    told = {t["target"]: t["recommendation"] for t in ran.report["targets"]}
    assert "To export it: exporting.py:7" in told["exporting.py:Gate"]
    assert "Do not export it with dynamic sizes: with other batch size" in told["exporting.py:Halves"]


def test_open_sizes_are_given_and_a_wrong_way_to_give_them_is_said(check, folder):
    (folder / "exporting.py").write_text(EXPORTING)
    assert check("exporting.py:Fine", "--backend", "export", "--dynamic", "x: 0").status == 2
    ran = check("exporting.py:Fine", "--backend", "export_dynamic", "--dynamic", "x: {0: batch, 1: auto}")
    (target,) = ran.report["targets"]
    tried = {
        v["name"]
        for a in target["attempts"]
        if a["backend"] == "export_dynamic"
        for v in a["parity"]["variants"]
    }
    assert {"other batch size", "other length"} <= tried


@pytest.mark.parametrize("given", ["empty", "net.py"])
def test_a_python_that_cannot_be_started(check, folder, given):
    (folder / "empty").mkdir()
    ran = check("net.py:Net", "--python", given)
    assert ran.status == 2
    assert "is no interpreter that can be started: " in ran.err
    assert ran.targets == ["net.py:Net"]


@pytest.mark.skipif(not os.path.isfile(os.path.join(sys.prefix, "bin", "python")), reason="no environment")
def test_an_environment_stands_for_its_python(check):
    ran = check("net.py:Net", "--python", sys.prefix)
    assert ran.status == 0, ran.err
    assert ("script", "ok") in attempted(ran)["net.py:Net"]


def test_a_folder_to_save_to_that_cannot_be_made(check):
    ran = check("net.py:Net", "--save", "net.py/saved")
    assert (ran.status, ran.out) == (2, "")
    assert "--save: net.py/saved cannot be made: " in ran.err


def test_a_package_that_is_missing_is_to_be_installed(check, folder):
    (folder / "net.py").write_text("import no_such_package\n" + NET)
    (finding,) = (f for f in check("net.py:Net").report["findings"] if f["code"] == "TSG909")
    assert finding["help"] == "install it where torch is, or name the environment that has both with --python"


def test_what_depends_on_an_argument_was_predicted_where_torch_stops_there(check, folder):
    (folder / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, rate):\n        super().__init__()\n"
        "        self.rate = rate\n\n    def forward(self, x):\n        return x * (self.rate if self.training else 0)\n"
    )
    ran = check("net.py:Net")
    (target,) = ran.report["targets"]
    assert target["script"]["verdict"] == "depends"
    assert ("script", "failed") in attempted(ran)["net.py:Net"]
    assert "TSG105" in ran.codes
    assert "TSG901" not in ran.codes
