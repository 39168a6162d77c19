"""Messages over a pipe that hostile code may write to as well.

A frame is one line of JSON behind a secret word. Code under test can find the file
descriptor and write what it likes; without the word it is skipped, and since every
frame starts with a line feed, rubbish never swallows the frame after it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

_LONGEST_LINE = 16 * 2**20

SUPERVISOR_WORD = "tsguard"
"""The word between a supervisor and its user: both are ours, so it is no secret."""

JOB, IMPORT = b"j", b"i"
"""What the warm process is told with a socket: there is a task on it, or names of modules to import."""

HEARTBEAT_SECONDS = 2.0
"""How often a supervisor says that it is alive."""


class FrameWriter:
    """Writes frames to ``descriptor``, from this process only: forked copies stay silent.

    Everything it needs is bound when it is made, so that code which later replaces
    ``os.write`` or ``json.dumps`` does not touch it.
    """

    __slots__ = ("_descriptor", "_encode", "_owner", "_pid", "_word", "_write")

    def __init__(self, descriptor: int, word: str) -> None:
        self._descriptor = descriptor
        self._word = word.encode()
        self._encode: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=True, allow_nan=True).encode
        self._write = os.write
        self._pid = os.getpid
        self._owner = os.getpid()

    def send(self, value: dict[str, Any]) -> None:
        """Write one frame whole.

        Raises:
            OSError: the pipe is closed.
        """
        if self._pid() != self._owner:
            return
        rest = b"\n" + self._word + b" " + self._encode(value).encode() + b"\n"
        while rest:
            rest = rest[self._write(self._descriptor, rest) :]


class FrameReader:
    """Finds the frames in what came out of a pipe."""

    def __init__(self, word: str) -> None:
        self._prefix = word.encode() + b" "
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The frames that ``data`` completes, in order."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        if len(self._pending) > _LONGEST_LINE:
            self._pending = b""
        for line in lines:
            if line.startswith(self._prefix):
                frame = _decoded(line[len(self._prefix) :])
                if frame is not None:
                    yield frame


def _decoded(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
