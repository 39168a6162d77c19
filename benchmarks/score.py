"""How right ``tsguard lint`` is about labelled modules: coverage, recall and precision of each question.

    python benchmarks/score.py labelled.jsonl... [--question NAME]... [--list missed|false-alarm|unknown]
        [--without-packages]

Each target is linted from source with the constructor arguments of its label; what it takes, lint does not
learn.  Counted as in the report of a release: *coverage* is the share with a verdict; *recall* the share that
is told of what torch refuses or gets wrong and that has a verdict (``depends`` counts half), with "of all"
that of all there is; *precision* the share where torch agrees of what is told.  For ``batch`` the share that
is right is counted, an unknown as wrong, over those of which eager takes another batch.  ``trace searched``
holds the same verdicts against what the longer search of ``label.py`` found.  ``--without-packages`` lints as
where no package but the project's own files can be read.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

AT_ONCE = 25
WRONG = frozenset({"refused", "raises", "wrong"})


@dataclass(frozen=True)
class Question:
    """What of a target's report answers a question, which verdicts tell that it goes wrong, and which labels say so."""

    said: Callable[[dict[str, Any]], str]
    told: frozenset[str]
    wrong: frozenset[str] = WRONG
    is_right_or_wrong: bool = False


QUESTIONS = {
    "script": Question(lambda t: str(t["script"]["verdict"]), frozenset({"blocked", "broken", "depends"})),
    "trace": Question(lambda t: str(t["trace"]["verdict"]), frozenset({"hazardous", "depends"})),
    "trace searched": Question(lambda t: str(t["trace"]["verdict"]), frozenset({"hazardous", "depends"})),
    "mode": Question(
        lambda t: str(t["mode"]["verdict"]), frozenset({"dependent", "depends"}), frozenset({"dependent"})
    ),
    "export": Question(lambda t: str(t["export"]["verdict"]), frozenset({"refused"}), frozenset({"refused"})),
    "export or held": Question(lambda t: str(t["export"]["verdict"]), frozenset({"refused", "specialised"})),
    "batch": Question(
        lambda t: str(t["export"]["dynamic"]), frozenset({"refused", "specialised"}), is_right_or_wrong=True
    ),
    "compile": Question(lambda t: str(t["export"]["compile"]), frozenset({"breaks"}), frozenset({"refused"})),
}

LABELS = {"export or held": "export", "trace searched": "trace"}
"""The label of a question that has not its own."""


@dataclass(frozen=True)
class Held:
    """One verdict held against one label."""

    line: dict[str, Any]
    answer: dict[str, Any]
    verdict: str
    is_wrong: bool
    is_told: bool

    @property
    def kind(self) -> str:
        if self.verdict == "unknown":
            return "unknown"
        return "right" if self.is_wrong == self.is_told else "missed" if self.is_wrong else "false-alarm"


def linted(lines: list[dict[str, Any]], elsewhere: list[str]) -> dict[str, dict[str, Any]]:
    """The reports of targets of one project, by target; those of a lint that dies are missing."""
    folder = lines[0]["folder"]
    searched = list(dict.fromkeys([*(p for line in lines for p in line["search_paths"]), *elsewhere]))
    with tempfile.TemporaryDirectory() as place:
        config = Path(place, "tsguard.toml")
        config.write_text(f"search-paths = {json.dumps(searched)}\n")
        command = [
            sys.executable,
            "-m",
            "tsguard",
            "lint",
            "--for",
            "export",
            "--output-format",
            "json",
            "--exit-zero",
        ]
        command += ["--no-cache", "--jobs", "1", "--config", str(config), *(line["target"] for line in lines)]
        # A module of the project named like one of Python's own must not stand in its place.
        safe = {**os.environ, "PYTHONSAFEPATH": "1"}
        ran = subprocess.run(command, cwd=folder, env=safe, capture_output=True, text=True, check=False)
    try:
        return {target["target"]: target for target in json.loads(ran.stdout)["targets"]}
    except ValueError:
        if len(lines) > 1:
            return {t: report for line in lines for t, report in linted([line], elsewhere).items()}
        return {}


def reports(
    lines: Iterable[dict[str, Any]], workers: int, elsewhere: list[str]
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Each labelled line with its report."""
    projects = defaultdict(list)
    for line in lines:
        projects[line["folder"]].append(line)
    jobs = []
    for each in projects.values():
        left = iter(each)
        while part := list(islice(left, AT_ONCE)):
            jobs.append(part)
    with ThreadPoolExecutor(workers) as threads:
        for part, found in zip(jobs, threads.map(partial(linted, elsewhere=elsewhere), jobs), strict=True):
            yield from ((line, found.get(line["target"])) for line in part)


def held(question: str, line: dict[str, Any], report: dict[str, Any] | None) -> Held | None:
    """The verdict on a target against its label; None where torch has no say."""
    asked = QUESTIONS[question]
    answer = line["labels"].get(LABELS.get(question, question), {"answer": "no call"})
    if question == "trace searched":
        answer = answer.get("searched", answer)
    if answer["answer"] in ("no call", "timeout", "crashed", "alone"):
        return None
    verdict = asked.said(report) if report is not None else "unknown"
    return Held(line, answer, verdict, answer["answer"] in asked.wrong, verdict in asked.told)


def summary(question: str, every: list[Held]) -> str:
    count = Counter(one.kind for one in every)
    wrong = [one for one in every if one.is_wrong]
    decided = [one for one in wrong if one.verdict != "unknown"]
    found = sum(0.5 if one.verdict == "depends" else 1.0 for one in decided if one.is_told)
    told = [one for one in every if one.is_told]
    true = sum(one.is_wrong for one in told)
    if QUESTIONS[question].is_right_or_wrong:
        return f"{question:15} {len(every):4}  right {share(count['right'], len(every))}, unknown {count['unknown']}"
    return (
        f"{question:15} {len(every):4}  coverage {share(len(every) - count['unknown'], len(every))}"
        f"  recall {share(found, len(decided))} (of all {share(found, len(wrong))})"
        f"  precision {share(true, len(told))}"
    )


def share(part: float, whole: int) -> str:
    return f"{part:g}/{whole} = {part / whole:.3f}" if whole else "0/0"


def shown(one: Held, report: dict[str, Any] | None) -> str:
    why = (report or {}).get("export", {}).get("unknown", []) if one.verdict == "unknown" else []
    gaps = "".join(f"\n    {gap['path']}:{gap['line']}: {gap['why']}" for gap in why[:3])
    place = f"{one.answer.get('file', '')}:{one.answer.get('line', '')}"
    return f"{one.line['folder']} {one.line['target']}\n    {one.verdict}; torch: {one.answer['answer']} {one.answer.get('why', '')} {place}{gaps}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labelled", nargs="+", type=Path)
    parser.add_argument("--question", action="append", choices=QUESTIONS)
    parser.add_argument("--list", choices=("missed", "false-alarm", "unknown"))
    parser.add_argument("--without-packages", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    lines = [json.loads(line) for path in options.labelled for line in path.read_text().splitlines()]
    elsewhere = [] if options.without_packages else sys.path[1:]
    judged = list(reports(lines, options.workers, elsewhere))
    for question in options.question or QUESTIONS:
        pairs = [
            (one, report) for line, report in judged if (one := held(question, line, report)) is not None
        ]
        print(summary(question, [one for one, _ in pairs]))
        for one, report in pairs if options.list else ():
            if one.kind == options.list:
                print(shown(one, report))


if __name__ == "__main__":
    main()
