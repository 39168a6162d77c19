"""Workers that die: their files are judged again, and only what kills its own process is not judged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.samples import NET

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

# Python's parser needs more of the machine's stack for this than _STACK, and crashes.
_NESTED = f"x = {'-' * 3000}1\n"
_STACK = 256 * 1024
# No room for the deep stack that tsguard would take instead.
_MEMORY = 1 << 28
# A worker is started for so many bytes.
_PADDING = f"# {'x' * 400}\n" * 200
_UNDER_LIMIT = textwrap.dedent(
    f"""\
    import os, resource, sys
    resource.setrlimit(resource.RLIMIT_STACK, ({_STACK}, {_STACK}))
    resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}))
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    """
)


@pytest.fixture
def tree(folder: Path) -> Path:
    """Enough for two workers, in files of which several make up a chunk."""
    for number in range(8):
        (folder / f"net_{number}.py").write_text(NET + _PADDING)
    return folder


def environment() -> dict[str, str]:
    """That of the tests, whose working folder is another one than the project's."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def command(*arguments: str) -> list[str]:
    return ["-m", "tsguard", "lint", "--jobs", "2", "--output-format", "json", *arguments, "."]


def workers_of(process: int) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == process and "spawn_main" in Path(f"/proc/{name}/cmdline").read_text():
                found.append(int(name))
        except OSError:  # it has ended
            continue
    return found


def test_a_worker_that_is_killed_costs_nothing_but_time(tree):
    with subprocess.Popen(
        [sys.executable, *command("--no-cache")], stdout=subprocess.PIPE, env=environment()
    ) as lint:
        while not (workers := workers_of(lint.pid)):
            assert lint.poll() is None, "there were no workers"
            time.sleep(0.001)
        os.kill(workers[0], signal.SIGKILL)
        report = json.loads(lint.communicate(timeout=120)[0])
    assert lint.returncode == 0
    assert [finding["code"] for finding in report["findings"]] == []
    assert len(report["targets"]) == 16


def under_limit(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python with little stack and memory."""
    return subprocess.run(
        [sys.executable, "-c", _UNDER_LIMIT, *arguments],
        env=environment(),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )


class TestAFileThatKillsItsProcess:
    @pytest.fixture(autouse=True)
    def crashes(self, tree):
        parse = "import ast, sys; sys.setrecursionlimit(8000); ast.parse(sys.stdin.read())"
        if under_limit("-c", parse, stdin=_NESTED).returncode >= 0:
            pytest.skip("this Python parses it")
        (tree / "net_3_deep.py").write_text(_NESTED)

    def test_it_alone_is_not_judged(self):
        ran = under_limit(*command())
        assert ran.returncode == 1, ran.stderr
        report = json.loads(ran.stdout)
        (finding,) = report["findings"]
        assert (finding["code"], finding["path"]) == ("TSG005", "net_3_deep.py")
        assert "SIGSEGV" in finding["message"]
        assert len(report["targets"]) == 16

    def test_nor_is_that_remembered(self):
        assert "TSG005" in under_limit(*command()).stdout
        ran = subprocess.run(
            [sys.executable, *command()], env=environment(), capture_output=True, text=True, timeout=120
        )
        assert "TSG005" not in ran.stdout
