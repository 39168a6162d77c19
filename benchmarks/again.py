"""What linting a project costs again: unchanged, and after an edit of each definition of one file.

    python benchmarks/again.py [--rounds N] FOLDER FILE

The folder is copied.  Each round lints it cold, then unchanged, then once after each edit: a comment in
a top-level class or function of FILE, which is judged anew with all that names it.  One process;
printed are medians of user and system CPU time, and the share of the cold run.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


def cost(folder: Path, cache: Path, bytecode: str) -> float:
    """The CPU seconds of one lint, with the bytecode that an installed package has."""
    command = [sys.executable, "-m", "tsguard", "lint", "--jobs", "1", "--exit-zero", "-o", os.devnull, "."]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "TSGUARD_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def edits(text: str) -> dict[str, str]:
    """The text with a comment in each top-level class and function, by their names."""
    lines = text.splitlines(keepends=True)
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            at = node.body[-1].lineno - 1
            found[node.name] = "".join([*lines[:at], "    # edited\n", *lines[at:]])
    return found


def measure(project: Path, file: Path, rounds: int) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as bytecode:
        cost(project, Path(bytecode, "cache"), bytecode)
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as place:
                folder, cache = Path(place, "project"), Path(place, "cache")
                shutil.copytree(project, folder)
                edited = folder / file.relative_to(project)
                text = edited.read_text(encoding="utf-8")
                costs["cold"].append(cost(folder, cache, bytecode))
                costs["unchanged"].append(cost(folder, cache, bytecode))
                for name, changed in edits(text).items():
                    edited.write_text(changed, encoding="utf-8")
                    costs[f"{name} edited"].append(cost(folder, cache, bytecode))
                    edited.write_text(text, encoding="utf-8")
                    cost(folder, cache, bytecode)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    costs = measure(options.folder.resolve(), options.file.resolve(), options.rounds)
    cold = statistics.median(costs["cold"])
    for name, each in costs.items():
        median = statistics.median(each)
        print(f"{name:32} {median:7.3f} s  {median / cold:6.3f}")


if __name__ == "__main__":
    main()
