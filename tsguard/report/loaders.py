"""What was measured of a data loader."""

from __future__ import annotations

from typing import Literal

from tsguard.report.attempts import Attempt, AttemptError, AttemptStatus, Speedup
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class LoaderSettings:
    """The arguments of a DataLoader that say how, not what, it loads."""

    num_workers: int = 0
    prefetch_factor: int | None = None
    pin_memory: bool = False
    persistent_workers: bool = False
    start_method: str | None = None


@dataclass(frozen=True, slots=True)
class BatchCost:
    """Wall seconds that one batch costs in one process (medians), step by step.

    ``item_cpu_seconds`` is the CPU time within ``item_seconds`` and ``item_waiting_seconds``
    the time in which it waited for something else than a core, None where that is not told.
    ``transfer_seconds`` is the copy to the GPU, None where there is none; ``bytes`` what
    the tensors of a batch hold.
    """

    items: int
    bytes: int
    item_seconds: float
    item_cpu_seconds: float
    collate_seconds: float
    item_waiting_seconds: float | None = None
    transfer_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a number of workers delivers, in the steady state.

    ``items_per_second`` is the median of ``rounds`` turns, ``low`` and ``high`` their
    extremes; ``first_batch_seconds`` is how long the first batch is waited for, with the
    start of the workers; ``speedup`` the paired ratio to the loader as it is set up.
    """

    workers: int
    status: AttemptStatus
    items_per_second: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    first_batch_seconds: float | None = None
    speedup: Speedup | None = None
    error: AttemptError | None = None


@dataclass(frozen=True, slots=True)
class LoaderReport:
    """Everything measured about one DataLoader.

    ``kind`` is "map" or "iterable"; ``length`` the items of an epoch, where known; ``step``
    what was being done when ``error`` ended the measurement.  ``pinned`` is the speed of
    loading and copying to the GPU with pinned memory against without.
    """

    target: str
    dataset: str = ""
    kind: Literal["map", "iterable"] = "map"
    length: int | None = None
    batch_size: int | None = None
    collate: str = ""
    collate_is_compiled: bool = False
    cores: int = 1
    settings: LoaderSettings = LoaderSettings()
    cost: BatchCost | None = None
    collating: tuple[Attempt, ...] = ()
    throughput: tuple[Throughput, ...] = ()
    pinned: Speedup | None = None
    recommended: LoaderSettings | None = None
    gain: Speedup | None = None
    recommendation: str | None = None
    notes: tuple[str, ...] = ()
    step: str | None = None
    error: AttemptError | None = None
