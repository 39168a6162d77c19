"""Our side of measuring a DataLoader: worker processes, as many as it takes, and what they say."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tsguard.report import (
    Attempt,
    AttemptError,
    AttemptStatus,
    BatchCost,
    LoaderReport,
    Throughput,
)
from tsguard.runtime import events
from tsguard.runtime.advice import advised
from tsguard.runtime.budgets import BUSY
from tsguard.runtime.endings import crash_error, internal_failure, shown_error
from tsguard.runtime.events import Event
from tsguard.runtime.knee import Rounds, Step, gain, recommended
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Outcome, Task
from tsguard.runtime.usercode import UserCode

_ENTRY = "tsguard.runtime.worker.loaders.session:measure"
_PINNING = "tsguard.runtime.worker.loaders.pinning:measure"
_SWEEP = "workers "
_UNPICKLABLE = "cannot be sent to workers that are spawned, as on macOS and Windows"
_REPEATED = "two workers begin with the same batch: each goes through the whole dataset (TSG516)"

Run = Callable[[Task, Callable[[Event], None] | None], Outcome]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LoaderJob:
    """One loader to measure, within what limits; ``gpu`` tells that there is one to copy batches to."""

    subject: Subject
    task: LoaderTask
    limits: Limits = field(default_factory=Limits)
    gpu: bool = False


def measure_loader(run: Run, job: LoaderJob, progress: Progress = lambda text: None) -> LoaderReport:
    """Measure one loader; whatever happens in its processes becomes part of the report.

    Args:
        run: has a task done, as ``Launcher.run`` does.
    """
    until = time.monotonic() + job.task.seconds
    found = _Found(job, progress)
    task = job.task
    while True:
        outcome = run(_as_task(job, task, _ENTRY), found.on_event)
        found.places_from(outcome)
        if outcome.ending == "finished" or found.report.error is not None:
            break
        if not found.survives(outcome):
            break
        left = until - time.monotonic()
        if left < 1:
            break
        task = replace(task, seconds=left, skipped=tuple(sorted(found.rounds.failed)), steps=("workers",))
    if job.gpu and found.rounds.rates:
        pinned = replace(
            task, seconds=max(until - time.monotonic(), 5.0), workers=(recommended(found.rounds),)
        )
        run(_as_task(job, pinned, _PINNING, fresh=True), found.on_event)
    return found.finished()


def _as_task(job: LoaderJob, task: LoaderTask, entry: str, fresh: bool = False) -> Task:
    argument = {"subject": job.subject.to_json(), "task": task.to_json()}
    return Task(entry, argument, job.limits, fresh)


class _Found:
    """Turns the events of the workers into a report."""

    def __init__(self, job: LoaderJob, progress: Progress) -> None:
        self.job = job
        self.progress = progress
        self.report = LoaderReport(job.subject.spec, cores=job.task.cores)
        self.rounds = Rounds(0, job.task.most_workers, job.task.cores)
        self.first_batches: dict[int, list[float]] = {}
        self.broken: dict[int, Throughput] = {}
        self.foreign: list[float] = []
        self.process = 0

    def on_event(self, event: Event) -> None:
        match event:
            case events.Phase():
                self.progress(f"{self.job.subject.spec}: {event.phase}")
            case events.LoaderFound():
                self._found_loader(event)
            case events.Stopped():
                self._end(event.step, self._shown(event.error))
            case events.InternalError():
                self._end("measuring", AttemptError("InternalError", internal_failure(event)))
            case events.CostMeasured():
                self._found_cost(event.cost)
            case events.Collated():
                self._found_collate(event.attempt)
            case events.Unpicklable():
                self._note(*(f"{part} {_UNPICKLABLE}: {why}" for part, why in event.parts))
            case events.Repeated():
                self._note(*[_REPEATED] * event.repeated)
            case events.TurnTaken():
                self._found_turn(event)
            case events.TurnFailed():
                self._break(event.workers, event.status, self._shown(event.error))
            case events.Pinned():
                self._found_pinned(event)

    def _end(self, step: str, error: AttemptError) -> None:
        self.report = replace(self.report, step=step, error=error)

    def _found_loader(self, event: events.LoaderFound) -> None:
        self.report = replace(
            self.report,
            dataset=event.dataset,
            kind=event.kind,
            length=event.length,
            batch_size=event.batch_size,
            collate=event.collate,
            collate_is_compiled=event.collate_is_compiled,
            settings=event.settings,
        )
        self.rounds.current = event.settings.num_workers

    def _found_cost(self, cost: BatchCost) -> None:
        self.report = replace(self.report, cost=cost)
        if self.job.task.step_seconds:
            self.rounds.step = Step(self.job.task.step_seconds, cost.items)

    def _found_collate(self, attempt: Attempt) -> None:
        shown = replace(attempt, error=self._shown(attempt.error)) if attempt.error is not None else attempt
        self.report = replace(self.report, collating=(*self.report.collating, shown))

    def _found_turn(self, event: events.TurnTaken) -> None:
        # Rounds of different processes are not pairs.
        self.rounds.add(event.workers, 1000 * self.process + event.round, event.rate)
        self.first_batches.setdefault(event.workers, []).append(event.first_batch_seconds)
        if event.foreign is not None:
            self.foreign.append(event.foreign)

    def _found_pinned(self, event: events.Pinned) -> None:
        cost = self.report.cost
        if cost is not None:
            cost = replace(cost, transfer_seconds=event.transfer_seconds)
        self.report = replace(self.report, pinned=event.speedup, cost=cost)

    def _break(self, workers: int, status: AttemptStatus, error: AttemptError) -> None:
        self.rounds.failed.add(workers)
        self.rounds.rates.pop(workers, None)
        self.broken[workers] = Throughput(workers, status, error=error)

    def _note(self, *texts: str) -> None:
        self.report = replace(self.report, notes=tuple(dict.fromkeys((*self.report.notes, *texts))))

    def survives(self, outcome: Outcome) -> bool:
        """Book the end of a worker process; whether the measurement can go on in another."""
        status: AttemptStatus = "timeout" if outcome.ending == "timeout" else "crashed"
        error = crash_error(outcome, self.job.subject)
        phase = outcome.phase
        if phase.startswith("collate "):
            backend = phase.removeprefix("collate ")
            attempt = Attempt(backend, "cpu", "eval", "forward", status, error)
            self.report = replace(self.report, collating=(*self.report.collating, attempt))
        elif phase.startswith(_SWEEP):
            workers = int(phase.removeprefix(_SWEEP))
            self._break(workers, status, error)
            if workers == 0:
                return False
        elif phase != "compare workers":
            self.report = replace(self.report, step=phase, error=error)
            return False
        self.process += 1
        return phase != "compare workers"

    def places_from(self, outcome: Outcome) -> None:
        """The user's line for workers that hang or die, from the stacks that they left."""
        code = UserCode.around(self.job.subject.file, self.job.subject.module)
        place = code.place_in_fault(outcome.fault)
        for workers, row in self.broken.items() if place is not None else ():
            stackless = row.status in ("timeout", "crashed")
            if place is not None and stackless and row.error is not None and row.error.path is None:
                error = self._shown(replace(row.error, path=place[0], line=place[1]))
                self.broken[workers] = replace(row, error=error)

    def _shown(self, error: AttemptError) -> AttemptError:
        return shown_error(error, self.job.subject)

    def finished(self) -> LoaderReport:
        """The report with what the turns come to."""
        if self.foreign and statistics.median(self.foreign) > BUSY:
            share = statistics.median(self.foreign)
            self._note(
                f"other processes used {share:.0%} of the cores meanwhile:"
                " measure again when the machine is idle, other numbers may be better then"
            )
        rows = [self._row(workers) for workers in self.rounds.tried] + list(self.broken.values())
        report = replace(self.report, throughput=tuple(sorted(rows, key=lambda row: row.workers)))
        if not self.rounds.rates:
            return report
        best = recommended(self.rounds)
        found = gain(self.rounds, best)
        speedup = found.speedup() if found is not None else None
        return advised(report, best, speedup, self.rounds.step, self.job.task.most_workers)

    def _row(self, workers: int) -> Throughput:
        rates = list(self.rounds.rates[workers].values())
        found = gain(self.rounds, workers)
        return Throughput(
            workers,
            "ok",
            statistics.median(rates),
            min(rates),
            max(rates),
            len(rates),
            statistics.median(self.first_batches[workers]),
            found.speedup() if found is not None else None,
        )
