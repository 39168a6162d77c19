"""What linting costs beside another checkout of tsguard, and whether the reports are the same.

    python benchmarks/against.py CHECKOUT [--rounds N] [--same] FILE-OR-FOLDER...

Each round runs both, one after the other and in turn first, over the same files, in one
process without a cache; printed are the medians of user CPU time and of the paired ratios, this
checkout to the other.  With ``--same``, the reports in JSON are compared besides, but for the version.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


def cost(checkout: Path, target: Path, place: Path) -> float:
    """The user CPU seconds of one lint, whose report is left in ``place``."""
    # An installed package has its bytecode; here each checkout keeps its own.  The working folder is
    # none of theirs: Python would import that one.
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout),
        "PYTHONPYCACHEPREFIX": str(place.parent / f"{checkout.name}-bytecode"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        sys.executable,
        "-m",
        "tsguard",
        "lint",
        "--isolated",
        "--no-cache",
        "--jobs",
        "1",
        "--exit-zero",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [*command, "--output-format", "json", "-o", str(place), str(target)],
        cwd=place.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{checkout}: exit status {done.returncode}: {done.stderr[-500:]}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def report(place: Path) -> dict[str, Any]:
    """A report without what differs by the version that makes it."""
    read: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    read.pop("tsguard_version")
    return read


def compare(other: Path, target: Path, rounds: int, same: bool) -> None:
    """Print what linting a target costs in both checkouts."""
    with tempfile.TemporaryDirectory() as folder:
        places = {HERE: Path(folder, "here.json"), other: Path(folder, "other.json")}
        for checkout in places:  # writes bytecode
            cost(checkout, Path(__file__), places[checkout])
        costs: dict[Path, list[float]] = {checkout: [] for checkout in places}
        for turn in range(rounds):
            for checkout in (HERE, other) if turn % 2 else (other, HERE):
                costs[checkout].append(cost(checkout, target, places[checkout]))
        equal = report(places[HERE]) == report(places[other]) if same else True
    ratios = [ours / theirs for ours, theirs in zip(costs[HERE], costs[other], strict=True)]
    ours, theirs = (statistics.median(costs[checkout]) for checkout in (HERE, other))
    spread = f"[{min(ratios):.3f}, {max(ratios):.3f}]"
    told = "" if equal else "  A DIFFERENT REPORT"
    print(f"{target.name:24} {ours:8.2f} s {theirs:8.2f} s {statistics.median(ratios):7.3f} {spread}{told}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path)
    parser.add_argument("targets", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--same", action="store_true")
    options = parser.parse_args()
    print(f"{'median of ' + str(options.rounds) + ' rounds':24} {'here':>10} {'other':>10} {'ratio':>7}")
    for target in options.targets:
        compare(options.checkout.resolve(), target.resolve(), options.rounds, options.same)


if __name__ == "__main__":
    main()
