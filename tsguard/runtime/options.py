"""The options of ``tsguard check``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Required = Literal["script", "trace", "either"]
DEFAULT_BACKENDS = ("script", "trace")
BACKEND_NAMES = (
    "script",
    "trace",
    "freeze",
    "optimize_for_inference",
    "onednn",
    "compile",
    "export",
    "export_dynamic",
    "aot_inductor",
)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What ``tsguard check`` may be told, with the defaults of a run told nothing.

    ``inputs`` are the expressions of ``--input``; ``devices`` ``auto``, ``cpu``, ``cuda``
    or ``cuda:N``; ``dtypes`` names such as ``bfloat16`` to attempt besides the model's
    own.  ``time_budget`` is seconds for timing each target (of CPU time, on the CPU), 0 for none;
    ``timeout`` seconds for each step of a target; ``memory_limit`` MiB for a worker, None
    for three quarters of the machine's memory shared by the workers; ``threads`` torch's
    threads in a worker.  ``previous`` is the report of ``--compare``, ``save`` the folder
    for artifacts, ``scheduler`` the address of a Dask cluster, ``python`` the interpreter
    that has torch, None for ours.  ``given`` are the names of those that somebody gave: they go before
    what the configuration says of a target.
    """

    inputs: tuple[str, ...] = ()
    devices: tuple[str, ...] = ("auto",)
    modes: tuple[str, ...] = ("eval", "train")
    backends: tuple[str, ...] = DEFAULT_BACKENDS
    dtypes: tuple[str, ...] = ()
    time_budget: float = 10.0
    timeout: float = 60.0
    memory_limit: int | None = None
    threads: int = 1
    require: Required | None = None
    min_speedup: float | None = None
    previous: Path | None = None
    save: Path | None = None
    breakdown: bool = False
    scheduler: str | None = None
    python: Path | None = None
    workers: int = 0
    given: frozenset[str] = frozenset()
