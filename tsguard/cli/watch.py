"""``tsguard lint --watch``: lint again whenever a file changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import click

# Often enough for who looks at it, seldom enough to cost nothing.
_SECONDS = 0.5

_State = dict[Path, tuple[int, int]]


def watch(run: Callable[[], tuple[int, Iterable[Path]]]) -> int:
    """Run, and again whenever one of the files that the run names has changed, until interrupted.

    ``run`` gives its exit status and the files and folders to look at.
    """
    status = 0
    try:
        while True:
            if sys.stdout.isatty():
                click.clear()
            status, paths = run()
            click.echo("watching; Ctrl+C ends it", err=True)
            _wait(list(paths))
    except KeyboardInterrupt:
        return status


def _wait(paths: list[Path]) -> None:
    before = _state(paths)
    while _state(paths) == before:
        time.sleep(_SECONDS)


def _state(paths: Iterable[Path]) -> _State:
    """The files, and the folders for what comes and goes in them."""
    found: _State = {}
    for path in {*paths, *(path.parent for path in paths)}:
        try:
            stat = os.stat(path)
        except OSError:
            continue
        found[path] = (stat.st_mtime_ns, stat.st_size)
    return found
