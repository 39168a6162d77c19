"""What `tsguard check` costs beside `import torch`: one small model, and ten targets.

    python benchmarks/check_cost.py

Bars: script and trace in eval of a small model end within one ``import torch`` plus 6
seconds; ten targets cost far less than ten times one.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = """
import torch
from torch import Tensor, nn


class Net{number}(nn.Module):
    def __init__(self, width: int = 64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)
"""


def seconds(*command: str, cwd: str | None = None) -> tuple[float, float]:
    """Wall clock of a command, and the CPU time of it and its children."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command], cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, cpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3, help="the least of so many runs counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "one.py").write_text(MODEL.replace("{number}", ""))
        (place / "ten.py").write_text("".join(MODEL.replace("{number}", str(n)) for n in range(10)))
        check = ("-m", "tsguard", "check", "--mode", "eval", "--isolated", "--exit-zero")

        def least(*command: str) -> tuple[float, float]:
            runs = [seconds(*command, cwd=folder) for _ in range(options.repeats)]
            return min(wall for wall, _ in runs), min(cpu for _, cpu in runs)

        seconds("-c", "import torch")
        torch = least("-c", "import torch")
        one, ten = least(*check, "one.py"), least(*check, "ten.py")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for clock, a, b, c in zip(("wall", "CPU"), torch, one, ten, strict=True):
        print(
            f"{clock:4} import torch {a:.1f} s; one target {b:.1f} s, import torch + {b - a:.1f} s (bar: 6 s);"
            f" ten targets {c:.1f} s, {c / b:.1f} times one"
        )


if __name__ == "__main__":
    main()
