"""Trees of processes: who descends from whom, what they hold in memory, ending them all.

On Linux orphans come to the supervisor that asked for them, so a tree is complete however
its members detach themselves. Elsewhere they are known by a word in their environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator

import psutil

MARK = "TSGUARD_RUN"
"""The environment variable that all processes of one launcher have in common."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_GONE = (psutil.NoSuchProcess, psutil.AccessDenied)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make processes whose parent dies children of this one, if they descend from it."""
    if _LINUX:
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent``, which forked it, ends."""
    if _LINUX:
        _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def descendants(root: int) -> list[int]:
    """Every living process below ``root``."""
    try:
        below = psutil.Process(root).children(recursive=True)
    except _GONE:
        return []
    return [process.pid for process in below if _lives(process)]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except _GONE:
        return False


def parent_of(pid: int) -> int | None:
    """The parent of a process, None when it is gone."""
    try:
        return int(psutil.Process(pid).ppid())
    except _GONE:
        return None


def memory_mb(pids: Iterable[int], limit_mb: int) -> int:
    """MiB held by these processes; pages they share count once when near ``limit_mb``."""
    processes = list(_processes(pids))
    resident = sum(_held(process, exact=False) for process in processes)
    if resident > limit_mb * 2**20:
        resident = sum(_held(process, exact=True) for process in processes)
    return resident >> 20


def _processes(pids: Iterable[int]) -> Iterator[psutil.Process]:
    for pid in pids:
        with contextlib.suppress(*_GONE):
            yield psutil.Process(pid)


def _held(process: psutil.Process, *, exact: bool) -> int:
    try:
        if not exact:
            return int(process.memory_info().rss)
        held = process.memory_full_info()
        return int(getattr(held, "pss", held.uss))
    except _GONE:
        return 0


def kill_below(root: int, group: int | None = None) -> None:
    """Kill every process below ``root`` and reap those that become its children.

    All are stopped before any is killed, so that none can fork while the others die;
    repeated until several scans in a row find nothing, because one may miss a child
    that was being born.
    """
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    empty_scans = 0
    while empty_scans < 3:
        pids = descendants(root)
        _end(pids)
        if root == os.getpid():
            reap()
        empty_scans = 0 if pids else empty_scans + 1
        if pids:
            time.sleep(0.002)


def kill_marked(mark: str) -> None:
    """Kill every process of this user that has the mark in its environment, ourselves apart."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(*_GONE, psutil.ZombieProcess, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                found.append(process.pid)
    _end(found)


def _end(pids: Iterable[int]) -> None:
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def reap() -> dict[int, int]:
    """Collect every ended child: process id to wait status."""
    ended = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            ended[pid] = status
    return ended
