"""Whether the recommendation of ``tsguard check`` agrees with what torch does, found out apart from it.

    python benchmarks/agreement.py FILE[:CLASS]...

Each module class is checked; then a process without tsguard makes the same module, scripts and
traces it, and compares both with eager on the inputs that were found and on many that differ from
them in values, batch and sizes. What the recommendation says of a backend is held against that:

- one that it recommends, or says to work, must be right on every input that eager takes;
- one named with a hazard must be wrong on some (it is counted apart: no user is led astray by it);
- "leave it eager" must mean that neither script nor trace is right.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

from label import NO_ANSWER, labels


def claims(recommendation: str) -> dict[str, str]:
    """What a recommendation says of script and of trace: "right", "wrong" or "hazard"."""
    first = recommendation.partition(". ")[0]
    said: dict[str, str] = {}
    does = re.match(r"(Script|Trace) ", first)
    works = re.match(r"It works with ([a-z_ ]+)", first)
    named = [does[1].lower()] if does else re.findall(r"script|trace", works[1]) if works else []
    doubtful = "if you can rule out" in first or "but gets some inputs wrong" in first
    said |= dict.fromkeys(named, "hazard" if doubtful else "right")
    if first.startswith("Leave it eager") and "slower" not in first and "constant" not in first:
        said |= {"script": "wrong", "trace": "wrong"}
    if "Do not trace it" in recommendation:
        said["trace"] = "wrong"
    if "To script it: " in recommendation:
        said["script"] = "wrong"
    return said


# -- holding the two against each other --------------------------------------------------------


def asked_of(target: Any) -> dict[str, Any] | None:
    """What the other process is to make; None where the check made nothing that can be written down."""
    from tsguard.project import Project

    if not target.constructor or not any(a.backend == "eager" and a.status == "ok" for a in target.attempts):
        return None
    module = Project().module(Path(target.path).absolute())
    words = shlex.split(target.inputs or "")
    inputs = [word for option, word in zip(words[::2], words[1::2], strict=False) if option == "--input"]
    return {
        "folder": str(module.root),
        "file": str(Path(target.path).absolute().relative_to(module.root)),
        "root": str(module.root),
        "search_paths": [],
        "module": module.name,
        "constructor": target.constructor,
        "inputs": inputs,
    }


def asked_torch(asked: dict[str, Any]) -> dict[str, str] | None:
    """What becomes of script and trace: "right", or in what they are wrong."""
    answers = labels(asked, ["script", "trace"])
    if any(answers.get(b, {"answer": "no call"})["answer"] in NO_ANSWER for b in ("script", "trace")):
        return None
    return {b: a["answer"] if a["answer"] == "right" else a["why"] for b, a in answers.items()}


def judged(said: dict[str, str], found: dict[str, str]) -> list[str]:
    """The contradictions, a line each."""
    told = []
    for backend, claim in said.items():
        is_right = found[backend] == "right"
        if (claim == "right" and not is_right) or (claim == "wrong" and is_right):
            told.append(f"{backend} is said to be {claim}, torch: {found[backend]}")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="+", metavar="FILE[:CLASS]")
    options = parser.parse_args()
    tally = held(options.targets)
    print(f"{sum(tally.values())} modules: {dict(tally)}")


def held(names: list[str]) -> Counter[str]:
    from tsguard.checking.run import CheckOptions, run
    from tsguard.runtime.launcher import Launcher
    from tsguard.settings.config import Settings
    from tsguard.settings.requests import parse

    settings = Settings(cache=False)
    check = CheckOptions(modes=("eval",), time_budget=0, workers=1)
    tally: Counter[str] = Counter()
    with Launcher() as launcher:
        for name in names:
            report, _ = run([parse(name, settings)], settings, check, launcher=launcher)
            for target in report.targets:
                asked = asked_of(target)
                found = asked_torch(asked) if asked is not None else None
                if found is None:
                    tally["not called" if asked is None else "no truth"] += 1
                    print(f"{target.target}: {'not called' if asked is None else f'no truth for {asked}'}")
                    continue
                said = claims(target.recommendation or "")
                wrong = judged(said, found)
                cautious = [b for b, claim in said.items() if claim == "hazard" and found[b] == "right"]
                tally["contradicted" if wrong else "agrees, too careful" if cautious else "agrees"] += 1
                print(f"{target.target}: {'; '.join(wrong) or 'agrees'}", flush=True)
                if wrong or cautious:
                    print(f"    {target.recommendation}\n    {asked}\n    {found}", flush=True)
    return tally


if __name__ == "__main__":
    main()
