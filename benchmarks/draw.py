"""Modules of real code that can be called, to measure on: drawn by chance, a line of JSON each.

    python benchmarks/draw.py -o drawn.jsonl [--seed N] [--most N] FOLDER...

Each FOLDER is a project: a checkout or an installed package.  Of its module classes, in an order that the
seed decides, each is constructed and called by a worker process, with arguments and inputs that it finds
as ``tsguard check`` does; those that can be called are written, at most ``--most`` of a project.  What the
file holds already is not drawn again, and what was tried in vain is noted in it with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tsguard.project import Project
from tsguard.project.targets import Target, targets_of
from tsguard.runtime.events import Constructed, InputsFound, Stopped
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import Settings
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Task

LIMITS = Limits(seconds=30, memory_mb=4_000)
NOT_MODELS = ("test", "setup.py", "conftest.py", "docs", "example_", ".")


def classes(folder: Path) -> list[Target]:
    """Every module class of a project, but for its tests."""
    project = Project((folder, folder / "src"))
    found = []
    for file in sorted(folder.rglob("*.py")):
        if not any(part.startswith(NOT_MODELS) for part in file.relative_to(folder).parts):
            try:
                targets = targets_of(project, project.module(file))
            except (SyntaxError, UnicodeDecodeError, RecursionError):
                continue
            found += [t for t in targets if t.kind == "module"]
    return found


def subject(folder: Path, target: Target) -> Subject:
    module = target.module
    # Scripts of a folder that is no package import what lies beside them.
    beside = Path(target.path).parent
    own = () if (beside / "__init__.py").exists() else (str(beside),)
    paths = (str(folder), str(folder / "src"), *own)
    return Subject(
        target.qualname, target.path, target.path, str(module.root), module.name, target.qualname, "module", search_paths=paths
    )  # fmt: skip


def drawn(launcher: Launcher, folder: Path, target: Target) -> dict[str, Any]:
    """What is written of one class: how it is made and called, or why not."""
    wanted = subject(folder, target)
    argument = {"subject": wanted.to_json(), "settings": Settings(timing_seconds=0).to_json(), "attempts": []}
    outcome = launcher.run(Task("tsguard.runtime.worker.session:attempts", argument, LIMITS))
    file = os.path.relpath(target.path, folder)
    line: dict[str, Any] = {
        "project": folder.name,
        "folder": str(folder),
        "file": file,
        "class": target.qualname,
    }
    made = [e.expression for e in outcome.events if isinstance(e, Constructed)]
    inputs = [e.expressions for e in outcome.events if isinstance(e, InputsFound)]
    if not inputs or not made or made[-1] is None or inputs[-1] is None:
        stop = next((e for e in outcome.events if isinstance(e, Stopped)), None)
        why = f"{stop.step}: {stop.error.type}: {stop.error.message}" if stop else outcome.ending
        return {**line, "stopped": why[:300]}
    return {
        **line,
        "target": f"{file}:{made[-1]}",
        "root": wanted.root,
        "module": wanted.module,
        "search_paths": list(wanted.search_paths),
        "constructor": made[-1],
        "inputs": list(inputs[-1]),
    }


def draw(launcher: Launcher, folder: Path, known: set[str], most: int, seed: int) -> Iterable[dict[str, Any]]:
    """The lines of a project, until there are ``most`` or three times as many were tried."""
    found = [t for t in classes(folder) if f"{t.path}:{t.qualname}" not in known]
    random.Random(f"{seed} {folder.name}").shuffle(found)
    count, workers = 0, len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(workers) as threads:
        for start in range(0, min(len(found), 3 * most), workers):
            part = found[start : start + workers]
            for line in threads.map(lambda target: drawn(launcher, folder, target), part):
                count += "target" in line
                yield line
            if count >= most:
                return


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=12, help="modules of one project")
    options = parser.parse_args()
    before = options.output.read_text().splitlines() if options.output.exists() else []
    lines = [json.loads(line) for line in before]
    done = {f"{line['folder']}/{line['file']}:{line['class']}" for line in lines}
    tally = Counter(line["project"] for line in lines if "target" in line)
    with Launcher() as launcher, open(options.output, "a") as output:
        for folder in (f.resolve() for f in options.folders):
            most = options.most - tally[folder.name]
            for line in draw(launcher, folder, done, most, options.seed) if most > 0 else ():
                tally[folder.name] += "target" in line
                print(json.dumps(line), file=output, flush=True)
            print(f"{folder.name}: {tally[folder.name]}", flush=True)
    print(f"{sum(tally.values())} modules of {len(+tally)} projects")


if __name__ == "__main__":
    main()
