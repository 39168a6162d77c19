"""Where attempts are made: on this machine, or (``fleet``) on a cluster."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from tsguard.runtime.all_blockers import all_blockers
from tsguard.runtime.attempts import Assignment, Bounds, Run, Step, TargetAttempts, attempt_target
from tsguard.runtime.events import Devices
from tsguard.runtime.launcher import Environment, Launcher
from tsguard.runtime.task import Limits, Task


class Site(Protocol):
    """A place with torch that makes attempts, several at a time."""

    @property
    def environment(self) -> Environment: ...

    @property
    def cuda(self) -> list[str]:
        """The names of its CUDA devices."""
        ...

    @property
    def workers(self) -> int:
        """How many targets it works on at once."""
        ...

    @property
    def run(self) -> Run: ...

    def attempt(self, assignment: Assignment, bounds: Bounds, step: Step) -> TargetAttempts: ...


@dataclass(frozen=True, slots=True)
class LocalSite:
    """This machine."""

    launcher: Launcher
    cuda: list[str]
    workers: int

    @property
    def environment(self) -> Environment:
        return self.launcher.environment

    @property
    def run(self) -> Run:
        return self.launcher.run

    def attempt(self, assignment: Assignment, bounds: Bounds, step: Step) -> TargetAttempts:
        return attempt_here(self.launcher, assignment, bounds, step)


def attempt_here(launcher: Launcher, assignment: Assignment, bounds: Bounds, step: Step) -> TargetAttempts:
    """Attempt one target with the workers of a launcher, timing when nobody else does."""
    with tempfile.TemporaryDirectory(dir=launcher.folder) as folder:
        settings = replace(bounds.settings, timing_lock=str(_timing_lock()), folder=folder)
        own = replace(bounds, settings=settings)
        found = attempt_target(launcher.run, assignment.subject, assignment.specs, own, step)
    found.blockers = all_blockers(launcher.run, found, bounds)
    return found


def _timing_lock() -> Path:
    """One lock for all that this user times on this machine, in whatever process."""
    return Path(tempfile.gettempdir()) / f"tsguard-timing-{os.getuid()}.lock"


@contextmanager
def local_site(python: Path | None, workers: int, launcher: Launcher | None = None) -> Iterator[LocalSite]:
    """This machine, with workers of its own unless a launcher is given.

    Raises:
        TorchUnavailable: the interpreter cannot import torch.
    """
    if launcher is not None:
        yield LocalSite(launcher, cuda_devices(launcher), workers)
        return
    with Launcher(str(python) if python is not None else None) as own:
        yield LocalSite(own, cuda_devices(own), workers)


def cuda_devices(launcher: Launcher) -> list[str]:
    """The names of the CUDA devices that torch can use there."""
    if launcher.environment.cuda is None:
        return []
    task = Task("tsguard.runtime.worker.devices:devices", {}, Limits(), fresh=True)
    events = launcher.run(task).events
    return next((list(event.cuda) for event in events if isinstance(event, Devices)), [])
