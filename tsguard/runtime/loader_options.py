"""The options of ``tsguard loader``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tsguard.report import LoaderReport


@dataclass(frozen=True, slots=True)
class LoaderOptions:
    """What ``tsguard loader`` may be told, with the defaults of a run told nothing.

    ``is_dataset``, ``batch_size`` and ``collate`` (an expression) say how a loader is
    made around a dataset.  ``workers`` are the numbers to try, () to find them, none
    above ``most_workers``.  ``step_seconds`` is what a training step takes, None if that
    is not to count; ``time_budget`` seconds of wall clock for everything, ``timeout``
    for a single batch; ``memory_limit`` MiB for all processes together, None for three
    quarters of the machine's; ``threads`` torch's threads in the loading process, None
    for one a core; ``device`` "auto" to measure copies to a GPU as well, "cpu" not to.
    """

    is_dataset: bool = False
    batch_size: int | None = None
    collate: str | None = None
    workers: tuple[int, ...] = ()
    most_workers: int | None = None
    start_method: str | None = None
    step_seconds: float | None = None
    time_budget: float = 60.0
    timeout: float = 30.0
    memory_limit: int | None = None
    threads: int | None = None
    device: str = "auto"
    python: Path | None = None

    def is_failed(self, report: LoaderReport) -> bool:
        """Whether the loader could not be measured as it is set up."""
        if report.error is not None:
            return True
        asked = self.workers or (report.settings.num_workers,)
        return any(row.workers in asked and row.status != "ok" for row in report.throughput)
