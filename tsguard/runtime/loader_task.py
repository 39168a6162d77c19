"""What a worker is asked to measure about a DataLoader."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class LoaderTask:
    """One loader to measure.

    ``expression`` is evaluated in the file; ``batch_size`` and ``collate`` (an expression)
    serve where it comes to a dataset.  ``workers`` are the numbers of workers to try, ()
    to find them; ``skipped`` those that an earlier process did not survive.  ``seconds``
    of wall clock are left for all of it, ``patience`` for a single batch; ``cores`` can be
    used, and ``threads`` is how many torch uses in the loading process; ``step_seconds`` is
    how long a training step takes, None if that is not to count; ``steps`` what is to be
    measured beside the cost of a batch.
    """

    expression: str
    is_dataset: bool = False
    batch_size: int | None = None
    collate: str | None = None
    workers: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()
    cores: int = 1
    most_workers: int = 16
    start_method: str | None = None
    seconds: float = 45.0
    patience: float = 30.0
    threads: int = 1
    step_seconds: float | None = None
    steps: tuple[str, ...] = ("collate", "workers")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> LoaderTask:
        """The task that ``to_json`` was made of."""
        lists = {name: tuple(value[name]) for name in ("workers", "skipped", "steps")}
        return cls(**{**value, **lists})
