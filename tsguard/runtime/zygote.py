"""The warm process: imports torch once, then forks a supervisor with a worker for each task.

It must stay forkable: one thread, no OpenMP region, no CUDA. So it imports and waits. What it imports is torch,
and later the parts of torch that tasks were seen to need: never the user's code.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import platform
import select
import signal
import socket
from typing import Any

import psutil

from tsguard.runtime.budgets import IDLE_SECONDS
from tsguard.runtime.frames import IMPORT
from tsguard.runtime.processes import adopt_orphans, descendants, kill_below, parent_of, reap
from tsguard.runtime.supervisor import line_of, supervise

_WORKER_MODULES = (
    "tsguard.runtime.worker.session",
    "tsguard.runtime.worker.reloading",
    "tsguard.runtime.worker.harvest",
    "tsguard.runtime.worker.holed_sources",
    "tsguard.runtime.worker.repairing",
)


def main(control: int) -> None:
    """Serve tasks that arrive as file descriptors on the socket ``control`` until it closes."""
    os.setsid()
    adopt_orphans()
    connection = socket.socket(fileno=control)
    connection.sendall(json.dumps(_warm_up()).encode() + b"\n")
    supervisors: set[int] = set()
    while True:
        ready, _, _ = select.select([connection], [], [], IDLE_SECONDS)
        supervisors -= reap().keys()
        if not ready:
            _end_strays(supervisors)
            continue
        message, jobs, _, _ = socket.recv_fds(connection, 1, 1)
        if not message:
            break
        for job in jobs:
            if message == IMPORT:
                _import_parts(job)
            else:
                supervisors.add(_fork_supervisor(connection, job))
    kill_below(os.getpid())


def _warm_up() -> dict[str, Any]:
    """Import what every task needs; what there is, or why it cannot be had."""
    facts: dict[str, Any] = {"python": platform.python_version()}
    try:
        import torch

        torch.set_num_threads(1)
        for name in _WORKER_MODULES:
            importlib.import_module(name)
    except Exception as error:
        return {**facts, "torch": None, "error": f"{type(error).__name__}: {error}"}
    gc.collect()
    gc.freeze()
    return {**facts, "torch": torch.__version__, "cuda": torch.version.cuda, "error": None}


def _import_parts(job: int) -> None:
    """Import the parts of torch that the socket ``job`` names; answer if we can still be forked."""
    with socket.socket(fileno=job) as connection:
        threads = psutil.Process().num_threads()
        for name in json.loads(line_of(connection)):
            if name.startswith("torch."):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        gc.collect()
        gc.freeze()
        if psutil.Process().num_threads() > threads:
            # A fork would lose them: another process is started in our place.
            os._exit(1)
        connection.sendall(b"{}\n")


def _fork_supervisor(connection: socket.socket, job: int) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            connection.close()
            supervise(job)
        finally:
            os._exit(0)
    os.close(job)
    return pid


def _end_strays(supervisors: set[int]) -> None:
    """Kill workers whose supervisor was killed, by them or by others."""
    for pid in descendants(os.getpid()):
        if parent_of(pid) == os.getpid() and pid not in supervisors:
            kill_below(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
