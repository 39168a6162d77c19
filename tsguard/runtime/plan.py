"""What is attempted on a target, and what came of it, as it travels between processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from tsguard.report import Attempt, AttemptError, AttemptStatus
from tsguard.settings.dynamic import OpenSizes, open_sizes

Passes = Literal["forward", "forward+backward"]


@dataclass(frozen=True, slots=True)
class AttemptSpec:
    """One attempt to make; ``dtype`` is a name such as ``bfloat16``, None for the model's own."""

    backend: str
    device: str = "cpu"
    mode: Literal["eval", "train"] = "eval"
    dtype: str | None = None

    @property
    def phase(self) -> str:
        """What a crash during this attempt is attributed to."""
        return " ".join(filter(None, (self.backend, self.device, self.mode, self.dtype)))

    @classmethod
    def of(cls, attempt: Attempt) -> AttemptSpec:
        """What an attempt was of."""
        return cls(attempt.backend, attempt.device, attempt.mode, attempt.dtype)

    def ended(
        self,
        status: AttemptStatus,
        error: AttemptError | None = None,
        note: str | None = None,
        passes: Passes = "forward",
    ) -> Attempt:
        """The attempt, with what came of it."""
        return Attempt(
            self.backend, self.device, self.mode, passes, status, error, dtype=self.dtype, note=note
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """How attempts are made.

    ``timing_seconds`` of wall clock may go into timing one attempt (0: no timing);
    ``timing_lock`` is a file that only one worker may hold while it times; ``folder`` is
    where artifacts are saved to be reloaded. ``confirm`` has small differences measured a
    second time in another process, which then need ``only_time``.
    """

    timing_seconds: float = 4.0
    threads: int = 1
    timing_lock: str | None = None
    folder: str | None = None
    confirm: bool = False
    only_time: bool = False
    dynamic: tuple[str, ...] = ()

    @property
    def open_sizes(self) -> list[OpenSizes]:
        return [open_sizes(text) for text in self.dynamic]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
