"""Our side of the workers: starts the warm process, hands it tasks, hears how they end."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tsguard.runtime import bootstrap
from tsguard.runtime.budgets import CLEAR_UP_SECONDS, IMPORT_SECONDS
from tsguard.runtime.events import Event, PartsImported, Phase, read
from tsguard.runtime.frames import HEARTBEAT_SECONDS, IMPORT, JOB, SUPERVISOR_WORD, FrameReader
from tsguard.runtime.processes import MARK, kill_marked
from tsguard.runtime.task import Outcome, Task

_SILENCE_SECONDS = 30 * HEARTBEAT_SECONDS

EventHandler = Callable[[Event], None]


class TorchUnavailable(RuntimeError):
    """torch cannot be imported by the interpreter that runs the workers; the text tells why."""


class WrongSystem(TorchUnavailable):
    """There are no attempts on this system, whether torch is installed or not."""


def unavailable(reason: TorchUnavailable, remedy: str) -> str:
    """Why there are no workers, and where torch is what is missing, what to do about it."""
    return str(reason) if isinstance(reason, WrongSystem) else f"torch cannot be imported ({reason}){remedy}"


class WorkersEnded(RuntimeError):
    """There are no workers any more, because the run was interrupted."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What the workers run on: versions, and torch's CUDA version if it has one."""

    python: str
    torch: str
    cuda: str | None


def _interpreter(given: str) -> str:
    """The interpreter that is given, or that of the environment that is."""
    if os.path.isdir(given):
        return os.path.join(given, "bin", "python")
    return os.path.abspath(given) if os.path.isfile(given) else given


class Launcher:
    """Runs tasks in worker processes; safe to use from several threads.

    Args:
        python: the interpreter, or the environment, that has torch; ours by default.

    Raises:
        TorchUnavailable: on entering, when that interpreter cannot import torch.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = _interpreter(python) if python else sys.executable
        self._lock = threading.Lock()
        self._supervisors: set[int] = set()
        self._parts: set[str] = set()
        self._wanted: set[str] = set()
        self._ended = False
        self._mark = secrets.token_hex(16)
        self._zygote: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self.folder = Path()
        self.environment = Environment("", "", None)

    def __enter__(self) -> Launcher:
        if os.name != "posix":
            raise WrongSystem("attempts need Linux or macOS: use WSL on Windows")
        self.folder = Path(tempfile.mkdtemp(prefix="tsguard-"))
        try:
            self.environment = self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._ended = True
            for supervisor in self._supervisors:
                _kill(supervisor)
            self._stop()
        kill_marked(self._mark)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, task: Task, on_event: EventHandler | None = None) -> Outcome:
        """Have one task done; ``on_event`` hears of results as they come.

        Parts of torch that the user's code brought in are imported by the warm process before the next task that
        imports such code.

        Raises:
            WorkersEnded: the launcher was left, in another thread.
        """
        if task.imports_code:
            self.import_parts(sorted(self._wanted))
        events: list[Event] = []
        outcome: dict[str, Any] = {"ending": "lost"}
        supervisor = None
        for frame in self._frames(task):
            if frame["event"] == "supervisor":
                supervisor = frame["pid"]
                self._supervisors.add(supervisor)
            elif frame["event"] == "silent":
                _kill(supervisor)
            elif frame["event"] == "outcome":
                outcome = {key: value for key, value in frame.items() if key != "event"}
            elif (event := read(frame)) is not None:
                if isinstance(event, Phase):
                    outcome["phase"] = event.phase
                if isinstance(event, PartsImported):
                    self._wanted.update(event.modules)
                events.append(event)
                if on_event is not None:
                    on_event(event)
        self._supervisors.discard(supervisor or 0)
        return Outcome(**outcome, events=tuple(events))

    def import_parts(self, modules: Iterable[str]) -> None:
        """Have the warm process import parts of torch, so that tasks to come need not; once each."""
        with self._lock:
            new = [name for name in modules if name not in self._parts]
            self._parts.update(new)
            if new and self._control is not None and not self._imported(self._control, new):
                self._stop()

    def _imported(self, control: socket.socket, names: list[str]) -> bool:
        """Whether the warm process has done that, and can still be forked."""
        ours, theirs = socket.socketpair()
        with ours:
            ours.settimeout(IMPORT_SECONDS)
            with theirs, contextlib.suppress(OSError):
                socket.send_fds(control, [IMPORT], [theirs.fileno()])
            with contextlib.suppress(OSError):
                ours.sendall(json.dumps(names).encode() + b"\n")
            return _first_line(ours) is not None

    def _frames(self, task: Task) -> Iterator[dict[str, Any]]:
        connection = self._hand_over(task)
        reader = FrameReader(SUPERVISOR_WORD)
        with connection:
            connection.settimeout(_SILENCE_SECONDS)
            while True:
                try:
                    data = connection.recv(2**18)
                except TimeoutError:
                    yield {"event": "silent"}
                    return
                except ConnectionResetError:
                    return
                if not data:
                    return
                for frame in reader.feed(data):
                    if frame["event"] == "outcome":
                        # The supervisor clears up and ends: nobody waits for that for long.
                        connection.settimeout(CLEAR_UP_SECONDS)
                    yield frame

    def _hand_over(self, task: Task) -> socket.socket:
        """Give the zygote a task; a zygote that was killed is replaced once."""
        ours, theirs = socket.socketpair()
        with theirs:
            for last_try in (False, True):
                try:
                    with self._lock:
                        if self._ended:
                            raise WorkersEnded
                        if self._control is None:
                            self._start()
                        assert self._control is not None
                        socket.send_fds(self._control, [JOB], [theirs.fileno()])
                    break
                except OSError:
                    with self._lock:
                        self._stop()
                    if last_try:
                        raise
        asked = {"task": task.to_json(), "word": secrets.token_hex(16)}
        with contextlib.suppress(BrokenPipeError):
            ours.sendall(json.dumps(asked).encode() + b"\n")
        return ours

    def _start(self) -> Environment:
        ours, theirs = socket.socketpair()
        log = self.folder / "zygote.log"
        with theirs, open(log, "wb") as errors:
            try:
                self._zygote = subprocess.Popen(
                    bootstrap.command(self._python, "tsguard.runtime.zygote:main", theirs.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    env={**bootstrap.environment(), "TMPDIR": str(self.folder), MARK: self._mark},
                    pass_fds=[theirs.fileno()],
                )
            except OSError as error:
                told = f"{self._python} is no interpreter that can be started: {error.strerror}"
                raise TorchUnavailable(told) from None
        self._control = ours
        ours.settimeout(IMPORT_SECONDS)
        facts = _first_line(ours)
        ours.settimeout(None)
        if facts is None:
            raise TorchUnavailable(_last_line(log) or "the interpreter died while importing torch")
        if facts["torch"] is None:
            raise TorchUnavailable(facts["error"])
        return Environment(facts["python"], facts["torch"], facts["cuda"])

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._zygote is not None:
            try:
                self._zygote.wait(10)
            except subprocess.TimeoutExpired:
                self._zygote.kill()
                self._zygote.wait()
            self._zygote = None


def _first_line(connection: socket.socket) -> dict[str, Any] | None:
    data = b""
    with contextlib.suppress(OSError):
        while not data.endswith(b"\n"):
            part = connection.recv(2**16)
            if not part:
                return None
            data += part
    return json.loads(data) if data.endswith(b"\n") else None


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _kill(pid: int | None) -> None:
    if pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
