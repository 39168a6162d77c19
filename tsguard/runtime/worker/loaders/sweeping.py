"""The numbers of workers tried in turn until it is clear which is worth it, or time is up."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field
from typing import Any

from torch.utils.data import DataLoader

from tsguard.report import AttemptError, BatchCost
from tsguard.runtime import events
from tsguard.runtime.budgets import FEWEST_NUMBERS, STOPPING_SECONDS
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import TurnTaken
from tsguard.runtime.knee import Rounds, contenders, first_round, is_settled
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.loaders.copies import Variation
from tsguard.runtime.worker.loaders.turns import TurnFailed, take_turn

_SHORTEST, _LONGEST, _BATCHES = 0.3, 1.5, 8
_SHARED_MEMORY = "/dev/shm"


@dataclass(slots=True)
class Sweep:
    """The measurement of one loader; ``until`` is when it has to end, by ``time.monotonic``."""

    loader: DataLoader[Any]
    task: LoaderTask
    cost: BatchCost
    until: float
    channel: Channel
    code: UserCode
    rounds: Rounds
    durations: dict[int, float] = field(default_factory=dict)

    def run(self) -> None:
        """Try numbers for the first time, then all that are left again and again."""
        while (workers := first_round(self.rounds)) is not None:
            if len(self.rounds.rates) >= FEWEST_NUMBERS and not self._has_time_for(workers):
                break
            self._turn(workers, 0)
        if not self.rounds.rates:
            return
        order = random.Random(0)
        round_ = 0
        while len(self.rounds.tried) > 1 and not is_settled(self.rounds):
            round_ += 1
            left = [w for w in contenders(self.rounds) if self._has_time_for(w)]
            if not left:
                break
            order.shuffle(left)
            for workers in left:
                self._turn(workers, round_)

    def _has_time_for(self, workers: int) -> bool:
        return time.monotonic() + self.durations.get(workers, 0.0) < self.until

    def _turn(self, workers: int, round_: int) -> None:
        began = time.monotonic()
        self._take_turn(workers, round_)
        self.durations[workers] = time.monotonic() - began

    def _take_turn(self, workers: int, round_: int) -> None:
        patience = self.task.patience
        seconds = min(max(_BATCHES * self._batch_seconds(), _SHORTEST), _LONGEST)
        self.channel.phase(f"workers {workers}", 2 * patience + 4 * seconds + STOPPING_SECONDS)
        try:
            self._room_for(workers)
            variation = Variation(workers, self.task.start_method, patience)
            turn = take_turn(self.loader, variation, seconds, self.code)
        except TurnFailed as failed:
            self.rounds.failed.add(workers)
            self.rounds.rates.pop(workers, None)
            if workers:  # more of them would fare no better
                self.rounds.most = min(self.rounds.most, workers - 1)
            self.channel.send(events.TurnFailed(workers, failed.status, failed.error))
            return
        self.rounds.add(workers, round_, turn.rate)
        self.channel.send(TurnTaken(workers, round_, turn.rate, turn.first_batch_seconds, turn.foreign))

    def _batch_seconds(self) -> float:
        return self.cost.item_seconds + self.cost.collate_seconds

    def _room_for(self, workers: int) -> None:
        """Batches under way lie in shared memory, which may be small (64 MiB in a container).

        Raises:
            TurnFailed: they would not fit.
        """
        needed = workers * (self.loader.prefetch_factor or 2) * self.cost.bytes
        free = _free_bytes(_SHARED_MEMORY)
        if workers and free is not None and needed > 0.8 * free:
            text = (
                f"needs {needed >> 20} MiB of shared memory and {_SHARED_MEMORY} has {free >> 20} MiB left:"
                " make it larger (docker run --shm-size), or prefetch_factor or batches smaller"
            )
            raise TurnFailed("skipped", AttemptError("SharedMemory", text))


def _free_bytes(folder: str) -> int | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def most_workers(task: LoaderTask) -> int:
    """The largest number to try: what the task allows, less than what has failed before."""
    return min([task.most_workers, *(workers - 1 for workers in task.skipped if workers)])
