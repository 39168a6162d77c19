"""What a judgement of a repair costs while the parts of torch that the code needs are imported once, and without that.

    python benchmarks/warm_repairs.py [--judgements N] FILE:Net(64)...

Each target is judged as ``tsguard fix`` does after each step: constructed, run by eager and scripted in a process forked
from one that has imported torch and none of the user's code. The first judgement tells which parts of torch the code
brings in; they are imported by the process that is forked, before the next. With and without take turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable
from pathlib import Path

from repair_rate import subject_of

from tsguard.repairing.judging import judged
from tsguard.repairing.scratch import scratch
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.task import Limits


class Cold(Launcher):
    """Each worker imports what it needs beside torch itself."""

    def import_parts(self, modules: Iterable[str]) -> None:
        """Left to the workers."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--judgements", type=int, default=5)
    options = parser.parse_args()
    for target in options.targets:
        seconds: dict[str, list[float]] = {"cold": [], "warm": []}
        subject = subject_of({"target": target})
        with Cold() as cold, Launcher() as warm, scratch(subject) as place:
            there, kept = place.subject(subject), place.copy.parent / "kept.pt"
            judged(warm, there, kept, Limits())
            for _ in range(options.judgements):
                for name, launcher in (("cold", cold), ("warm", warm)):
                    started = time.monotonic()
                    judged(launcher, there, kept, Limits())
                    seconds[name].append(time.monotonic() - started)
        middle = {name: statistics.median(found) for name, found in seconds.items()}
        ratio = middle["cold"] / middle["warm"]
        print(
            f"{middle['cold']:5.2f} s, {middle['warm']:5.2f} s warm ({ratio:.1f} times)  {Path(target).name}"
        )


if __name__ == "__main__":
    main()
