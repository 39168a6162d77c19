"""The worker's side of its pipe: the phase it is in, and what it found."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from tsguard.runtime.events import Event, Phase, framed
from tsguard.runtime.frames import FrameWriter


class Channel:
    """Tells the supervisor what is going on.

    ``memory_mb`` is what the worker may hold, 0 for no limit, ``process`` the worker,
    looked up before other code can change how that is done.
    """

    def __init__(self, writer: FrameWriter, memory_mb: int = 0) -> None:
        self._writer = writer
        self.memory_mb = memory_mb
        self.process = psutil.Process()

    def phase(self, name: str, seconds: float | None = None, tried: Sequence[str] | None = None) -> None:
        """Begin a phase; the clock of the limit starts anew.

        Args:
            name: what a crash from here on is attributed to.
            seconds: wall clock for this phase instead of the task's limit.
            tried: the inputs that are tried in it, as expressions.
        """
        self.send(Phase(name, seconds, tuple(tried) if tried is not None else None))

    def send(self, event: Event) -> None:
        """Report a result; it is kept even if the worker crashes afterwards."""
        self._writer.send(framed(event))
