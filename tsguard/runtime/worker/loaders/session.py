"""The task of one loader: obtain it, then measure what is asked for."""

from __future__ import annotations

import time
from collections.abc import Sized
from typing import Any, cast

import torch
from torch.utils.data import DataLoader, IterableDataset

from tsguard.report import AttemptError, BatchCost, LoaderSettings
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import (
    Collated,
    CostMeasured,
    LoaderFound,
    Repeated,
    Stopped,
    Unpicklable,
)
from tsguard.runtime.knee import Rounds, Step
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.errors import described
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.loaders.collating import collate_attempt, collate_bench
from tsguard.runtime.worker.loaders.copies import Batches, Empty, Variation, is_iterable
from tsguard.runtime.worker.loaders.cost import batch_cost
from tsguard.runtime.worker.loaders.obtaining import NoLoader, obtain
from tsguard.runtime.worker.loaders.pickling import unpicklable
from tsguard.runtime.worker.loaders.sweeping import Sweep, most_workers
from tsguard.runtime.worker.loading import import_file
from tsguard.runtime.worker.state import seed_everything
from tsguard.runtime.worker.values import same_bits

_COST_SHARE, _COLLATE_SHARE = 0.08, 0.06


def measure(argument: dict[str, Any], channel: Channel) -> None:
    """Measure one loader, sending each result as it is there."""
    subject = Subject.from_json(argument["subject"])
    task = LoaderTask.from_json(argument["task"])
    until = time.monotonic() + task.seconds
    code = UserCode.around(subject.file, subject.module)
    step = "import"
    try:
        channel.phase(step)
        seed_everything(0)
        module = import_file(subject)
        step = "loader"
        channel.phase(step)
        loader = obtain(task, module)
        channel.send(_facts(loader))
        step = "first batch"
        channel.phase(step, task.patience + _COST_SHARE * task.seconds)
        cost = batch_cost(loader, _COST_SHARE * task.seconds)
    except (NoLoader, Empty) as problem:
        channel.send(Stopped(step, AttemptError(type(problem).__name__, str(problem))))
        return
    except BaseException as error:
        channel.send(Stopped(step, described(error, code)))
        return
    channel.send(CostMeasured(cost))
    _measure(loader, cost, task, until, channel, code)


def _measure(
    loader: DataLoader[Any],
    cost: BatchCost,
    task: LoaderTask,
    until: float,
    channel: Channel,
    code: UserCode,
) -> None:
    if "collate" in task.steps:
        _try_collate(loader, task, channel, code)
    channel.send(Unpicklable(tuple(unpicklable(loader))))
    if "workers" not in task.steps:
        return
    torch.set_num_threads(task.threads)
    most = most_workers(task)
    step = Step(task.step_seconds, cost.items) if task.step_seconds else None
    rounds = Rounds(loader.num_workers, most, task.cores, task.workers, step, failed=set(task.skipped))
    Sweep(loader, task, cost, until, channel, code, rounds).run()
    if is_iterable(loader) and rounds.tried[-1:] > [1]:
        channel.phase("compare workers", 2 * task.patience)
        channel.send(Repeated(_is_repeated(loader, task)))


def _facts(loader: DataLoader[Any]) -> LoaderFound:
    context = loader.multiprocessing_context
    settings = LoaderSettings(
        loader.num_workers,
        loader.prefetch_factor,
        loader.pin_memory,
        loader.persistent_workers,
        context.get_start_method() if context is not None else None,
    )
    return LoaderFound(
        settings,
        type(loader.dataset).__qualname__,
        "iterable" if is_iterable(loader) else "map",
        _length(loader),
        loader.batch_size,
        _name(loader.collate_fn),
        isinstance(loader.collate_fn, torch.jit.ScriptFunction),
    )


def _length(loader: DataLoader[Any]) -> int | None:
    if isinstance(loader.dataset, IterableDataset):
        return None
    return value_or(None, lambda: len(cast(Sized, loader.dataset)))


def _name(function: Any) -> str:
    own = getattr(function, "_torchdynamo_inline", function)
    return str(getattr(own, "__qualname__", type(own).__qualname__))


def _try_collate(loader: DataLoader[Any], task: LoaderTask, channel: Channel, code: UserCode) -> None:
    channel.phase("collate")
    try:
        bench = collate_bench(loader, _COLLATE_SHARE * task.seconds, code)
    except Exception as error:
        channel.send(Collated(AttemptSpec("eager").ended("failed", described(error, code))))
        return
    if bench is None:
        return
    for backend in ("script", "trace"):
        channel.phase(f"collate {backend}")
        channel.send(Collated(collate_attempt(bench, backend)))


def _is_repeated(loader: DataLoader[Any], task: LoaderTask) -> bool:
    """Whether two workers of an iterable dataset begin with the same batch."""
    with Batches(loader, Variation(2, task.start_method, task.patience)) as batches:
        first, second = batches.next()[0], batches.next()[0]
    return same_bits(first, second)
