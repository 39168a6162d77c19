"""Many targets at once: attempted in parallel, timed one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from tsguard.runtime.attempts import Assignment, Bounds, Progress, Run, TargetAttempts
from tsguard.runtime.site import Site
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Task


def attempt_all(
    site: Site, assignments: Sequence[Assignment], bounds: Bounds, progress: Progress
) -> list[TargetAttempts]:
    """Attempt every target; those without arguments of their own borrow from a model that has some."""

    def attempt(assignment: Assignment) -> TargetAttempts:
        return site.attempt(assignment, bounds, progress)

    with _impatient(ThreadPoolExecutor(max(site.workers, 1))) as threads:
        found = list(threads.map(attempt, assignments))
        borrowed = _harvest(site.run, found, bounds, threads.map)
        again = {i: replace(assignments[i], subject=subject) for i, subject in borrowed.items()}
        for index, result in zip(again, threads.map(attempt, again.values()), strict=True):
            if result.callable:
                result.guessed = True
                found[index] = result
    return found


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
        event["name"]: replace(
            model.subject,
            qualname=event["name"],
            constructor=event["constructor"],
            inputs=tuple(event["inputs"]),
        )
        for event in outcome.events
        if event["event"] == "harvested"
    }
