"""The same loader again, without end and with other settings."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from tsguard.runtime.budgets import DYING_SECONDS
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.values import leaves

_DEFAULT_PREFETCH = 2


class Empty(Exception):
    """The loader gives no batch at all."""


@dataclass(frozen=True, slots=True)
class Variation:
    """What differs from the loader as it is set up.

    ``start_method`` None is the loader's own way to start workers; ``patience`` the
    seconds to wait for a batch of a worker, 0 for ever.
    """

    workers: int
    start_method: str | None = None
    patience: float = 0.0
    pin_memory: bool = False


class Batches:
    """Batches as the loader makes them, for as long as they are asked for.

    The workers start on entering and are gone after leaving.
    """

    def __init__(self, loader: DataLoader[Any], variation: Variation) -> None:
        self._sizes: deque[int] = deque()
        self._loader = _copy(loader, variation, self._sizes)
        self._iterable = is_iterable(loader)
        self._iterator: Any = None

    def __enter__(self) -> Batches:
        self._iterator = iter(self._loader)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shut_down = getattr(self._iterator, "_shutdown_workers", None)
        if shut_down is not None:
            value_or(None, shut_down)
        self._iterator = self._loader._iterator = None

    @property
    def worker_pids(self) -> list[int]:
        """The worker processes, as far as torch tells."""
        return [worker.pid for worker in getattr(self._iterator, "_workers", ())]

    def died(self) -> int | None:
        """The exit code of a worker that has died, negative for a signal; None if all are well.

        What the loading process notices of it first is often only a closed connection.
        """
        workers = getattr(self._iterator, "_workers", ())
        until = time.monotonic() + DYING_SECONDS
        while workers:
            codes = [worker.exitcode for worker in workers if worker.exitcode]
            if codes or time.monotonic() > until:
                return codes[0] if codes else None
            time.sleep(0.01)
        return None

    def next(self) -> tuple[Any, int]:
        """The next batch and its number of items.

        Raises:
            Empty: there is none.
            Exception: whatever the dataset raises, in this process or in a worker.
        """
        for _ in range(2):
            try:
                batch = next(self._iterator)
            except StopIteration:
                # Iterable datasets end, and begin again with the workers that they have.
                self._iterator = iter(self._loader)
                continue
            return batch, _items_in(
                batch, self._loader.batch_size
            ) if self._iterable else self._sizes.popleft()
        raise Empty("the loader returns no batch")


class _Endless:
    """A sampler gone through again and again; ``sizes`` holds those of the batches that are under way."""

    def __init__(self, sampler: Any, sizes: deque[int]) -> None:
        self._sampler = sampler
        self._sizes = sizes

    def __iter__(self) -> Iterator[Any]:
        found = True
        while found:
            found = False
            for indices in self._sampler:
                found = True
                self._sizes.append(len(indices) if isinstance(indices, (list, tuple)) else 1)
                yield indices


def _copy(loader: DataLoader[Any], variation: Variation, sizes: deque[int]) -> DataLoader[Any]:
    iterable = is_iterable(loader)
    options: dict[str, Any] = {
        "num_workers": variation.workers,
        "collate_fn": loader.collate_fn,
        "worker_init_fn": loader.worker_init_fn,
        "generator": loader.generator,
        "pin_memory": variation.pin_memory,
    }
    if variation.workers:
        options["prefetch_factor"] = loader.prefetch_factor or _DEFAULT_PREFETCH
        options["multiprocessing_context"] = variation.start_method or loader.multiprocessing_context
        options["timeout"] = loader.timeout or variation.patience
        options["persistent_workers"] = iterable
    if iterable:
        return DataLoader(loader.dataset, loader.batch_size, drop_last=loader.drop_last, **options)
    if loader.batch_sampler is not None:
        return DataLoader(loader.dataset, batch_sampler=_Endless(loader.batch_sampler, sizes), **options)
    return DataLoader(loader.dataset, batch_size=None, sampler=_Endless(loader.sampler, sizes), **options)


def is_iterable(loader: DataLoader[Any]) -> bool:
    """Whether its dataset is iterated over, rather than asked for items by index."""
    return isinstance(loader.dataset, IterableDataset)


def _items_in(batch: Any, batch_size: int | None) -> int:
    """The items of a batch of unknown length: as its first tensor says, at most the batch size."""
    if batch_size is None:
        return 1
    for _, leaf in leaves(batch):
        if isinstance(leaf, Tensor) and leaf.dim() > 0:
            return min(leaf.shape[0], batch_size)
    return batch_size


def bytes_in(batch: Any) -> int:
    """What the tensors of a batch hold."""
    return sum(leaf.numel() * leaf.element_size() for _, leaf in leaves(batch) if isinstance(leaf, Tensor))
