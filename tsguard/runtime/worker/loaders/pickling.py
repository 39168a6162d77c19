"""What of a loader cannot be sent to workers that are not forked."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from tsguard.runtime.worker.errors import first_line


class _Discarding:
    """A file that keeps nothing: only whether pickling works is asked."""

    def write(self, data: bytes) -> int:
        return len(data)


# Locks, shared values and queues refuse to be pickled except while a process is being started.
_SENT_AT_START = frozenset(
    f"multiprocessing.{part}" for part in ("synchronize", "sharedctypes", "queues", "connection")
)


class _Pickler(pickle.Pickler):
    """Passes over what can be sent for certain: tensors and arrays, which may be gigabytes, and what is shared."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) or type(value).__module__ == "numpy":
            return _nothing, ()
        if not isinstance(value, type) and any(c.__module__ in _SENT_AT_START for c in type(value).__mro__):
            return _nothing, ()
        return NotImplemented


def _nothing() -> None:
    return None


def unpicklable(loader: DataLoader[Any]) -> Iterator[tuple[str, str]]:
    """The parts that a spawned worker cannot be sent, and why."""
    parts: dict[str, Callable[..., Any] | Any] = {
        "dataset": loader.dataset,
        "collate_fn": loader.collate_fn,
        "worker_init_fn": loader.worker_init_fn,
    }
    for name, part in parts.items():
        try:
            _Pickler(_Discarding(), pickle.HIGHEST_PROTOCOL).dump(part)
        except Exception as error:
            yield name, first_line(error)
