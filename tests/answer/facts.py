"""Facts about targets that never were, as many as one likes."""

from __future__ import annotations

from hypothesis import strategies as st

from tsguard.answer.facts import Facts, Stopped
from tsguard.answer.speed import conclusion
from tsguard.report import Attempt, AttemptError, Finding, Parity, Speedup, Variant
from tsguard.runtime.options import BACKEND_NAMES

STATUSES = ("ok", "failed", "diverged", "timeout", "crashed", "skipped")
TORCH = "torch's own words"
INTERNAL = "0 INTERNAL ASSERT FAILED at ir.cpp:12, please report a bug to PyTorch"

BREAK = AttemptError("GraphBreak", "a branch on the values in a tensor", "m.py", 6)


@st.composite
def speedups(draw: st.DrawFn) -> Speedup:
    """A ratio with its interval, and the conclusion that it allows."""
    near = st.floats(0.9, 1.12) | st.floats(0.2, 5.0)
    low, median, high = sorted((draw(near), draw(near), draw(near)))
    return Speedup(median, low, high, draw(st.integers(8, 480)), conclusion(median, low, high))


errors = st.builds(
    AttemptError,
    type=st.just("RuntimeError"),
    message=st.sampled_from([TORCH, INTERNAL, f"{TORCH}:\nsecond line"]),
    path=st.sampled_from([None, "m.py"]),
    line=st.integers(5, 8),
)


@st.composite
def attempts(draw: st.DrawFn, backend: str, device: str, mode: str) -> Attempt:
    """An attempt as a worker may report it."""
    status = draw(st.sampled_from(STATUSES[:2] if backend == "eager" else STATUSES))
    timed = status == "ok" and backend != "eager"
    return Attempt(
        backend,
        device,
        mode,  # type: ignore[arg-type]
        "forward" if mode == "eval" else "forward+backward",
        status,
        error=draw(errors) if status not in ("ok", "skipped") else None,
        parity=Parity(status == "ok", (Variant("as given", status == "ok"),)) if timed else None,
        speedup=draw(st.none() | speedups()) if timed else None,
        saved=draw(st.sampled_from([None, True, False])) if timed else None,
        breaks=draw(st.sampled_from([(), (BREAK,)])) if timed and backend == "compile" else (),
    )


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """What the linter may say."""
    family = draw(st.sampled_from(["script", "trace", "mode", "export"]))
    line = draw(st.integers(5, 8))
    severity = draw(st.sampled_from(["error", "warning", "info"]))
    return Finding("TSG999", "n", family, severity, f"the {family} finding", None, "m.py", line, 1, line, 9)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    """Any facts that a check may come by."""
    devices = draw(st.sampled_from([("cpu",), ("cpu", "cuda:0")]))
    modes = draw(st.sampled_from([("eval",), ("train",), ("eval", "train")]))
    backends = draw(st.lists(st.sampled_from(BACKEND_NAMES), unique=True))
    made = [
        draw(attempts(backend, device, mode))
        for device in devices
        for mode in modes
        for backend in ("eager", *backends)
    ]
    stops = st.builds(
        Stopped, st.just("at import"), errors, st.none() | st.just("give them"), of_inputs=st.booleans()
    )
    return Facts(
        script=draw(st.sampled_from(["ok", "blocked", "broken", "depends", "unknown"])),
        findings=tuple(draw(st.lists(findings(), max_size=3))),
        attempts=tuple(made),
        stopped=draw(st.none() | st.none() | st.none() | stops),
        given=draw(st.booleans()),
        tensors=draw(st.sampled_from([True, True, True, False])),
    )
