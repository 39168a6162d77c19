"""What the worker process does first and last, around the task's own function."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import json
import os
import resource
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import NoReturn

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import End, InternalError
from tsguard.runtime.frames import FrameWriter
from tsguard.runtime.task import Task

STACK_SIGNAL = signal.SIGUSR2
_FIRST_PRIVATE_DESCRIPTOR = 300


@dataclass(frozen=True, slots=True)
class Pipes:
    """The write ends that a worker gets: results, captured output, stacks at a crash."""

    result: int
    output: int
    fault: int


def fresh_main(request: int, result: int, output: int, fault: int) -> NoReturn:
    """The program of a fresh interpreter: its task lies in the file ``request``."""
    with os.fdopen(request, "rb") as file:
        file.seek(0)
        asked = json.load(file)
    work(Task.from_json(asked["task"]), asked["word"], Pipes(result, output, fault))


def work(task: Task, word: str, pipes: Pipes) -> NoReturn:
    """Do the task in this process and end it, whatever threads are still running."""
    pipes = _settle(pipes)
    channel = Channel(FrameWriter(pipes.result, word), 0 if task.fresh else task.limits.memory_mb)
    leave = os._exit
    try:
        module, _, name = task.entry.partition(":")
        getattr(importlib.import_module(module), name)(task.argument, channel)
    except BaseException:
        channel.send(InternalError(traceback.format_exc()))
    _flush()
    channel.send(End())
    leave(0)


def _settle(pipes: Pipes) -> Pipes:
    """Take the descriptors over, close all others, and make crashes leave a trace."""
    private = Pipes(
        fcntl.fcntl(pipes.result, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE_DESCRIPTOR),
        pipes.output,
        fcntl.fcntl(pipes.fault, fcntl.F_DUPFD_CLOEXEC, _FIRST_PRIVATE_DESCRIPTOR),
    )
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(pipes.output, 1)
    os.dup2(pipes.output, 2)
    os.closerange(3, min(private.result, private.fault))
    os.environ.pop("PYTHONSTARTUP", None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.enable(private.fault)
    faulthandler.register(STACK_SIGNAL, private.fault, all_threads=True, chain=False)
    return private


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
