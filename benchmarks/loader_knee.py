"""Does ``tsguard loader`` find the right number of workers, where it is known by construction?

    python benchmarks/loader_knee.py [--runs 10] [--time-budget 60]

Two kinds of datasets have a known knee. "channels": an item takes 4 ms in one of K
channels, as a disk or a network has them, so that w workers make min(w, K) items in 4 ms
whatever else the machine does. "computing": an item computes for 4 ms, so that w workers
make min(w, cores) of them. Each run is the command line with nothing but the time budget;
it counts as good if the recommended number makes at least 95% of the items that the best
number makes by the formula.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATASETS = """\
import multiprocessing
import time

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

SECONDS = 0.004


class Channels(Dataset[Tensor]):
    def __init__(self, count: int) -> None:
        self.free = multiprocessing.get_context("fork").Semaphore(count)

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> Tensor:
        with self.free:
            time.sleep(SECONDS)
        return torch.full((64,), float(index))


class Computing(Dataset[Tensor]):
    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> Tensor:
        until = time.thread_time() + SECONDS
        while time.thread_time() < until:
            pass
        return torch.full((64,), float(index))


def channels(count: int) -> DataLoader:
    return DataLoader(Channels(count), batch_size=8)


def computing() -> DataLoader:
    return DataLoader(Computing(), batch_size=8)
"""
KNEES = (1, 2, 3, 4, 6)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measured(folder: Path, expression: str, budget: float) -> tuple[int, float, list[str]]:
    """The recommended number of workers, the seconds that it took, what was noted."""
    command = [
        sys.executable,
        "-m",
        "tsguard",
        "loader",
        f"datasets.py:{expression}",
        "--output-format",
        "json",
    ]
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--isolated", "--time-budget", str(budget)], cwd=folder, capture_output=True, text=True
    )
    seconds = time.monotonic() - started
    if done.returncode:
        raise SystemExit(done.stderr)
    [loader] = json.loads(done.stdout)["loaders"]
    return loader["recommended"]["num_workers"], seconds, loader["notes"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--time-budget", type=float, default=60.0)
    parser.add_argument("--kind", choices=["channels", "computing"])
    options = parser.parse_args()
    kinds = [options.kind] if options.kind else ["channels", "computing"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "datasets.py").write_text(DATASETS)
        for kind in kinds:
            good = 0
            for run in range(options.runs):
                knee = KNEES[run % len(KNEES)] if kind == "channels" else cores()
                expression = f"channels({knee})" if kind == "channels" else "computing()"
                workers, seconds, notes = measured(folder, expression, options.time_budget)
                share = min(max(workers, 1), knee) / knee
                good += share >= 0.95
                busy = next((note for note in notes if "other processes" in note), "")
                print(
                    f"{expression:14} knee {knee}  recommended {workers:2}  {share:4.0%} of the best  {seconds:3.0f} s  {busy}",
                    flush=True,
                )
            print(f"{kind}: {good} of {options.runs} within 5% of the best\n", flush=True)


if __name__ == "__main__":
    main()
