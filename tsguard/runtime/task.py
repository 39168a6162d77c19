"""What a worker process is asked to do, and how it ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tsguard.runtime.events import Event

Ending = Literal["finished", "exited", "killed", "timeout", "memory", "processes", "lost"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use.

    ``seconds`` of wall clock for each phase, ``memory_mb`` MiB for the whole process
    tree (shared pages counted once), ``output_bytes`` of its output that are kept.
    """

    seconds: float = 60.0
    memory_mb: int = 4096
    output_bytes: int = 64 * 1024


@dataclass(frozen=True, slots=True)
class Task:
    """A call ``entry(argument, channel)`` to be made in a process of its own.

    ``entry`` is ``module:function``, ``argument`` plain JSON values, and ``fresh`` asks
    for a new interpreter instead of a fork of the warm one (CUDA, global flags).
    """

    entry: str
    argument: dict[str, Any]
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False
    cwd: str | None = None

    @property
    def imports_code(self) -> bool:
        """Whether it imports the user's code into a fork of the warm process."""
        return "subject" in self.argument and not self.fresh

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Task:
        return cls(**{**value, "limits": Limits(**value["limits"])})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended.

    ``finished`` is the only good ending: the entry returned. ``number`` is the exit
    status of an ``exited`` worker or the signal of a ``killed`` one. ``phase`` is the
    last that it announced; ``fault`` is the Python stack at a fatal signal or at the
    deadline, innermost frame first; ``output`` what it wrote to its standard streams.
    """

    ending: Ending
    phase: str = "start"
    number: int | None = None
    output: str = ""
    fault: str = ""
    peak_mb: int = 0
    events: tuple[Event, ...] = field(default=(), repr=False)
