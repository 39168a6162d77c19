"""Asks torch and tsguard about the same programs, and counts where they agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.programs import Program
from tests.torch_here import RELEASE
from tsguard.analysis.python import Program as Sources
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target
from tsguard.settings.environment import find_environment

BAD = ("blocked", "broken")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What torch did with a program (``ok``, ``blocked``, ``broken``) and what tsguard said of it.

    The outcome is ``unrun`` where it compiles and eager fails: whether it is broken is not known.
    ``line`` is where torch points, ``lines`` those of tsguard's findings.
    """

    program: Program
    outcome: str
    message: str
    line: int | None
    verdict: str
    lines: tuple[int, ...]

    @property
    def agrees(self) -> bool:
        if self.verdict == "unknown" or (self.verdict, self.outcome) == ("broken", "unrun"):
            return True
        return (self.verdict in BAD) == (self.outcome in BAD)


def compare(programs: Sequence[Program], folder: Path) -> list[Comparison]:
    """Have both judge every program that eager Python can construct.

    Raises:
        subprocess.CalledProcessError: torch's process failed.
    """
    placed = [(folder / f"program_{number}.py", program) for number, program in enumerate(programs)]
    for path, program in placed:
        path.write_text(program.source)
    return compare_in_place(placed)


def compare_in_place(placed: Sequence[tuple[Path, Program]]) -> list[Comparison]:
    """The same of programs that are files already.

    Raises:
        subprocess.CalledProcessError: torch's process failed.
    """
    requests = [
        {"path": str(path), "inputs": program.inputs, "target": program.target} for path, program in placed
    ]
    answers = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("torch_says.py"))],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [
        _compared(program, path, json.loads(answer))
        for (path, program), answer in zip(placed, answers, strict=True)
        if json.loads(answer)["outcome"] != "invalid"
    ]


def _compared(program: Program, path: Path, said: dict[str, object]) -> Comparison:
    environment = find_environment(path.parent)
    project = Project((path.parent, *(environment.folders if environment is not None else ())))
    outcome = judge_script(Sources(project, RELEASE), find_target(project.module(path), program.target))
    return Comparison(
        program,
        str(said["outcome"]),
        str(said["message"]),
        said["line"] if isinstance(said["line"], int) else None,
        outcome.verdict,
        tuple(event.span.line for event, _ in outcome.events),
    )


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares in 0..1 over comparisons, as a reader of verdicts would count them; 1 of nothing.

    coverage: not ``unknown``; recall: of what torch refuses or breaks, what was foreseen;
    precision: of what was called blocked or broken, what torch refuses or breaks; location:
    of refusals foreseen, those with a finding on torch's line.
    """

    programs: int
    coverage: float
    recall: float
    precision: float
    location: float


def figures(comparisons: Iterable[Comparison]) -> Figures:
    every = [c for c in comparisons if (c.verdict, c.outcome) != ("broken", "unrun")]
    decided = [c for c in every if c.verdict != "unknown"]
    bad = [c for c in decided if c.outcome in BAD]
    called = [c for c in decided if c.verdict in BAD]
    hit = [c for c in called if c.outcome in BAD]
    placed = [c for c in hit if c.outcome == "blocked" and c.line is not None]
    return Figures(
        len(every),
        _share(len(decided), len(every)),
        _share(len(hit), len(bad)),
        _share(len(hit), len(called)),
        _share(sum(c.line in c.lines for c in placed), len(placed)),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
