"""The warm process: fast, replaceable, and gone when its user is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tsguard.repairing.judging import judged
from tsguard.runtime.attempts import Bounds, attempt_target
from tsguard.runtime.events import Devices, InternalError
from tsguard.runtime.launcher import Launcher, TorchUnavailable, WrongSystem, unavailable
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.processes import MARK, descendants, kill_marked
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Task

HERE = "tsguard.runtime.worker.devices:devices"


def test_tasks_run_in_parallel_and_apart(launcher: Launcher) -> None:
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda _: launcher.run(Task(HERE, {})), range(8)))
    assert {outcome.ending for outcome in outcomes} == {"finished"}


@pytest.mark.parametrize("fresh", [False, True])
def test_events_and_phase_come_back(launcher: Launcher, fresh: bool) -> None:
    outcome = launcher.run(Task(HERE, {}, Limits(seconds=60), fresh))
    assert (outcome.ending, outcome.phase) == ("finished", "look for devices")
    assert any(isinstance(event, Devices) for event in outcome.events)


def test_an_unknown_entry_is_an_internal_error(launcher: Launcher) -> None:
    outcome = launcher.run(Task("tsguard.runtime.nothing:here", {}))
    failure = next(event for event in outcome.events if isinstance(event, InternalError))
    assert "No module named 'tsguard.runtime.nothing'" in failure.traceback


def test_a_killed_zygote_is_replaced() -> None:
    with Launcher() as own:
        assert own.run(Task(HERE, {})).ending == "finished"
        assert own._zygote is not None
        own._zygote.kill()
        own._zygote.wait()
        assert own.run(Task(HERE, {})).ending == "finished"


def test_parts_of_torch_are_imported_once_for_all_tasks(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import sys\nfrom torch import nn\nKNOWN = 'torch._dynamo' in sys.modules\n"
        "import torch._dynamo\n\nclass Net(nn.Module):\n"
        "    if KNOWN:\n        def forward(self, x):\n            return x\n"
        "    else:\n        def forward(self, x):\n            return x[next(iter([0]))]\n"
    )
    root, inputs = str(tmp_path), ("torch.ones(2)",)
    subject = Subject("s", str(file), file.name, root, "net", "Net", "module", "Net()", inputs)
    with Launcher() as own:
        first = judged(own, subject, tmp_path / "none.pt", Limits())
        then = judged(own, subject, tmp_path / "kept.pt", Limits())
    assert (first.status, then.status) == ("refused", "ok")


def test_what_one_target_imported_of_torch_is_there_for_the_next(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import sys\nfrom torch import nn\nKNOWN = 'torch._dynamo' in sys.modules\nimport torch._dynamo\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        assert not KNOWN\n        return x\n"
    )
    script, inputs = AttemptSpec("script"), ("torch.ones(2)",)
    subject = Subject("s", str(file), file.name, str(tmp_path), "net", "Net", "module", "Net()", inputs)
    with Launcher() as own:
        first, then = (
            attempt_target(own.run, subject, [script], Bounds(settings=Settings(timing_seconds=0)))
            for _ in range(2)
        )
    eager = AttemptSpec("eager")
    assert (first.attempts[eager].status, then.attempts[eager].status) == ("ok", "failed")


def test_what_is_no_part_of_torch_is_left_to_the_tasks() -> None:
    with Launcher() as own:
        before = own._zygote
        own.import_parts(["no_such_module", "torch.no_such_part"])
        assert own._zygote is before
        assert own.run(Task(HERE, {})).ending == "finished"


def test_nothing_stays_when_the_user_is_killed(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import os, sys, threading
        from tsguard.runtime.launcher import Launcher
        from tsguard.runtime.task import Task
        from tsguard.runtime.subject import Subject
        from pathlib import Path

        file = Path(sys.argv[1])
        file.write_text("import os, time\\nos.fork()\\ntime.sleep(600)\\n")
        subject = Subject("s", str(file), file.name, str(file.parent), file.stem, "Net", "module")
        argument = {"subject": subject.to_json(), "settings": {}, "attempts": []}
        with Launcher() as launcher:
            def seen(event):
                if getattr(event, "phase", None) == "import":
                    print("running", flush=True)
            launcher.run(Task("tsguard.runtime.worker.session:attempts", argument), seen)
        """
    )
    user = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "m.py")], stdout=subprocess.PIPE)
    assert user.stdout is not None
    assert user.stdout.readline() == b"running\n"
    below = descendants(user.pid)
    assert len(below) >= 3
    user.kill()
    user.wait()
    deadline = time.monotonic() + 60
    while any(_alive(pid) for pid in below):
        assert time.monotonic() < deadline, "workers outlive their user"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def test_an_interpreter_without_torch_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no torch in this environment')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(TorchUnavailable, match="no torch in this environment"), Launcher():
        pass


def test_an_interpreter_that_dies_importing_torch_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text(f"import os; os.kill(os.getpid(), {int(signal.SIGILL)})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(TorchUnavailable, match="died"), Launcher():
        pass


def test_what_left_its_tree_is_found_by_its_mark() -> None:
    sleeping = "import os, time\nif os.fork() == 0:\n    os.setsid(); print(os.getpid(), flush=True); time.sleep(600)\n"
    environment = {**os.environ, MARK: "the mark of this test"}
    left = subprocess.Popen(
        [sys.executable, "-c", sleeping], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert left.stdout is not None
    pid = int(left.stdout.readline())
    left.wait()
    kill_marked("the mark of this test")
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)


def test_who_has_the_wrong_system_is_not_told_to_install_torch():
    assert unavailable(WrongSystem("use WSL"), ": install it") == "use WSL"
    missing = unavailable(TorchUnavailable("No module named 'torch'"), ": install it")
    assert missing == "torch cannot be imported (No module named 'torch'): install it"
