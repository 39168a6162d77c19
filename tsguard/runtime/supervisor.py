"""One worker process under watch: started, limited, listened to, and ended with all its children.

A supervisor is a process of its own for each worker, so that "everything below me" is
exactly what the worker started, orphans included.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from tsguard.runtime import bootstrap
from tsguard.runtime.budgets import COUNT_SECONDS, MOST_PROCESSES, STACK_GRACE_SECONDS, TICK_SECONDS
from tsguard.runtime.entry import STACK_SIGNAL, Pipes, work
from tsguard.runtime.events import End, Phase
from tsguard.runtime.frames import HEARTBEAT_SECONDS, SUPERVISOR_WORD, FrameReader, FrameWriter
from tsguard.runtime.processes import adopt_orphans, descendants, die_with_parent, kill_below, memory_mb
from tsguard.runtime.task import Ending, Limits, Task


def supervise(job: int) -> None:
    """Read a task from the socket ``job``, have it done, and report there."""
    adopt_orphans()
    with socket.socket(fileno=job) as connection:
        asked = json.loads(line_of(connection))
        task = Task.from_json(asked["task"])
        if task.cwd is not None:
            os.chdir(task.cwd)
        report = FrameWriter(connection.fileno(), SUPERVISOR_WORD)
        report.send({"event": "supervisor", "pid": os.getpid()})
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            report.send(_Watch(task, asked["word"], connection, report).until_the_end())
        kill_below(os.getpid())


def line_of(connection: socket.socket) -> bytes:
    """The one line that our side sends; without it there is nothing to do."""
    data = b""
    while not data.endswith(b"\n"):
        part = connection.recv(2**16)
        if not part:
            os._exit(0)
        data += part
    return data


@dataclass(slots=True)
class _Kept:
    """The first and the last part of a stream that may be endless."""

    limit: int
    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0

    def add(self, data: bytes) -> None:
        half = self.limit // 2
        room = half - len(self.head)
        self.head += data[:room] if room > 0 else b""
        rest = self.tail + data[max(room, 0) :]
        self.dropped += max(len(rest) - half, 0)
        self.tail = rest[-half:]

    def text(self) -> str:
        gap = f"\n[... {self.dropped} bytes left out ...]\n".encode() if self.dropped else b""
        return (self.head + gap + self.tail).decode(errors="replace")


class _Watch:
    """The life of one worker."""

    def __init__(self, task: Task, word: str, connection: socket.socket, report: FrameWriter) -> None:
        self.limits: Limits = task.limits
        self.connection = connection
        self.report = report
        self.reader = FrameReader(word)
        self.output = _Kept(task.limits.output_bytes)
        self.fault = _Kept(task.limits.output_bytes)
        self.phase = "start"
        self.peak_mb = 0
        self.counted = 0.0
        self.below: list[int] = []
        self.finished = False
        self.status: int | None = None
        self.started = time.monotonic()
        self.deadline = self.started + task.limits.seconds
        self.selector = selectors.DefaultSelector()
        self.streams: dict[int, Any] = {}
        self.worker = self._start(task, word)

    def _start(self, task: Task, word: str) -> int:
        result, output, fault = os.pipe(), os.pipe(), os.pipe()
        pipes = Pipes(result[1], output[1], fault[1])
        pid = os.fork()
        if pid == 0:
            _become_worker(task, word, pipes)
        for (read_end, write_end), sink in zip(
            (result, output, fault), (self._result, self.output.add, self.fault.add), strict=True
        ):
            os.close(write_end)
            os.set_blocking(read_end, False)
            self.streams[read_end] = sink
            self.selector.register(read_end, selectors.EVENT_READ)
        self.selector.register(self.connection, selectors.EVENT_READ)
        with contextlib.suppress(AttributeError, OSError):
            self.selector.register(os.pidfd_open(pid), selectors.EVENT_READ)
        return pid

    def _result(self, data: bytes) -> None:
        for frame in self.reader.feed(data):
            if frame.get("event") == End.__name__:
                self.finished = True
            elif frame.get("event") == Phase.__name__:
                self.phase = str(frame.get("phase"))
                self.deadline = time.monotonic() + float(frame.get("seconds") or self.limits.seconds)
            self.report.send(frame)

    def until_the_end(self) -> dict[str, Any]:
        """Watch until the worker ended or had to be; what happened, as a frame."""
        ending = self._watch()
        if ending == "timeout":
            self._ask_for_stack()
        kill_below(os.getpid(), self.worker)
        for stream in list(self.streams):
            self._drain(stream)
        if self.finished:
            ending = "finished"
        number = None
        if self.status is not None and ending != "finished":
            number = os.waitstatus_to_exitcode(self.status)
        return {
            "event": "outcome",
            "ending": ending,
            "phase": self.phase,
            "number": abs(number) if number is not None else None,
            "output": self.output.text(),
            "fault": self.fault.text(),
            "peak_mb": self.peak_mb,
        }

    def _watch(self) -> Ending:
        next_beat = looked = 0.0
        while not self.finished:
            for key, _ in self.selector.select(TICK_SECONDS):
                if key.fileobj is self.connection:
                    return "lost"
                self._drain(key.fd)
            if self._ended():
                return "killed" if os.WIFSIGNALED(self.status or 0) else "exited"
            now = time.monotonic()
            if now >= self.deadline:
                return "timeout"
            if now >= looked + TICK_SECONDS:
                looked = now
                exceeded = self._over_limits(now)
                if exceeded is not None:
                    return exceeded
            if now >= next_beat:
                next_beat = now + HEARTBEAT_SECONDS
                self.report.send({"event": "alive"})
        return "finished"

    def _ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.worker, os.WNOHANG)
            self.status = status if pid else None
        return self.status is not None

    def _over_limits(self, now: float) -> Ending | None:
        # Scanning all processes of the machine would disturb timings if it were done at each tick.
        if now >= self.counted + COUNT_SECONDS:
            self.counted = now
            self.below = descendants(os.getpid())
            if len(self.below) > MOST_PROCESSES:
                return "processes"
        held = memory_mb({self.worker, *self.below}, self.limits.memory_mb)
        self.peak_mb = max(self.peak_mb, held)
        return "memory" if held > self.limits.memory_mb else None

    def _ask_for_stack(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.worker, STACK_SIGNAL)
        until = time.monotonic() + STACK_GRACE_SECONDS
        seen = -1
        while time.monotonic() < until and (not self.fault.head or seen != len(self.fault.head)):
            seen = len(self.fault.head)
            for key, _ in self.selector.select(TICK_SECONDS):
                self._drain(key.fd)
            if self._ended():
                return

    def _drain(self, stream: int) -> None:
        sink = self.streams.get(stream)
        if sink is None:
            return
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                data = os.read(stream, 2**18)
                if not data:
                    self.selector.unregister(stream)
                    del self.streams[stream]
                    os.close(stream)
                    return
                sink(data)


def _become_worker(task: Task, word: str, pipes: Pipes) -> None:
    try:
        supervisor = os.getppid()
        os.setsid()
        die_with_parent(supervisor)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if not task.fresh:
            work(task, word, pipes)
        with tempfile.TemporaryFile() as request:
            request.write(json.dumps({"task": task.to_json(), "word": word}).encode())
            request.flush()
            kept = (request.fileno(), pipes.result, pipes.output, pipes.fault)
            for descriptor in kept:
                os.set_inheritable(descriptor, True)
            command = bootstrap.command(sys.executable, "tsguard.runtime.entry:fresh_main", *kept)
            os.execve(command[0], command, dict(os.environ))
    finally:
        os._exit(70)
