"""The articles' cases measured: a hand-written Conv2d, an LSTM, and collate functions.

    python benchmarks/articles.py [--device cpu] [--only conv]

Prints a Markdown table: eager's time of one call and, for each backend, the ratio
eager/attempt with its 95% interval. The same attempts as ``tsguard check`` makes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tsguard.report import Attempt
from tsguard.runtime.attempts import Assignment, Bounds, TargetAttempts
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.shown import ratio
from tsguard.runtime.site import Site, local_site
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
BACKENDS = ("script", "trace", "freeze", "compile")
# Unrolled loops take torch.compile minutes: it gets its chance in inference only.
SKIPPED = {("compile", "train"), ("freeze", "train")}


@dataclass(frozen=True)
class Case:
    """One line of the table: a target in a fixture, its input, the modes to run."""

    title: str
    file: str
    target: str
    inputs: tuple[str, ...]
    modes: tuple[str, ...] = ("eval", "train")
    backends: tuple[str, ...] = BACKENDS


def _batch(count: int, shape: str) -> tuple[str, ...]:
    return (f"[(torch.rand({shape}), i) for i in range({count})]",)


CASES = [
    Case("Conv2d by hand, 1x3x512x512", "conv2d.py", "Conv2d(3, 16, 3)", ("torch.rand(1, 3, 512, 512)",)),
    Case("Conv2d as ScriptModule, 1x3x512x512", "conv2d.py", "ScriptConv2d(3, 16, 3)", ("torch.rand(1, 3, 512, 512)",), ("eval",), ("freeze",)),
    Case("Conv2d by hand, 1x3x32x32", "conv2d.py", "Conv2d(3, 16, 3)", ("torch.rand(1, 3, 32, 32)",)),
    Case("LSTM by hand, 50 steps, batch 8, 64 wide", "lstm.py", "LSTM(64, 64)", ("torch.randn(50, 8, 64)",)),
    Case("LSTM by hand, 50 steps, batch 64, 256 wide", "lstm.py", "LSTM(256, 256)", ("torch.randn(50, 64, 256)",), backends=("script", "trace", "freeze")),
    Case("collate, typed, 8 items of 16", "collate.py", "collate_scripted", _batch(8, "16"), ("eval",), ("script",)),
    Case("collate, typed, 64 items of 3x32x32", "collate.py", "collate_scripted", _batch(64, "3, 32, 32"), ("eval",), ("script",)),
    Case("collate, preallocating, 8 items of 16", "collate.py", "collate_preallocated", _batch(8, "16"), ("eval",), ("script",)),
    Case("collate, preallocating, 64 items of 3x32x32", "collate.py", "collate_preallocated", _batch(64, "3, 32, 32"), ("eval",), ("script",)),
]  # fmt: skip


def attempt(site: Site, case: Case, device: str, seconds: float) -> TargetAttempts:
    file = FIXTURES / case.file
    name, call, _ = case.target.partition("(")
    subject = Subject(
        case.title, str(file), case.file, str(FIXTURES), file.stem, name,
        "module" if call else "function", case.target if call else None, case.inputs,
    )  # fmt: skip
    specs = tuple(
        AttemptSpec(backend, device, mode)  # type: ignore[arg-type]
        for mode in case.modes
        for backend in case.backends
        if (backend, mode) not in SKIPPED
    )
    bounds = Bounds(Limits(seconds=600, memory_mb=8000), Settings(timing_seconds=seconds, confirm=True))
    return site.attempt(Assignment(subject, specs), bounds, lambda text: None)


def table(site: Site, cases: list[Case], device: str, seconds: float) -> Iterator[str]:
    """The lines of a Markdown table, as they are measured."""
    yield f"| case | mode | eager | {' | '.join(BACKENDS)} |"
    yield f"| --- | --- | --- |{' --- |' * len(BACKENDS)}"
    for case in cases:
        found = attempt(site, case, device, seconds)
        for mode in case.modes:
            made = {a.backend: a for a in found.attempts.values() if a.mode == mode}
            timed = next((a.eager_seconds for a in made.values() if a.eager_seconds), None)
            cells = [cell(made.get(backend)) for backend in BACKENDS]
            direction = "forward" if mode == "eval" else "forward+backward"
            yield f"| {case.title} | {direction} | {time_of(timed)} | {' | '.join(cells)} |"


def cell(made: Attempt | None) -> str:
    if made is None or made.status == "skipped":
        return ""
    if made.status != "ok":
        return made.status
    return ratio(made.speedup) if made.speedup else "not timed"


def time_of(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def measure(device: str, only: str = "", seconds: float = 20.0) -> None:
    """Measure and print the table with the names of what it was measured on."""
    cases = [case for case in CASES if only in case.title]
    with local_site(None, 1) as site:
        name = site.cuda[int(device.partition(":")[2] or 0)] if device.startswith("cuda") else "CPU, 1 thread"
        print(f"torch {site.environment.torch}, Python {site.environment.python}, {name}\n")
        for line in table(site, cases, device, seconds):
            print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="cases whose title contains this")
    parser.add_argument("--seconds", type=float, default=20.0, help="timing budget of each attempt")
    options = parser.parse_args()
    measure(options.device, options.only, options.seconds)


if __name__ == "__main__":
    main()
