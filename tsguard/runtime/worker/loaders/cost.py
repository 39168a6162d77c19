"""What one batch costs in this process: its items, putting them together, copying them to the GPU."""

from __future__ import annotations

import itertools
import operator
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch.utils.data import DataLoader

from tsguard.report import BatchCost
from tsguard.runtime.budgets import FEWEST_BATCHES, MOST_BATCHES
from tsguard.runtime.worker.loaders.copies import Empty, bytes_in, is_iterable


@dataclass(frozen=True, slots=True)
class Sample:
    """One batch's items before they are collated, and what they cost."""

    items: Any
    seconds: float
    cpu_seconds: float
    queued_seconds: float | None


def samples(loader: DataLoader[Any]) -> Iterator[Sample]:
    """The uncollated batches of the loader, fetched as torch fetches them, epoch after epoch."""
    while True:
        found = False
        for fetch in _fetchers(loader):
            wall, cpu, queued = time.perf_counter(), time.thread_time(), _queued_seconds()
            try:
                items = fetch()
            except StopIteration:
                break
            found = True
            wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
            queued = None if queued is None else (_queued_seconds() or queued) - queued
            yield Sample(items, wall, cpu, queued)
        if not found:
            raise Empty("the loader returns no batch")


def _queued_seconds() -> float | None:
    """How long this thread has waited for a core, as Linux counts it."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def _fetchers(loader: DataLoader[Any]) -> Iterator[Callable[[], Any]]:
    """For each batch of an epoch, what fetches its items."""
    dataset: Any = loader.dataset
    if not is_iterable(loader):
        together = getattr(dataset, "__getitems__", None)
        for indices in loader._index_sampler:
            if loader.batch_sampler is None:
                yield partial(operator.getitem, dataset, indices)
            elif together:
                yield partial(together, indices)
            else:
                yield partial(_each, dataset, indices)
        return
    stream = iter(dataset)
    while True:
        yield (
            partial(next, stream) if loader.batch_size is None else partial(_some, stream, loader.batch_size)
        )


def _each(dataset: Any, indices: list[Any]) -> list[Any]:
    return [dataset[index] for index in indices]


def _some(stream: Iterator[Any], count: int) -> list[Any]:
    items = list(itertools.islice(stream, count))
    if not items:
        raise StopIteration
    return items


def _waiting_seconds(found: list[Sample]) -> float | None:
    waits = [s.seconds - s.cpu_seconds - s.queued_seconds for s in found if s.queued_seconds is not None]
    return max(statistics.median(waits), 0.0) if waits else None


def batch_cost(loader: DataLoader[Any], seconds: float) -> BatchCost:
    """Make batches for at most ``seconds`` (three at least), one step after the other, and time the steps.

    Raises:
        Empty: there is no batch.
        Exception: whatever the dataset or the collate function raises.
    """
    until = time.perf_counter() + seconds
    fetched: list[Sample] = []
    collated: list[float] = []
    size = held = 0
    for sample in itertools.islice(samples(loader), MOST_BATCHES):
        started = time.perf_counter()
        batch = loader.collate_fn(sample.items)
        collated.append(time.perf_counter() - started)
        fetched.append(sample)
        if len(fetched) == 1:
            size = len(sample.items) if loader.batch_size is not None or loader.batch_sampler else 1
            held = bytes_in(batch)
        if len(fetched) >= FEWEST_BATCHES and time.perf_counter() > until:
            break
    # The first batch pays for what is done once: opening, importing, filling caches.
    warm, collated = fetched[1:] or fetched, collated[1:] or collated
    return BatchCost(
        items=size,
        bytes=held,
        item_seconds=statistics.median(sample.seconds for sample in warm),
        item_cpu_seconds=statistics.median(sample.cpu_seconds for sample in warm),
        collate_seconds=statistics.median(collated),
        item_waiting_seconds=_waiting_seconds(warm),
    )
