"""How many refused modules script after ``tsguard fix``, and after ``lint --fix --unsafe-fixes`` alone.

    python benchmarks/repair_rate.py [--way fix|lint] [--jobs N] [--most N] [--out FILE] SET.jsonl

Each line of the set is a target: {"target": "FILE:Net(64)", "inputs": ["torch.rand(2, 64)"], "project": "name", "folder": "PROJECT"};
without inputs tsguard finds some, "project" is what counts together under --most, and "folder" where the command is run. Each is repaired in a
copy, by the command, and the copy that this leaves is judged anew by torch: it has to script, its compiled
code to agree with eager, and eager to give what the untouched code gave, with the same keys in the state
dict. What scripts before counts too: none of it may be lost.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tsguard.project.finding import Finder
from tsguard.repairing.judging import judged
from tsguard.repairing.scratch import Scratch, scratch
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse

REFUSED = ("refused", "raises", "diverges")
PATIENCE = 400
"""Seconds for one command."""


@dataclass(frozen=True)
class Outcome:
    """What torch and eager said of a target before and after, and why it is refused still."""

    target: str
    project: str
    before: str
    after: str
    seconds: float
    reason: str = ""
    said: str = ""


def subject_of(line: dict[str, Any]) -> Subject:
    request = parse(line["target"], Settings())
    file, expression = request.path.absolute(), request.expression or ""
    module = Finder(()).of_file(file, shown=str(file))
    made = expression if "(" in expression else None
    inputs = tuple(line["inputs"]) if line.get("inputs") else None
    name = expression.partition("(")[0]
    root = str(module.root)
    folder = line.get("folder")
    paths = (folder, str(Path(folder, "src"))) if folder else ()
    return Subject(
        line["target"],
        str(file),
        str(file),
        root,
        module.name,
        name,
        "module",
        made,
        inputs,
        search_paths=paths,
    )


def command(way: str, subject: Subject) -> list[str]:
    if way == "lint":
        asked = ["lint", "--fix", "--unsafe-fixes", "--select", "TSG1", "--exit-zero", "--no-cache"]
        return [sys.executable, "-m", "tsguard", *asked, "--isolated", subject.file]
    inputs = [part for text in subject.inputs or () for part in ("--input", text)]
    target = f"{subject.file}:{subject.constructor or subject.qualname}"
    return [sys.executable, "-m", "tsguard", "fix", "--isolated", "--write", "--allow-dirty", *inputs, target]


def measure(launcher: Launcher, line: dict[str, Any], way: str) -> Outcome:
    subject = subject_of(line)
    name, project = line["target"], line.get("project") or Path(subject.root).name
    with scratch(subject) as place:
        there, kept = place.subject(subject), place.copy.parent / "kept.pt"
        before = judged(launcher, there, kept, Limits())
        if before.status not in ("ok", *REFUSED):
            return Outcome(name, project, before.status, before.status, 0.0)
        started = time.monotonic()
        try:
            done = subprocess.run(
                command(way, there),
                cwd=_project(place, line),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            said = done.stderr
        except subprocess.TimeoutExpired:
            said = "ended at the limit of time"
        seconds = time.monotonic() - started
        after = judged(launcher, there, kept, Limits())
        reason = after.changed or (after.error.message if after.error else "")
        return Outcome(name, project, before.status, after.status, seconds, reason, said)


def _project(place: Scratch, line: dict[str, Any]) -> Path:
    """The folder of the copy that people would run a command in."""
    return place.there(line["folder"]) if "folder" in line else place.copy


def told(outcomes: list[Outcome], most: int) -> None:
    """The rates, over all and over at most so many of each project, and why the rest is refused still."""
    taken: dict[str, int] = defaultdict(int)
    refused = [one for one in outcomes if one.before in REFUSED]
    few = []
    for one in refused:
        taken[one.project] += 1
        if taken[one.project] <= most:
            few.append(one)
    for title, found in (("all", refused), (f"at most {most} of a project", few)):
        good = sum(one.after == "ok" for one in found)
        share = f"{good / len(found):.0%}" if found else "-"
        print(f"refused, {title}: {good} of {len(found)} script afterwards ({share})")
    spoiled = [one for one in refused if one.after not in ("ok", *REFUSED)]
    print(f"refused, and eager is not what it was: {len(spoiled)}")
    scripted = [one for one in outcomes if one.before == "ok"]
    print(f"scripted before: {len(scripted)}, lost: {sum(one.after != 'ok' for one in scripted)}")
    print("why the rest is refused still:")
    reasons = Counter(first_words(one) for one in refused if one.after != "ok")
    for reason, number in reasons.most_common():
        print(f"  {number:3}  {reason}")


def first_words(one: Outcome) -> str:
    lines = [line.strip(" :") for line in one.reason.splitlines() if line.strip(" :")]
    return f"{one.after}: {lines[0][:110] if lines else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", type=Path)
    parser.add_argument("--way", choices=("fix", "lint"), default="fix")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a file for one line of JSON per target")
    options = parser.parse_args()
    lines = [json.loads(text) for text in options.set.read_text(encoding="utf-8").splitlines() if text]
    outcomes = []
    with Launcher() as launcher, ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda line: measure(launcher, line, options.way), lines):
            outcomes.append(outcome)
            print(
                f"{outcome.before:8} {outcome.after:8} {outcome.seconds:4.0f} s  {outcome.target}", flush=True
            )
            if options.out is not None:
                with options.out.open("a", encoding="utf-8") as sink:
                    sink.write(json.dumps(asdict(outcome)) + "\n")
    told(outcomes, options.most)


if __name__ == "__main__":
    main()
