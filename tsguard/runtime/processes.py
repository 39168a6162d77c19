"""Trees of processes: who descends from whom, what they hold in memory, ending them all.

Linux tells all of it through /proc and prctl. Elsewhere a tree is its process group:
good enough for honest code, and said so in the documentation.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LINUX = sys.platform == "linux"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


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
    """Every living process below ``root``, parents before children."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc") if _LINUX else ():
        if entry.isdigit():
            parent = _living_parent(int(entry))
            if parent is not None:
                children.setdefault(parent, []).append(int(entry))
    found, fringe = [], [root]
    while fringe:
        below = children.get(fringe.pop(), [])
        found += below
        fringe += below
    return found


def _living_parent(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    state, parent = stat[stat.rindex(b")") + 2 :].split(maxsplit=2)[:2]
    return None if state in (b"Z", b"X") else int(parent)


def memory_mb(pids: list[int], limit_mb: int) -> int:
    """MiB held by these processes; pages they share count once when near ``limit_mb``."""
    resident = sum(_resident(pid) for pid in pids)
    if resident <= limit_mb * 2**20:
        return resident >> 20
    return sum(_proportional(pid) for pid in pids) >> 20


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return _resident(pid)


def kill_below(root: int, group: int | None = None) -> None:
    """Kill every process below ``root`` and reap those that become its children.

    All are stopped before any is killed, so that none can fork while the others die;
    repeated until several scans in a row find nothing, because one may miss a child
    that was being born.
    """
    if group is not None:
        _signal_group(group, signal.SIGKILL)
    empty_scans = 0
    while empty_scans < 3:
        pids = descendants(root)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                _signal(pid, number)
        if root == os.getpid():
            reap()
        empty_scans = 0 if pids else empty_scans + 1
        if pids:
            time.sleep(0.002)


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


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
