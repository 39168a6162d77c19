"""Chunks of work in worker processes: what a worker leaves undone when it dies is done again alone.

The system kills a process that takes too much memory, and a pool that loses one worker
loses all that it was doing. So each lost chunk gets a process of its own, then each of its
parts, until only what kills its process is left.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")

# What is forked from a process with threads may hang; spawning is the same on all systems.
_PROCESSES = get_context("spawn")


@dataclass(frozen=True, slots=True)
class Work(Generic[Part, Outcome]):
    """What is done with a chunk, an outcome for each part, and what becomes of a part whose
    process died: ``died`` is told how. ``do`` must be a function that can be sent to a process."""

    do: Callable[[Sequence[Part]], list[Outcome]]
    died: Callable[[Part, str], Outcome]


def run_in_processes(
    work: Work[Part, Outcome], chunks: Sequence[Sequence[Part]], workers: int
) -> Iterator[Outcome]:
    """The outcomes of all parts of all chunks, in their order."""
    others = active_children()
    with ProcessPoolExecutor(workers, _PROCESSES) as pool:
        left = deque((chunk, _submitted(pool, work, chunk)) for chunk in chunks)
        while left and (outcomes := _outcomes(left[0][1])) is not None:
            left.popleft()
            yield from outcomes
        if left:
            # A broken pool waits for all its processes, and ends all but those it was just starting.
            for process in set(active_children()).difference(others):
                process.kill()
    if left:
        # Those that were done before the pool broke keep what they have.
        with ThreadPoolExecutor(workers) as threads:
            for outcomes in threads.map(lambda item: _outcomes(item[1]) or _alone(work, item[0]), left):
                yield from outcomes


def _submitted(
    pool: ProcessPoolExecutor, work: Work[Part, Outcome], chunk: Sequence[Part]
) -> Future[list[Outcome]] | None:
    try:
        return pool.submit(work.do, chunk)
    # It broke between two steps of starting a process: what the process was to inherit is closed
    # (OSError), or its number is taken by another file already (ValueError).
    except (BrokenProcessPool, OSError, ValueError):
        return None


def _outcomes(future: Future[list[Outcome]] | None) -> list[Outcome] | None:
    """What came of a chunk; None if it was lost with its worker, or with another chunk's."""
    try:
        return future.result() if future is not None else None
    except BrokenProcessPool:
        return None


def _alone(work: Work[Part, Outcome], chunk: Sequence[Part]) -> list[Outcome]:
    """The outcomes of a chunk in a process of its own, or in one for each part if that one dies."""
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_send, args=(sender, partial(work.do, chunk)), daemon=True)
    process.start()
    sender.close()
    try:
        outcomes: list[Outcome] | None = receiver.recv()
    except EOFError:
        outcomes = None
    process.join()
    if outcomes is not None:
        return outcomes
    if len(chunk) == 1:
        return [work.died(chunk[0], _ending(process.exitcode))]
    return [outcome for part in chunk for outcome in _alone(work, [part])]


def _send(sender: Connection, do: Callable[[], object]) -> None:
    sender.send(do())


def _ending(status: int | None) -> str:
    """How a process ended, in words."""
    if status is None or status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
