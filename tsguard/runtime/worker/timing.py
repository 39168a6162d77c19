"""Two callables timed against each other, so that the machine's moods hit both alike.

Blocks of calls alternate in random order; each pair of blocks gives one ratio. On CPU
with one thread the clock is the thread's own CPU time, which other processes do not
advance. Untimed calls prime the caches before each block: two callables with separate
weights would otherwise evict each other's.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

from tsguard.runtime.budgets import (
    BLOCK_SECONDS,
    GPU_BLOCK_SECONDS,
    LONG_CALL_SECONDS,
    PATIENCE,
    SPECIALISED,
    STEADY,
    WARM_UP_SECONDS,
)
from tsguard.runtime.intervals import FEWEST, LOOKS, Interval, interval

Step = Callable[[], object]


class Clock(Protocol):
    """Times a block of calls."""

    @property
    def block_seconds(self) -> float:
        """How long a block should be: far above the clock's own cost."""
        ...

    def time(self, step: Step, calls: int) -> float:
        """Seconds that ``calls`` calls take."""
        ...


@dataclass(frozen=True, slots=True)
class HostClock:
    """A clock of the operating system: ``now`` gives seconds."""

    now: Callable[[], float]
    block_seconds: float = BLOCK_SECONDS

    def time(self, step: Step, calls: int) -> float:
        started = self.now()
        for _ in range(calls):
            step()
        return self.now() - started


@dataclass(frozen=True, slots=True)
class CudaClock:
    """Events on the device's stream, around a block that starts with an empty queue."""

    device: str
    block_seconds: float = GPU_BLOCK_SECONDS

    def time(self, step: Step, calls: int) -> float:
        with torch.cuda.device(self.device):
            start, end = (_event() for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            for _ in range(calls):
                step()
            end.record()
            torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 1000


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)


def clock_for(device: str, step: Step) -> Clock:
    """The fairest clock: events on a GPU; CPU time with one thread, wall time with more."""
    if device.startswith("cuda"):
        return CudaClock(device)
    if torch.get_num_threads() > 1:
        return HostClock(time.perf_counter)
    thread, process = time.thread_time(), time.process_time()
    step()
    thread, process = time.thread_time() - thread, time.process_time() - process
    if process > 1.05 * thread + 0.001:
        return HostClock(time.process_time)
    return HostClock(time.thread_time)


@dataclass(frozen=True, slots=True)
class WarmUp:
    """What the first calls cost: ``first`` seconds for the first, ``calls`` until steady."""

    first: float
    calls: int


def warm_up(step: Step, clock: Clock, fewest: int) -> WarmUp:
    """Call until the last three calls take as long as the three before, within 10%.

    The profiling executor rewrites the graph during the first calls, more of them when
    there is a backward pass.
    """
    started = time.monotonic()
    times = []
    while True:
        times.append(clock.time(step, 1))
        before, last = sorted(times[-6:-3]), sorted(times[-3:])
        steady = len(times) >= 6 and abs(last[1] - before[1]) <= STEADY * before[1]
        spent = time.monotonic() - started
        enough = len(times) >= (fewest if spent < WARM_UP_SECONDS else min(fewest, SPECIALISED))
        if enough and (steady or spent > WARM_UP_SECONDS or len(times) >= 60):
            return WarmUp(times[0], len(times))
        if spent > 4 * WARM_UP_SECONDS:
            return WarmUp(times[0], len(times))


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds per call of both sides (medians) and the interval of their ratio."""

    eager_seconds: float
    seconds: float
    ratio: Interval | None


def measure(eager: Step, attempt: Step, clock: Clock, budget: float) -> Measurement:
    """Pair up blocks until the interval is sharp or the budget is spent.

    Args:
        budget: seconds on ``clock``; of wall time four times as many, where other
            processes take the rest. The fewest pairs that give an interval may take
            twelve times as much; where even that will not do, none are made.
    """
    fastest = (_fastest(eager, clock), _fastest(attempt, clock))
    if FEWEST * sum(fastest) > PATIENCE * budget:
        return Measurement(fastest[0], fastest[1], None)
    sides = [
        (step, *_block_size(seconds, clock)) for step, seconds in zip((eager, attempt), fastest, strict=True)
    ]
    order = random.Random(0)
    pairs: list[tuple[float, float]] = []
    spent = 0.0
    wall = time.monotonic()
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    try:
        while len(pairs) < LOOKS[-1]:
            waited = max(spent, (time.monotonic() - wall) / 4)
            if waited > (budget if len(pairs) >= FEWEST else PATIENCE * budget):
                break
            seconds = [0.0, 0.0]
            for side in order.sample((0, 1), 2):
                step, calls, primes = sides[side]
                spent += clock.time(step, primes) if primes else 0.0
                block = clock.time(step, calls)
                spent += block
                seconds[side] = block / calls
            pairs.append((seconds[0], seconds[1]))
            if len(pairs) in LOOKS and interval(_ratios(pairs)).is_sharp:
                break
    finally:
        if collecting:
            gc.enable()
    return Measurement(
        _median([a for a, _ in pairs] or [fastest[0]]),
        _median([b for _, b in pairs] or [fastest[1]]),
        interval(_ratios(pairs)) if len(pairs) >= FEWEST else None,
    )


def _ratios(pairs: list[tuple[float, float]]) -> list[float]:
    return [a / max(b, 1e-12) for a, b in pairs]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _fastest(step: Step, clock: Clock) -> float:
    """Seconds of a call: the least of three, of one that is long."""
    first = clock.time(step, 1)
    return first if first > LONG_CALL_SECONDS else min(first, *(clock.time(step, 1) for _ in range(2)))


def _block_size(seconds: float, clock: Clock) -> tuple[int, int]:
    """Calls in a block, and untimed ones before it: the longer a call, the fewer it needs."""
    calls = max(1, round(clock.block_seconds / max(seconds, 1e-9)))
    return min(calls, 1000), 2 if seconds < 0.001 else 1 if seconds < 0.02 else 0
