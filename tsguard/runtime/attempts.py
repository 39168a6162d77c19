"""The attempts on one target, over as many worker processes as it takes.

A worker that dies takes one attempt with it: that one is reported as crashed, and a new
worker goes on with the next.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import cast

from tsguard.report import Attempt, AttemptError, AttemptStatus, Speedup
from tsguard.runtime import events
from tsguard.runtime.budgets import TOO_CLOSE
from tsguard.runtime.endings import crash_error, crash_message, internal_failure, shown_error, shown_path
from tsguard.runtime.events import Event
from tsguard.runtime.intervals import Interval, hull
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Outcome, Task

_ISOLATED = frozenset({"onednn", "compile", "export", "export_dynamic", "aot_inductor"})
# They call a C++ compiler for each graph.
_PATIENCE = {"compile": 10.0, "aot_inductor": 10.0}
_STEPS = ("start", "import", "construct", "example_inputs", "inputs")

Run = Callable[[Task, Callable[[Event], None] | None], Outcome]
Step = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a target could not be called: the step that failed and what to add.

    ``fault`` tells that it was no exception that one catches: a crash, a hang, an exit.
    ``tried`` is the guess that it happened with, as expressions, if it was one.
    """

    step: str
    error: AttemptError
    needed: tuple[str, ...] = ()
    fault: bool = False
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Blocker:
    """What torch refuses at a place; a ``follow_up`` may come from what was taken out before."""

    error: AttemptError
    follow_up: bool


@dataclass(slots=True)
class TargetAttempts:
    """What is known of one target after its attempts.

    ``places`` are, for each attempt, all places in the user's code that its error named;
    ``tried`` is the guess that a worker was busy with; ``interrupted`` says that the run
    ended before it was attempted.
    """

    subject: Subject
    constructor: str | None = None
    inputs: tuple[str, ...] | None = None
    source: str | None = None
    guessed: bool = False
    attempts: dict[AttemptSpec, Attempt] = field(default_factory=dict)
    places: dict[AttemptSpec, list[tuple[str, int]]] = field(default_factory=dict)
    blockers: list[Blocker] = field(default_factory=list)
    stop: Stop | None = None
    tried: tuple[str, ...] = ()
    output: str = ""
    interrupted: bool = False

    @property
    def callable(self) -> bool:
        """Whether something was constructed and called."""
        return self.source is not None

    @property
    def settled(self) -> Subject:
        """The subject with what was found, so that nobody has to search again."""
        if self.source is None:
            return self.subject
        inputs = self.inputs if self.inputs is not None else self.subject.inputs
        made = self.constructor or self.subject.constructor
        guessed = self.source == "inferred" or self.subject.guessed
        return replace(self.subject, constructor=made, inputs=inputs, guessed=guessed)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A target and the attempts to make on it."""

    subject: Subject
    specs: tuple[AttemptSpec, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits and settings that all attempts share; ``save`` is where artifacts are kept."""

    limits: Limits = field(default_factory=Limits)
    settings: Settings = field(default_factory=Settings)
    save: Path | None = None


def attempt_target(
    run: Run,
    subject: Subject,
    specs: Iterable[AttemptSpec],
    bounds: Bounds,
    step: Step = lambda text: None,
) -> TargetAttempts:
    """Make attempts on one target.

    Args:
        run: has a task done, as ``Launcher.run`` does.
    """
    known = TargetAttempts(subject)
    together = [spec for spec in specs if spec.backend not in _ISOLATED]
    for batch in [together, *([spec] for spec in specs if spec.backend in _ISOLATED)]:
        _until_done(run, known, batch, bounds, step)
    _confirm(run, known, bounds, step)
    return known


def _until_done(
    run: Run, known: TargetAttempts, specs: list[AttemptSpec], bounds: Bounds, step: Step
) -> None:
    remaining = specs
    while remaining and (known.stop is None or known.callable):
        collected = _Collector(known, bounds, run, step)
        outcome = run(_task(known, remaining, bounds), collected.on_event)
        known.output = known.output or outcome.output
        if outcome.ending == "finished" and collected.failure is None:
            return
        error = collected.failure or crash_error(outcome, known.subject)
        remaining = _after_crash(known, remaining, outcome, error)


def _task(known: TargetAttempts, specs: list[AttemptSpec], bounds: Bounds) -> Task:
    argument = {
        "subject": known.settled.to_json(),
        "settings": bounds.settings.to_json(),
        "attempts": [asdict(spec) for spec in specs],
    }
    fresh = any(spec.device != "cpu" for spec in specs)
    patience = max(_PATIENCE.get(spec.backend, 1.0) for spec in specs)
    limits = replace(bounds.limits, seconds=bounds.limits.seconds * patience)
    return Task("tsguard.runtime.worker.session:attempts", argument, limits, fresh, os.getcwd())


