"""Functions that give something else at every call: random numbers, and the time.

Source: Python's documentation of ``random``, ``secrets``, ``time``, ``datetime``, ``uuid``; NumPy's of ``numpy.random``,
torch's of ``torch.random``.
"""

from __future__ import annotations

from tsguard.analysis.trace import outside
from tsguard.analysis.trace.values import Source

NAMES: dict[Source, str] = {"random": "random numbers", "clock": "the clock", "state": "a global"}
_CLOCKS = frozenset(
    [
        f"time.{name}{unit}"
        for name in ("time", "perf_counter", "monotonic", "process_time")
        for unit in ("", "_ns")
    ]
    + [f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")]
    + ["datetime.date.today"]
)
_DRAWN_FROM = frozenset({"random", "numpy.random", "secrets", *outside.RANDOM})
_DRAWN = frozenset(
    {"os.urandom", "uuid.uuid1", "uuid.uuid4", "torch.initial_seed", "torch.seed"}
    | {"torch.random.initial_seed", "torch.random.seed"}
)
_NOT_DRAWN = frozenset(
    [
        "seed",
        "shuffle",
        "getstate",
        "setstate",
        "Random",
        "SystemRandom",
        "default_rng",
        "get_state",
        "set_state",
    ]
)
SHARES: frozenset[str] = frozenset({"random.random", "numpy.random.random", "numpy.random.rand"})


def source_of(name: str) -> Source | None:
    """What changes from call to call behind a function's back."""
    owner, _, short = name.rpartition(".")
    if (owner in _DRAWN_FROM and short not in _NOT_DRAWN) or name in _DRAWN:
        return "random"
    return "clock" if name in _CLOCKS else None
