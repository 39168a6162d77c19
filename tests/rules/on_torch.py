"""Runs examples on torch: one warm process that forks for each of them.

Importing torch takes seconds and a failed script leaves state behind, so this process
imports torch once and gives every example a child of its own.  Where there is no
``fork``, every example gets a new interpreter.

Requests and answers are lines of JSON.  A request names the experiment, the example's
file and its target.  An experiment is the function ``observe``, or ``observe_file``, in
``tests/rules/observe_NAME.py``; its answer is whatever JSON its tests want.  What is slow the
first time, ``warm_up`` there does once, in the process that forks.
An answer ``{"crashed": text}`` says that the child ended without one.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
Answer = dict[str, Any]

_SECONDS = 120.0


class TorchUnavailable(Exception):
    """The interpreter that runs the tests cannot import torch."""


class ExampleCrashed(Exception):
    """An example could not be run to the end: a bug in the page, in the experiment or in torch."""


class TorchProcess:
    """The tests' end: starts the process, asks it about examples, ends it."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            TorchUnavailable: torch cannot be imported.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.rules.on_torch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        )
        ready: Answer = json.loads(self._line())
        if ready["error"]:
            self.close()
            raise TorchUnavailable(ready["error"])

    def observe(self, experiment: str, path: Path, target: str) -> Answer:
        """What an experiment shows of a target in a file.

        Raises:
            ExampleCrashed: it shows nothing; the message is a traceback or an exit code.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([experiment, str(path), target]) + "\n")
        self._process.stdin.flush()
        answer: Answer = json.loads(self._line())
        if "crashed" in answer:
            raise ExampleCrashed(answer["crashed"])
        return answer

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def load(path: str) -> ModuleType:
    """Import a file by its path, so that its source can be found again."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def serve() -> None:
    """The process itself: answer requests until there are no more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # What examples print must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        _warm_up()
        error = ""
    except ImportError as reason:
        error = str(reason)
    _say(answers.fileno(), {"error": error})
    warm: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        if request[0] not in warm:
            warm.add(request[0])
            getattr(_experiment(request[0]), "warm_up", lambda: None)()
        _say(answers.fileno(), _forked(request) if hasattr(os, "fork") else _spawned(request))


def _warm_up() -> None:
    import torch

    torch.set_num_threads(1)
    torch.jit.script(torch.nn.Identity())


def _forked(request: list[str]) -> Answer:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _say(writing, _answer(request))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        if not select.select([stream], [], [], _SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"crashed": f"exit code {os.waitstatus_to_exitcode(status)}"}


def _spawned(request: list[str]) -> Answer:
    command = [sys.executable, "-m", "tests.rules.on_torch", *request]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, cwd=ROOT)
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else {"crashed": f"exit code {done.returncode}"}


def _answer(request: list[str]) -> Answer:
    name, path, target = request
    try:
        experiment = _experiment(name)
        # Where importing an example is the experiment, its own function does it.
        answer: Answer = (
            experiment.observe_file(path, target)
            if hasattr(experiment, "observe_file")
            else experiment.observe(load(path), target)
        )
    except Exception:
        return {"crashed": traceback.format_exc()}
    return answer


def _experiment(name: str) -> ModuleType:
    return importlib.import_module(f"tests.rules.observe_{name}")


def _say(descriptor: int, answer: Answer) -> None:
    with os.fdopen(descriptor, "w", closefd=False) as stream:
        stream.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    if sys.argv[1:]:
        _say(sys.stdout.fileno(), _answer(sys.argv[1:]))
    else:
        serve()
