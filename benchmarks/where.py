"""Where a lint spends its steps: calls and own time by function, beside those of another checkout.

    python benchmarks/where.py [--against CHECKOUT] [--top N] FILE-OR-FOLDER

Calls are counted, which a busy machine does not change; own time is the profiler's, which makes small
functions dearer than they are.  One process, no cache; each checkout runs in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
OPTIONS = ["--isolated", "--no-cache", "--jobs", "1", "--exit-zero", "-o", os.devnull]


def profiled(target: str, place: str) -> None:
    """Lint in this process, and leave each function's calls and own seconds in a file."""
    from tsguard.cli import main

    profiles: list[cProfile.Profile] = []
    plain = threading.Thread.run

    def run(thread: threading.Thread) -> None:  # the analysis has a thread of its own
        profile = cProfile.Profile()
        profiles.append(profile)
        profile.runcall(plain, thread)

    setattr(threading.Thread, "run", run)  # noqa: B010 - mypy takes no method for another
    sys.argv = ["tsguard", "lint", *OPTIONS, target]
    with contextlib.suppress(SystemExit):
        main()
    found: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
    for profile in profiles:
        for (file, _, name), (_, calls, own, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
            entry = found[f"{file.rpartition('/tsguard/')[2]}:{name}"]
            entry[0] += calls
            entry[1] += own
    Path(place).write_text(json.dumps(found))


def steps(checkout: Path, target: Path) -> dict[str, tuple[int, float]]:
    """Each function's calls and own seconds in one checkout."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "steps.json")
        command = [sys.executable, __file__, "--into", str(place), str(target)]
        subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(checkout)}, check=True, stdout=subprocess.DEVNULL
        )
        return {name: (int(calls), own) for name, (calls, own) in json.loads(place.read_text()).items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--into", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into:
        profiled(str(options.target), options.into)
        return
    target = options.target.resolve()
    ours = steps(HERE, target)
    theirs = steps(options.against.resolve(), target) if options.against else {}
    for title, found in (("here", ours), ("other", theirs)):
        print(f"{title:6} {sum(calls for calls, _ in found.values()):12,} calls")
    print(f"{'calls':>10} {'other':>10} {'own s':>7}  function")

    def more(name: str) -> int:
        return ours.get(name, (0, 0.0))[0] - theirs.get(name, (0, 0.0))[0]

    for name in sorted({*ours, *theirs}, key=more, reverse=True)[: options.top]:
        calls, own = ours.get(name, (0, 0.0))
        print(f"{calls:10,} {theirs.get(name, (0, 0.0))[0]:10,} {own:7.2f}  {name}")


if __name__ == "__main__":
    main()
