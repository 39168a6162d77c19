"""Loading and copying to the GPU, with pinned memory and without."""

from __future__ import annotations

import statistics
import time
from typing import Any

import torch
from torch.utils.data import DataLoader

from tsguard.runtime.budgets import COPIES, TURN_SECONDS
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Pinned
from tsguard.runtime.intervals import FEWEST, LOOKS, interval
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.loaders.copies import Batches, Variation
from tsguard.runtime.worker.loaders.obtaining import obtain
from tsguard.runtime.worker.loaders.turns import take_turn
from tsguard.runtime.worker.loading import import_file
from tsguard.runtime.worker.state import seed_everything
from tsguard.runtime.worker.values import mapped


def measure(argument: dict[str, Any], channel: Channel) -> None:
    """Alternate between ordinary and pinned batches until the ratio is sharp or time is up."""
    subject = Subject.from_json(argument["subject"])
    task = LoaderTask.from_json(argument["task"])
    channel.phase("pinned memory", task.seconds + 4 * task.patience)
    seed_everything(0)
    loader = obtain(task, import_file(subject))
    code = UserCode.around(subject.file, subject.module)
    until = time.monotonic() + task.seconds
    ratios: list[float] = []
    while len(ratios) < LOOKS[-1] and time.monotonic() < until:
        ordinary, pinned = (
            take_turn(loader, _variation(task, pin), TURN_SECONDS, code, _copy_to_gpu).rate
            for pin in (False, True)
        )
        ratios.append(pinned / ordinary)
        if len(ratios) in LOOKS and interval(ratios).is_sharp:
            break
    speedup = interval(ratios).speedup() if len(ratios) >= FEWEST else None
    channel.send(Pinned(speedup, _transfer_seconds(loader)))


def _variation(task: LoaderTask, pin_memory: bool) -> Variation:
    return Variation(task.workers[0], task.start_method, task.patience, pin_memory)


def _copy_to_gpu(batch: Any) -> None:
    mapped(batch, lambda tensor: tensor.to("cuda", non_blocking=True))
    torch.cuda.synchronize()


def _transfer_seconds(loader: DataLoader[Any]) -> float:
    """Wall seconds to copy one batch that lies in ordinary memory."""
    with Batches(loader, Variation(0)) as batches:
        batch, _ = batches.next()
    times = []
    for _ in range(COPIES):
        started = time.perf_counter()
        _copy_to_gpu(batch)
        times.append(time.perf_counter() - started)
    return statistics.median(times)
