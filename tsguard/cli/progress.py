"""What a person, or the log of a build, sees of attempts while they are made; on standard error."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from tsguard.cli.options import Options
from tsguard.runtime.progress import Progress


@contextmanager
def telling(options: Options) -> Iterator[Progress]:
    """A live line on a terminal, a line a target in the log of a build, else nothing."""
    if options.quiet:
        yield Progress()
    elif "CI" in os.environ:
        yield _Log()
    elif sys.stderr.isatty():
        with _Live() as live:
            yield live
    else:
        yield Progress()


class _Log(Progress):
    """``[3/12] net.py:Net: script ok, trace ok (4 s)``."""

    def __init__(self) -> None:
        self._total = 0
        self._names: set[str] = set()
        self._started = time.monotonic()

    def begin(self, targets: int) -> None:
        self._total = targets

    def done(self, target: str, outcome: str) -> None:
        self._names.add(target)
        seconds = time.monotonic() - self._started
        click.echo(f"[{len(self._names)}/{self._total}] {target}: {outcome} ({seconds:.0f} s)", err=True)


class _Live(Progress):
    """A spinner with how many targets are done of all, the step, and the time that has passed."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bar
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
        self._bar: Any = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("starting", total=None)
        self._total = 0
        self._names: set[str] = set()
        self._text = "starting"

    def __enter__(self) -> _Live:
        self._bar.start()
        return self

    def __exit__(self, *details: object) -> None:
        self._bar.stop()

    def begin(self, targets: int) -> None:
        self._total = targets
        self._show()

    def step(self, text: str) -> None:
        self._text = text
        self._show()

    def done(self, target: str, outcome: str) -> None:
        self._names.add(target)
        self._show()

    def _show(self) -> None:
        count = f"{len(self._names)} of {self._total} done  " if self._total else ""
        self._bar.update(self._task, description=f"{count}{self._text}", refresh=True)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have a second interruption end the process at once; its workers end by themselves."""

    def at_once(number: int, frame: FrameType | None) -> None:
        os._exit(130)

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, at_once)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
