"""What was tried on a target with torch, and what it showed."""

from __future__ import annotations

from typing import Literal

from tsguard.report.records import dataclass

AttemptStatus = Literal["ok", "failed", "diverged", "timeout", "crashed", "skipped"]
Conclusion = Literal["faster", "slower", "no difference", "too noisy"]


@dataclass(frozen=True, slots=True)
class AttemptError:
    """What stopped an attempt; ``path`` and ``line`` are the user's, where known."""

    type: str
    message: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One set of inputs on which an attempt was compared with eager."""

    name: str
    equal: bool
    max_error: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Parity:
    """Agreement with eager: ``ok`` only when every variant agrees."""

    ok: bool
    variants: tuple[Variant, ...] = ()
    gradients: bool | None = None
    buffers: bool | None = None


@dataclass(frozen=True, slots=True)
class Speedup:
    """Median of paired eager/attempt time ratios, with its confidence interval."""

    median: float
    low: float
    high: float
    rounds: int
    conclusion: Conclusion


@dataclass(frozen=True, slots=True)
class Attempt:
    """One real run of one backend on one device in one mode.

    ``compile_seconds`` is what making it cost (script, trace, freeze...),
    ``first_call_seconds`` its first call, ``seconds`` and ``eager_seconds`` the median
    of one warm call of it and of eager, all in CPU seconds of the calling thread on
    CPU and in wall seconds on a GPU.  ``saved`` tells whether a saved artifact gives the
    same result in a process that does not have the user's code.  ``breaks`` are the places where
    torch.compile leaves the graph: with any, it refuses ``fullgraph=True``.
    """

    backend: str
    device: str
    mode: Literal["eval", "train"]
    passes: Literal["forward", "forward+backward"]
    status: AttemptStatus
    error: AttemptError | None = None
    parity: Parity | None = None
    warm_up_calls: int = 0
    compile_seconds: float = 0.0
    speedup: Speedup | None = None
    warnings: tuple[AttemptError, ...] = ()
    dtype: str | None = None
    first_call_seconds: float | None = None
    seconds: float | None = None
    eager_seconds: float | None = None
    saved: bool | None = None
    note: str | None = None
    breaks: tuple[AttemptError, ...] = ()


@dataclass(frozen=True, slots=True)
class Submodule:
    """One distinct submodule of a target: what became of it on its own.

    ``share`` is its part of the eager time of the whole, with its submodules. ``error`` is
    why it does not script, or else why it does not trace, ``trace_error`` why it does not
    trace where neither works; ``note`` says why there is no speed.
    """

    path: str
    type: str
    calls: int
    share: float | None = None
    script: AttemptStatus = "skipped"
    trace: AttemptStatus = "skipped"
    speedup: Speedup | None = None
    error: AttemptError | None = None
    trace_error: AttemptError | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where a target's time goes, and the fewest submodules worth scripting.

    ``speedup`` is that of the whole with exactly those scripted, measured end to end.
    ``note`` says why none is chosen, or what kept it from being measured.
    """

    submodules: tuple[Submodule, ...] = ()
    chosen: tuple[str, ...] = ()
    speedup: Speedup | None = None
    equal: bool | None = None
    note: str | None = None
