"""Which functions of the code that is linted take the steps of its constructors.

    python benchmarks/followed.py [--top N] FILE-OR-FOLDER

A profile of tsguard is flat where one function of a package is followed again and again; here each
step, an expression that is evaluated, counts for the function that it belongs to (``own``) and for those
that called it (``all``).  One process, no cache.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections import Counter
from typing import Any

Place = tuple[str, str, int]


class Count:
    """Steps and calls of each function, by its module, name and line."""

    def __init__(self) -> None:
        self.own: Counter[Place] = Counter()
        self.all: Counter[Place] = Counter()
        self.calls: Counter[Place] = Counter()
        self.steps = 0
        self._running: list[Place] = []

    def watch(self) -> None:
        """Count from here on."""
        from tsguard.analysis.python import PythonInterpreter, calls

        evaluate, run_body = PythonInterpreter.evaluate, calls.run_body

        def counted(interp: Any, node: Any, scope: Any) -> Any:
            self.steps += 1
            if self._running:
                self.own[self._running[-1]] += 1
            return evaluate(interp, node, scope)

        def followed(interp: Any, function: Any, *given: Any) -> Any:
            place = (function.module.name, function.name, function.node.lineno)
            self.calls[place] += 1
            before = self.steps
            self._running.append(place)
            try:
                return run_body(interp, function, *given)
            finally:
                self._running.pop()
                if place not in self._running:
                    self.all[place] += self.steps - before

        setattr(PythonInterpreter, "evaluate", counted)  # noqa: B010 - mypy takes no method for another
        setattr(calls, "run_body", followed)  # noqa: B010


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target")
    parser.add_argument("--top", type=int, default=30)
    options = parser.parse_args()
    count = Count()
    count.watch()
    from tsguard.cli import main as lint

    sys.argv = ["tsguard", "lint", "--isolated", "--no-cache", "--jobs", "1", "--exit-zero"]
    sys.argv += ["-o", os.devnull, options.target]
    with contextlib.suppress(SystemExit):
        lint()
    print(f"{count.steps:,} steps")
    print(f"{'own':>10} {'all':>10} {'calls':>8}  function")
    for place, own in count.own.most_common(options.top):
        module, name, line = place
        print(f"{own:10,} {count.all[place]:10,} {count.calls[place]:8,}  {module}:{line} {name}")


if __name__ == "__main__":
    main()
