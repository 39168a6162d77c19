"""A loader's collate function eager, scripted and traced, on batches of the loader itself."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.utils.data import DataLoader, default_collate, default_convert

from tsguard.report import Attempt, AttemptError, Parity, Variant
from tsguard.runtime.budgets import COLLATE_WARM_UP_CALLS
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.backends import forget_failures
from tsguard.runtime.worker.comparison import compare
from tsguard.runtime.worker.errors import TracerWarnings, described, first_line
from tsguard.runtime.worker.loaders.cost import samples
from tsguard.runtime.worker.timing import HostClock, measure

Collate = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class CollateBench:
    """The function, two uncollated batches that differ in length, and the seconds for each timing."""

    eager: Collate
    batches: tuple[tuple[str, Any], ...]
    seconds: float
    code: UserCode


def collate_bench(loader: DataLoader[Any], seconds: float, code: UserCode) -> CollateBench | None:
    """What the loader's collate function is tried with; None where there is no Python function of the user's."""
    function: Any = loader.collate_fn
    if function in (default_collate, default_convert):
        return None
    # A scripted function keeps the Python function that it was made of.
    eager = getattr(function, "_torchdynamo_inline", function)
    if isinstance(eager, torch.jit.ScriptFunction):
        return None
    (first, *_) = itertools.islice(samples(loader), 1)
    found: list[tuple[str, Any]] = [("a batch", first.items)]
    if isinstance(first.items, list) and len(first.items) > 1:
        found.append(("a shorter batch", first.items[:-1]))
    return CollateBench(eager, tuple(found), seconds, code)


def collate_attempt(bench: CollateBench, backend: str) -> Attempt:
    """Compile the function with one backend, compare and time it."""
    spec = AttemptSpec(backend)
    example = bench.batches[0][1]
    started = time.process_time()
    with TracerWarnings(bench.code):
        try:
            built = _built(bench.eager, backend, example)
            variants = tuple(_variant(bench.eager, built, name, batch) for name, batch in bench.batches)
        except Exception as error:
            forget_failures()
            return spec.ended("failed", described(error, bench.code))
    wrong = next((v for v in variants if not v.equal), None)
    parity, seconds = Parity(wrong is None, variants), time.process_time() - started
    if wrong is not None:
        divergence = AttemptError("Divergence", f"with {wrong.name}: {wrong.note}")
        return replace(spec.ended("diverged", divergence), compile_seconds=seconds, parity=parity)
    return _timed(replace(spec.ended("ok"), compile_seconds=seconds, parity=parity), bench, built, example)


def _built(eager: Collate, backend: str, example: Any) -> Collate:
    if backend == "script":
        scripted: Collate = torch.jit.script(eager)
        scripted(example)
        return scripted
    trace: Callable[..., Collate] = torch.jit.trace
    return trace(eager, (example,), check_trace=False)


def _variant(eager: Collate, built: Collate, name: str, batch: Any) -> Variant:
    expected = eager(batch)
    try:
        found = compare(expected, built(batch), lambda: None)
    except Exception as error:
        return Variant(name, False, note=f"raises {first_line(error)}")
    return Variant(name, found.equal, found.max_error, found.note)


def _timed(known: Attempt, bench: CollateBench, built: Collate, example: Any) -> Attempt:
    clock = HostClock(time.thread_time)
    for function in (bench.eager, built):
        clock.time(partial(function, example), COLLATE_WARM_UP_CALLS)
    found = measure(lambda: bench.eager(example), lambda: built(example), clock, bench.seconds)
    return replace(
        known,
        warm_up_calls=COLLATE_WARM_UP_CALLS,
        seconds=found.seconds,
        eager_seconds=found.eager_seconds,
        speedup=found.ratio.speedup() if found.ratio is not None else None,
    )
