"""Many targets at once: attempted in parallel, timed one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from tsguard.runtime.attempts import Assignment, Bounds, Run, TargetAttempts
from tsguard.runtime.events import Harvested
from tsguard.runtime.progress import Progress
from tsguard.runtime.site import Site
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Task


class Interrupted(Exception):
    """The run was interrupted; ``found`` is what there is of each target, in order."""

    def __init__(self, found: list[TargetAttempts]) -> None:
        super().__init__("interrupted")
        self.found = found


def attempt_all(
    site: Site, assignments: Sequence[Assignment], bounds: Bounds, progress: Progress
) -> list[TargetAttempts]:
    """Attempt every target; those without arguments of their own borrow from a model that has some.

    Raises:
        Interrupted: by the user; the workers end with the site.
    """
    found = [TargetAttempts(assignment.subject, interrupted=True) for assignment in assignments]

    def attempt(index: int) -> None:
        found[index] = site.attempt(assignments[index], bounds, progress.step)
        progress.done(assignments[index].subject.spec, outcome_of(found[index]))

    def again(item: tuple[int, Subject]) -> None:
        index, subject = item
        result = site.attempt(replace(assignments[index], subject=subject), bounds, progress.step)
        if result.callable:
            result.guessed = True
            found[index] = result
            progress.done(subject.spec, outcome_of(result))

    progress.begin(len(assignments))
    try:
        with _impatient(ThreadPoolExecutor(max(site.workers, 1))) as threads:
            _all(threads.map(attempt, range(len(assignments))))
            _all(threads.map(again, _harvest(site.run, found, bounds, threads.map).items()))
    except KeyboardInterrupt:
        # What still runs in a thread goes on for a moment: this is what was done by now.
        raise Interrupted(list(found)) from None
    return found


def _all(results: Iterable[None]) -> None:
    """Wait for every one of them."""
    for _ in results:
        pass


def outcome_of(found: TargetAttempts) -> str:
    """``script ok, trace failed``: what became of a target, in a few words."""
    if not found.callable:
        return "not attempted"
    worst: dict[str, str] = {}
    for attempt in found.attempts.values():
        if attempt.backend != "eager" and worst.get(attempt.backend, "ok") in ("ok", "skipped"):
            worst[attempt.backend] = attempt.status
    return ", ".join(f"{backend} {status}" for backend, status in worst.items())


@contextmanager
def _impatient(threads: ThreadPoolExecutor) -> Iterator[ThreadPoolExecutor]:
    """Threads that nobody waits for after an interruption: who ends the workers ends them."""
    try:
        yield threads
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        raise
    threads.shutdown()


def _harvest(
    run: Run,
    found: Sequence[TargetAttempts],
    bounds: Bounds,
    map_all: Callable[..., Iterable[dict[str, Subject]]],
) -> dict[int, Subject]:
    """Targets that stopped, by index, as they occur inside others of the same file that ran."""
    stuck = {
        index: result.subject
        for index, result in enumerate(found)
        if not result.callable and result.stop is not None and _may_be_borrowed(result)
    }
    files = {subject.file for subject in stuck.values()}
    models = [r for r in found if r.callable and r.subject.file in files and r.subject.kind == "module"]
    tasks = [(_harvest_task(model, stuck.values(), bounds), model) for model in models]
    harvested: dict[tuple[str, str], Subject] = {}
    for (_, model), subjects in zip(tasks, map_all(lambda pair: _harvested(run, *pair), tasks), strict=True):
        for name, subject in subjects.items():
            harvested.setdefault((model.subject.file, name), subject)
    wanted = {index: harvested.get((s.file, s.qualname)) for index, s in stuck.items()}
    return {
        index: replace(subject, spec=stuck[index].spec)
        for index, subject in wanted.items()
        if subject is not None
    }


def _may_be_borrowed(result: TargetAttempts) -> bool:
    subject = result.subject
    stopped = result.stop is not None and result.stop.step in ("construct", "inputs")
    return stopped and subject.kind == "module" and subject.constructor is None and subject.inputs is None


def _harvest_task(model: TargetAttempts, stuck: Iterable[Subject], bounds: Bounds) -> Task:
    subject = model.settled
    wanted = [s.qualname for s in stuck if s.file == subject.file]
    argument = {"subject": subject.to_json(), "wanted": wanted}
    return Task("tsguard.runtime.worker.harvest:harvest", argument, bounds.limits)


def _harvested(run: Run, task: Task, model: TargetAttempts) -> dict[str, Subject]:
    outcome = run(task, None)
    return {
        event.name: replace(
            model.subject, qualname=event.name, constructor=event.constructor, inputs=event.inputs
        )
        for event in outcome.events
        if isinstance(event, Harvested)
    }