class _Collector:
    """Turns the events of a worker into attempts."""

    def __init__(self, known: TargetAttempts, bounds: Bounds, run: Run, step: Step) -> None:
        self.known = known
        self.bounds = bounds
        self.run = run
        self.step = step
        self.failure: AttemptError | None = None

    def on_event(self, event: Event) -> None:
        known = self.known
        match event:
            case events.Phase():
                known.tried = event.tried or ()
                self.step(f"{known.subject.spec}: {event.phase}")
            case events.Constructed():
                known.constructor = event.expression
                known.guessed |= event.guessed
            case events.InputsFound():
                known.inputs = event.expressions
                known.source = known.source or event.source
                known.guessed |= event.source == "inferred"
            case events.Stopped():
                tried = known.tried if event.fault else ()
                error = shown_error(event.error, known.subject)
                known.stop = Stop(event.step, error, event.needed, event.fault, tried)
            case events.InternalError():
                self.failure = AttemptError("InternalError", internal_failure(event))
            case events.Attempted():
                self._book(event)

    def _book(self, event: events.Attempted) -> None:
        known, spec = self.known, AttemptSpec.of(event.attempt)
        before = known.attempts.get(spec)
        if spec.backend == "eager" and before is not None and event.attempt.note is None:
            return
        attempt = _shown(event.attempt, known.subject)
        if before is not None and before.saved is not None:
            attempt = replace(
                attempt, saved=before.saved, note=before.note if not before.saved else attempt.note
            )
        elif event.artifact is not None:
            attempt = self._reloaded(attempt, event.artifact)
        known.attempts[spec] = attempt
        known.places[spec] = [(shown_path(path, known.subject), line) for path, line in event.places]

    def _reloaded(self, attempt: Attempt, artifact: events.Artifact) -> Attempt:
        """Load the artifact where the user's code cannot be imported, and compare there."""
        spec, saved = AttemptSpec.of(attempt), Path(artifact.path)
        if self.bounds.save is not None:
            name = f"{self.known.subject.qualname}.{spec.phase.replace(' ', '.')}{saved.suffix}"
            self.bounds.save.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(saved, self.bounds.save / name)
        argument = {**asdict(artifact), "device": spec.device}
        entry, fresh = "tsguard.runtime.worker.reloading:reload", spec.device != "cpu"
        outcome = self.run(Task(entry, argument, self.bounds.limits, fresh, str(saved.parent)), None)
        found = next((event for event in outcome.events if isinstance(event, events.Reloaded)), None)
        wrong = crash_message(outcome) if found is None else found.wrong
        return replace(attempt, saved=True) if wrong is None else _useless(attempt, wrong)


def _shown(attempt: Attempt, subject: Subject) -> Attempt:
    """The same with paths as reports write them."""

    def placed(errors: Iterable[AttemptError]) -> tuple[AttemptError, ...]:
        return tuple(shown_error(error, subject) for error in errors)

    error = shown_error(attempt.error, subject) if attempt.error is not None else None
    warnings, breaks = placed(attempt.warnings), placed(attempt.breaks)
    return replace(attempt, error=error, warnings=warnings, breaks=breaks)


def _useless(attempt: Attempt, why: str) -> Attempt:
    return replace(attempt, saved=False, note=f"cannot be used elsewhere once saved: {why}")


def _after_crash(
    known: TargetAttempts, specs: list[AttemptSpec], outcome: Outcome, error: AttemptError
) -> list[AttemptSpec]:
    """Book a worker's death on the step it happened in; what is left to do."""
    status: AttemptStatus = "timeout" if outcome.ending == "timeout" else "crashed"
    phase = outcome.phase.removeprefix("wait to ").removeprefix("time ")
    if phase in _STEPS:
        known.stop = known.stop or Stop(phase, error, fault=True, tried=known.tried)
        known.source = None
        return []
    if phase.startswith("eager "):
        group = [s for s in specs if AttemptSpec("eager", s.device, s.mode, s.dtype).phase == phase]
        first = group[0] if group else specs[0]
        eager = AttemptSpec("eager", first.device, first.mode, first.dtype)
        known.attempts[eager] = _lost(eager, status, error)
        for spec in group:
            known.attempts[spec] = _lost(spec, "skipped", note="eager itself crashes with these inputs")
        return [s for s in specs if s not in group and s not in known.attempts]
    for spec in specs:
        if spec.phase == phase:
            before = known.attempts.get(spec)
            untimed = replace(before, note=f"it was not timed: {error.message}") if before else None
            known.attempts[spec] = untimed or _lost(spec, status, error)
    rest = [s for s in specs if s not in known.attempts]
    return rest if len(rest) < len(specs) else []


def _lost(
    spec: AttemptSpec, status: AttemptStatus, error: AttemptError | None = None, note: str | None = None
) -> Attempt:
    return spec.ended(status, error, note, "forward+backward" if spec.mode == "train" else "forward")


def _confirm(run: Run, known: TargetAttempts, bounds: Bounds, step: Step) -> None:
    """Measure small differences again in another process: weights may lie better in one.

    Both measurements must agree, so what is reported is their hull.
    """
    if not bounds.settings.confirm:
        return
    close = [s for s, a in known.attempts.items() if a.speedup is not None and _is_close(a.speedup)]
    if not close:
        return
    second = TargetAttempts(known.subject, known.constructor, known.inputs, known.source)
    again = replace(
        bounds, save=None, settings=replace(bounds.settings, folder=None, confirm=False, only_time=True)
    )
    for batch in [
        [s for s in close if s.backend not in _ISOLATED],
        *([s] for s in close if s.backend in _ISOLATED),
    ]:
        _until_done(run, second, batch, again, step)
    for spec in close:
        other = second.attempts.get(spec)
        if other is not None and other.speedup is not None:
            first = known.attempts[spec]
            known.attempts[spec] = replace(
                first, speedup=_joined(cast(Speedup, first.speedup), other.speedup)
            )


def _is_close(speedup: Speedup) -> bool:
    return speedup.conclusion in ("faster", "slower") and abs(speedup.median - 1) < TOO_CLOSE


def _joined(first: Speedup, second: Speedup) -> Speedup:
    sides = (Interval(s.median, s.low, s.high, s.rounds) for s in (first, second))
    return hull(*sides).speedup()
