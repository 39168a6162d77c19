"""One turn of a number of workers: start them, reach the steady state, count items, stop them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader

from tsguard.report import AttemptError, AttemptStatus
from tsguard.runtime.budgets import STACK_SECONDS
from tsguard.runtime.entry import STACK_SIGNAL
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.errors import described, message_of
from tsguard.runtime.worker.loaders.copies import Batches, Variation

Consumer = Callable[[Any], None]

_TIMED_OUT = "DataLoader timed out"
_DIED = re.compile(r"DataLoader worker \(pid\S* [\d, ]+\) (?P<how>(is killed by signal: |exited )[^.]*)")
_IN_WORKER = re.compile(r"Caught (?P<type>[\w.]+) in DataLoader worker process \d+\.")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+), in ', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn gave: items per second, and how long its first batch was waited for.

    ``foreign`` is the share of all cores' time that other processes took meanwhile.
    """

    rate: float
    first_batch_seconds: float
    foreign: float | None


class TurnFailed(Exception):
    """The workers did not deliver."""

    def __init__(self, status: AttemptStatus, error: AttemptError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


def take_turn(
    loader: DataLoader[Any],
    variation: Variation,
    seconds: float,
    code: UserCode,
    consume: Consumer = lambda batch: None,
) -> Turn:
    """Count items for about ``seconds``, apart from what starting takes; each batch is given to ``consume``.

    Raises:
        TurnFailed: the dataset raises, or a worker hangs, dies or cannot be started.
    """
    load = _Load()
    batches = Batches(loader, variation)
    died: int | None = None
    started = time.perf_counter()
    try:
        with batches:
            try:
                batches.next()
                first = time.perf_counter() - started
                rate = _steady_rate(batches, variation.workers, seconds, consume)
            except Exception as error:
                if message_of(error).startswith(_TIMED_OUT):
                    _show_stacks(batches.worker_pids)
                died = batches.died()
                raise
    except Exception as error:
        raise _failure(error, died, code) from error
    return Turn(rate, first, load.foreign_share())


def _steady_rate(batches: Batches, workers: int, seconds: float, consume: Consumer) -> float:
    """Items per second once every worker has delivered; batches are counted in whole rounds of the workers."""
    around = max(workers, 1)
    for _ in range(2 * workers):
        consume(batches.next()[0])
    started = time.perf_counter()
    count = made = 0
    while True:
        batch, items = batches.next()
        consume(batch)
        made += 1
        count += items
        spent = time.perf_counter() - started
        if spent >= seconds and made % around == 0:
            return count / spent


def _show_stacks(pids: list[int]) -> None:
    """Have hanging workers write where they are, for the supervisor to read."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, STACK_SIGNAL)
    time.sleep(STACK_SECONDS)


def _failure(error: BaseException, died: int | None, code: UserCode) -> TurnFailed:
    text = message_of(error)
    if text.startswith(_TIMED_OUT):
        return TurnFailed("timeout", AttemptError("Timeout", "a worker did not return a batch in time"))
    if died is not None:
        return TurnFailed("crashed", AttemptError("Crash", f"a worker {_how(died)}"))
    if noticed := _DIED.search(text):
        return TurnFailed("crashed", AttemptError("Crash", f"a worker {noticed['how']}"))
    if inside := _IN_WORKER.search(text):
        return TurnFailed("failed", _raised_in_worker(text, inside["type"], code))
    return TurnFailed("failed", described(error, code))


def _how(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exited with status {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    hint = ": shared memory may be too small for the batches" if name == "SIGBUS" else ""
    return f"was killed by {name}{hint}"


def _raised_in_worker(text: str, kind: str, code: UserCode) -> AttemptError:
    """The exception of a worker, at the innermost line of the user's that its traceback names."""
    owned = [(m["file"], int(m["line"])) for m in _FRAME.finditer(text) if code.owns(m["file"])]
    path, line = owned[-1] if owned else (None, None)
    said = text.strip().rpartition("\n")[2]
    return AttemptError(kind, said.removeprefix(f"{kind}: "), path, line)


class _Load:
    """Who used the machine's cores since this was made: we with our children, or others."""

    def __init__(self) -> None:
        self._began = _busy_seconds()
        self._own = _own_seconds()
        self._wall = time.perf_counter()

    def foreign_share(self) -> float | None:
        """The share of all cores' time that others used; None where the system does not tell."""
        busy = _busy_seconds()
        if busy is None or self._began is None:
            return None
        wall = max(time.perf_counter() - self._wall, 1e-9)
        foreign = busy - self._began - (_own_seconds() - self._own)
        return max(foreign, 0.0) / wall / (os.cpu_count() or 1)


def _busy_seconds() -> float | None:
    """CPU time of all processes since the machine started, as Linux counts it."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, file.readline().split()[1:])
    except (OSError, ValueError):
        return None
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    return sum(os.times()[:4])
