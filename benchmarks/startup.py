"""What starting tsguard costs, beside the least that it could: python, click, libcst.

    python benchmarks/startup.py [ROUNDS]

Each round runs the command and its yardstick one after the other, so that both meet the
same machine; printed are the medians of CPU time (user and system, children included)
and of the paired ratios.  The project's bounds: `--version` within three times bare Python
plus the import of click, a cold lint of a small file within 1.5 times the import of libcst
and click.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def cpu_seconds(command: Sequence[str], folder: str) -> float:
    """CPU time of a command with its children."""
    # An installed package has its bytecode; a checkout, or an environment that forbids writing it, may not.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    quiet = subprocess.DEVNULL
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=quiet, stderr=quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(name: str, command: Sequence[str], yardstick: Sequence[str], folder: str, rounds: int) -> None:
    """Run both in turn and print what they cost."""
    for each in (command, yardstick):
        cpu_seconds(each, folder)  # writes bytecode, warms the page cache
    pairs = [(cpu_seconds(command, folder), cpu_seconds(yardstick, folder)) for _ in range(rounds)]
    ours, theirs = (1000 * statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"{name:34} {ours:7.0f} ms {theirs:7.0f} ms {ratio:6.2f}")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    tsguard = [sys.executable, "-m", "tsguard"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "net.py").write_text(NET)
        print(
            f"{'median CPU time of ' + str(rounds) + ' rounds':34} {'tsguard':>10} {'yardstick':>10} {'ratio':>6}"
        )
        compare("--version / python + click", [*tsguard, "--version"], python("import click"), folder, rounds)
        compare("--version / python", [*tsguard, "--version"], python("pass"), folder, rounds)
        lint = [*tsguard, "lint", "--isolated", "net.py"]
        compare(
            "lint, cold / libcst + click",
            [*lint, "--no-cache"],
            python("import libcst, click"),
            folder,
            rounds,
        )
        compare("lint, cached / libcst + click", lint, python("import libcst, click"), folder, rounds)


if __name__ == "__main__":
    main()
