"""Our side of measuring a DataLoader: worker processes, as many as it takes, and what they say."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tsguard.report import (
    Attempt,
    AttemptError,
    AttemptStatus,
    BatchCost,
    LoaderReport,
    LoaderSettings,
    Speedup,
    Throughput,
)
from tsguard.runtime.advice import advised
from tsguard.runtime.decoding import decoded
from tsguard.runtime.endings import crash_error, shown_path
from tsguard.runtime.knee import Rounds, Step, gain, recommended
from tsguard.runtime.launcher import Event
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits, Outcome, Task
from tsguard.runtime.usercode import UserCode

_ENTRY = "tsguard.runtime.worker.loaders.session:measure"
_PINNING = "tsguard.runtime.worker.loaders.pinning:measure"
_SWEEP = "workers "
_BUSY = 0.15

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
        handler = getattr(self, "_on_" + str(event["event"]).replace(" ", "_"), None)
        if handler is not None:
            handler(event)

    def _on_phase(self, event: Event) -> None:
        self.progress(f"{self.job.subject.spec}: {event['phase']}")

    def _on_loader(self, event: Event) -> None:
        settings = LoaderSettings(**event["settings"])
        names = ("dataset", "kind", "length", "batch_size", "collate", "collate_is_compiled")
        facts: dict[str, Any] = {name: event[name] for name in names}
        self.report = replace(self.report, settings=settings, **facts)
        self.rounds.current = settings.num_workers

    def _on_stopped(self, event: Event) -> None:
        self.report = replace(self.report, step=event["step"], error=self._error(event["error"]))

    def _on_internal_error(self, event: Event) -> None:
        last = str(event["traceback"]).strip().rpartition("\n")[2]
        self.report = replace(
            self.report,
            step="measuring",
            error=AttemptError("InternalError", f"the worker itself failed: {last}"),
        )

    def _on_cost(self, event: Event) -> None:
        fields = {name: value for name, value in event.items() if name != "event"}
        cost = BatchCost(**fields)
        self.report = replace(self.report, cost=cost)
        if self.job.task.step_seconds:
            self.rounds.step = Step(self.job.task.step_seconds, cost.items)

    def _on_collate(self, event: Event) -> None:
        attempt = decoded(AttemptSpec(event["backend"]), event, self._shown)
        self.report = replace(self.report, collating=(*self.report.collating, attempt))

    def _on_unpicklable(self, event: Event) -> None:
        for part, why in event["parts"]:
            self._note(f"{part} cannot be sent to workers that are spawned, as on macOS and Windows: {why}")

    def _on_repeated(self, event: Event) -> None:
        if event["repeated"]:
            self._note("two workers begin with the same batch: each goes through the whole dataset (TSG516)")

    def _on_turn(self, event: Event) -> None:
        workers = event["workers"]
        # Rounds of different processes are not pairs.
        self.rounds.add(workers, 1000 * self.process + event["round"], event["rate"])
        self.first_batches.setdefault(workers, []).append(event["first_batch_seconds"])
        if event["foreign"] is not None:
            self.foreign.append(event["foreign"])

    def _on_turn_failed(self, event: Event) -> None:
        self._break(event["workers"], event["status"], self._error(event["error"]))

    def _on_pinned(self, event: Event) -> None:
        speedup = Speedup(**event["speedup"]) if event["speedup"] else None
        cost = self.report.cost
        if cost is not None:
            cost = replace(cost, transfer_seconds=event["transfer_seconds"])
        self.report = replace(self.report, pinned=speedup, cost=cost)

    def _break(self, workers: int, status: AttemptStatus, error: AttemptError) -> None:
        self.rounds.failed.add(workers)
        self.rounds.rates.pop(workers, None)
        self.broken[workers] = Throughput(workers, status, error=error)

    def _note(self, text: str) -> None:
        if text not in self.report.notes:
            self.report = replace(self.report, notes=(*self.report.notes, text))

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
                error = replace(row.error, path=self._shown(place[0]), line=place[1])
                self.broken[workers] = replace(row, error=error)

    def _error(self, value: dict[str, Any]) -> AttemptError:
        path = value["path"]
        shown = self._shown(path) if path else None
        return AttemptError(value["type"], value["message"], shown, value["line"])

    def _shown(self, path: str) -> str:
        return shown_path(path, self.job.subject)

    def finished(self) -> LoaderReport:
        """The report with what the turns come to."""
        if self.foreign and statistics.median(self.foreign) > _BUSY:
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
