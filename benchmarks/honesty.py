"""How honest the timing is: eager against itself, and agreement with torch.utils.benchmark.

    python benchmarks/honesty.py [--processes 8] [--repeats 5]

Eager timed against eager (the same instance, A/A) must not be called faster or slower in
more than 1% of runs. The ratio eager/script must agree with what
``torch.utils.benchmark`` measures on the same callables, within 5%; it is given the
thread's CPU clock as well, because on a busy machine its wall clock measures the others.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tsguard.runtime import bootstrap

BUDGET_SECONDS = 6.0


def cases() -> dict[str, tuple[Any, tuple[Any, ...], bool]]:
    """Modules from microseconds to tens of milliseconds, with inputs; whether to train them."""
    import torch
    from torch import nn

    class Elementwise(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.tanh(torch.nn.functional.softplus(x))

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.Linear(64, 64)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(30):
                x = torch.tanh(self.cell(x)) + x
            return x

    mlp = nn.Sequential(*[layer for _ in range(5) for layer in (nn.Linear(64, 64), nn.ReLU())])
    convolutions = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1),
        nn.ReLU(),
    )
    return {
        "elementwise, 64 values": (Elementwise(), (torch.randn(64),), False),
        "elementwise, a million values": (Elementwise(), (torch.randn(1_000_000),), False),
        "MLP, batch 1": (mlp, (torch.randn(1, 64),), False),
        "MLP, batch 1, training": (mlp, (torch.randn(1, 64),), True),
        "recurrent loop": (Recurrent(), (torch.randn(8, 64),), False),
        "convolutions 8x3x32x32": (convolutions, (torch.randn(8, 3, 32, 32),), False),
        "convolutions, training": (convolutions, (torch.randn(8, 3, 32, 32),), True),
        "linear 512, batch 256": (nn.Linear(512, 512), (torch.randn(256, 512),), False),
    }


def child(repeats: int) -> None:
    """Measure every case in this process; one line of JSON for each measurement."""
    import warnings

    import torch
    from torch.utils.benchmark import Timer

    from tsguard.runtime.worker.timing import clock_for, measure, warm_up

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name, (module, inputs, training) in cases().items():
        module.train(training)
        eager, scripted = (stepper(c, inputs, training) for c in (module, torch.jit.script(module)))
        with torch.set_grad_enabled(training):
            clock = clock_for("cpu", eager)
            for step in (eager, scripted):
                warm_up(step, clock, 8)
            for _ in range(repeats):
                emit("A/A", name, measure(eager, eager, clock, BUDGET_SECONDS))
            ours = measure(eager, scripted, clock, BUDGET_SECONDS)
            theirs = []
            for _ in range(5):
                times = [
                    Timer("step()", globals={"step": step}, timer=time.thread_time)
                    .blocked_autorange(min_run_time=0.2)
                    .median
                    for step in (eager, scripted)
                ]
                theirs.append(times[0] / times[1])
            emit("agreement", name, ours, theirs=statistics.median(theirs))


def stepper(callee: Any, inputs: tuple[Any, ...], training: bool) -> Callable[[], object]:
    """One call, with its backward pass in training."""
    from tsguard.runtime.worker.running import scalar_loss

    def step() -> object:
        output = callee(*inputs)
        if training:
            scalar_loss(output).backward()
        return output

    return step


def emit(kind: str, name: str, found: Any, **more: float) -> None:
    ratio = found.ratio
    told = {
        "median": ratio.median,
        "low": ratio.low,
        "high": ratio.high,
        "conclusion": ratio.conclusion(),
        "rounds": ratio.rounds,
    }
    print(json.dumps({"kind": kind, "name": name, **told, "on_cpu": found.on_cpu, **more}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=8, help="fresh processes, one after the other")
    parser.add_argument("--repeats", type=int, default=5, help="A/A measurements of each case in each")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.repeats)
        return
    rows: list[dict[str, Any]] = []
    for _ in range(options.processes):
        command = [sys.executable, __file__, "--child", "--repeats", str(options.repeats)]
        run = subprocess.run(
            command, env=bootstrap.environment(), stdout=subprocess.PIPE, text=True, check=True
        )
        rows += [json.loads(line) for line in run.stdout.splitlines()]
    report(rows)


def report(rows: list[dict[str, Any]]) -> None:
    same = [row for row in rows if row["kind"] == "A/A"]
    called = [row for row in same if row["conclusion"] in ("faster", "slower")]
    print(
        f"load average {os.getloadavg()[0]:.1f}, median share of a core {statistics.median(r['on_cpu'] for r in rows):.2f}"
    )
    print(
        f"A/A: {len(same)} runs, {len(called)} called a difference ({len(called) / len(same):.1%}), ", end=""
    )
    outside = sum(not row["low"] <= 1 <= row["high"] for row in same)
    print(
        f"{outside} intervals without 1 ({outside / len(same):.1%}); {dict(Counter(r['conclusion'] for r in same))}"
    )
    print(f"{'case':34} {'A/A error':>10} {'ours':>7} {'Timer':>7} {'apart':>7}")
    apart = []
    for name in dict.fromkeys(row["name"] for row in rows):
        errors = [abs(row["median"] - 1) for row in same if row["name"] == name]
        pairs = [(r["median"], r["theirs"]) for r in rows if r["kind"] == "agreement" and r["name"] == name]
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        apart.append(abs(ours / theirs - 1))
        print(f"{name:34} {max(errors):10.1%} {ours:7.3f} {theirs:7.3f} {apart[-1]:7.1%}")
    print(f"agreement: within {max(apart):.1%} of torch.utils.benchmark in the worst case")


if __name__ == "__main__":
    main()
