"""Attempts on a Dask cluster: each target goes to one of its workers as a whole.

The cluster's machines need tsguard, torch and the code under the same paths (a shared
file system or image). A worker that dies takes nothing with it: Dask gives its targets
to others. Workers with a GPU declare it (``dask worker --resources GPU=1``).
"""

from __future__ import annotations

import atexit
import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from tsguard.runtime.attempts import Assignment, Bounds, Run, Step, TargetAttempts
from tsguard.runtime.budgets import CLUSTER_RETRIES, CLUSTER_SECONDS
from tsguard.runtime.launcher import Environment, EventHandler, Launcher, TorchUnavailable
from tsguard.runtime.site import attempt_here, cuda_devices
from tsguard.runtime.task import Outcome, Task


class ClusterUnavailable(RuntimeError):
    """The cluster cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """A cluster's workers, reached through its scheduler."""

    client: Any
    environment: Environment
    cuda: list[str]
    workers: int

    @property
    def run(self) -> Run:
        return self._run

    def _run(self, task: Task, on_event: EventHandler | None) -> Outcome:
        outcome: Outcome = self._submit(_run, task.to_json(), gpu=task.fresh and bool(self.cuda))
        if on_event is not None:
            for event in outcome.events:
                on_event(event)
        return outcome

    def attempt(self, assignment: Assignment, bounds: Bounds, step: Step) -> TargetAttempts:
        step(f"{assignment.subject.spec}: sent to the cluster")
        gpu = any(spec.device != "cpu" for spec in assignment.specs)
        found: TargetAttempts = self._submit(_attempt, assignment, bounds, gpu=gpu)
        step(f"{assignment.subject.spec}: done")
        return found

    def _submit(self, function: Any, *arguments: Any, gpu: bool) -> Any:
        resources = {"GPU": 1} if gpu else None
        future = self.client.submit(
            function, *arguments, pure=False, retries=CLUSTER_RETRIES, resources=resources
        )
        return future.result()


@contextmanager
def fleet(address: str) -> Iterator[Fleet]:
    """The cluster whose scheduler listens at ``address``.

    Raises:
        ClusterUnavailable: Dask is not installed, the scheduler does not answer, or no
            worker has joined it.
        TorchUnavailable: its workers cannot import torch.
    """
    try:
        dask: Any = importlib.import_module("distributed")
    except ImportError:
        raise ClusterUnavailable("--scheduler needs Dask: pip install tsguard[dask]") from None
    try:
        client = dask.Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterUnavailable(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CLUSTER_SECONDS)
        except TimeoutError:
            raise ClusterUnavailable(f"the scheduler at {address} has no workers") from None
        yield _joined(client)


def _joined(client: Any) -> Fleet:
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    with_gpu = any(worker.get("resources", {}).get("GPU") for worker in workers)
    facts = client.submit(_facts, pure=False, retries=CLUSTER_RETRIES).result()
    if "error" in facts:
        raise TorchUnavailable(facts["error"])
    cuda: list[str] = []
    if with_gpu:
        cuda = client.submit(_cuda, pure=False, retries=CLUSTER_RETRIES, resources={"GPU": 1}).result()
    threads = sum(int(worker["nthreads"]) for worker in workers)
    return Fleet(client, Environment(**facts), cuda, max(threads, 1))


# What runs on the cluster's workers.


@functools.cache
def _launcher() -> Launcher:
    """The warm process of this Dask worker."""
    launcher = Launcher()
    launcher.__enter__()
    atexit.register(launcher.__exit__, None, None, None)
    return launcher


def _facts() -> dict[str, Any]:
    try:
        return asdict(_launcher().environment)
    except TorchUnavailable as reason:
        return {"error": str(reason)}


def _cuda() -> list[str]:
    return cuda_devices(_launcher())


def _run(task: dict[str, Any]) -> Outcome:
    return _launcher().run(Task.from_json(task))


def _attempt(assignment: Assignment, bounds: Bounds) -> TargetAttempts:
    return attempt_here(_launcher(), assignment, bounds, lambda text: None)
