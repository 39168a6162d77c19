"""What to do with a target, in a line or two, from what its attempts showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tsguard.report import Attempt, Finding
from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.needs import needs
from tsguard.runtime.plan import COMPILED_ALREADY
from tsguard.runtime.shown import first_line, place, ratio, said, when

_DOING = {
    "script": "Script it",
    "trace": "Trace it",
    "freeze": "{Script} and freeze it",
    "optimize_for_inference": "{Script} it and use torch.jit.optimize_for_inference",
    "onednn": "Trace and freeze it with oneDNN Graph fusion",
    "compile": "Use torch.compile",
    "export": "Export it",
}
_PORTABLE = ("script", "trace")
_TRACING = ("trace", "onednn")
_FREEZING = ("freeze", "optimize_for_inference")


class _Advice(NamedTuple):
    """What to use; ``traces`` tells that it is made by torch.jit.trace."""

    text: str
    traces: bool


def recommend(found: TargetAttempts, blockers: Sequence[Finding], baked: Sequence[Finding] = ()) -> str:
    """The recommendation.

    Args:
        blockers: what lint found to prevent scripting, the first repair first.
        baked: what lint found a trace to get wrong, which no varied input need have shown.
    """
    attempts = list(found.attempts.values())
    if not found.callable:
        return _not_called(found, attempts, blockers)
    eager = [a for a in attempts if a.backend == "eager"]
    failing = next((a for a in eager if a.status != "ok"), None)
    if failing is not None and all(a.status != "ok" for a in eager):
        why = first_line(failing.error.message) if failing.error else "it fails"
        return (
            f"Repair the module itself first, it fails in {place(failing)}: {why}.{_script_anyway(attempts)}"
        )
    working = [a for a in attempts if a.backend != "eager" and a.status == "ok"]
    if not working:
        return f"Leave it eager. {_first_repair(attempts, blockers)}"
    best = _best(working)
    warned = _what_is_baked(baked) if best.traces else ""
    said = (best.text, warned, _what_not(attempts, working), _repair(attempts, blockers))
    return " ".join(filter(None, said))


def _what_is_baked(baked: Sequence[Finding]) -> str:
    if not baked:
        return ""
    first = baked[0]
    rest = f", and {len(baked) - 1} more" if len(baked) > 1 else ""
    return (
        f"Mind what the trace gets wrong for some inputs, though not for those tried: "
        f"{first.path}:{first.line}: {first.message} ({first.code}){rest}."
    )


def _not_called(found: TargetAttempts, attempts: list[Attempt], blockers: Sequence[Finding]) -> str:
    assert found.stop is not None
    needed = needs(found)
    told = needed.help if needed else f"it fails {when(found.stop.step)}: {said(found.stop.error)}"
    return f"Not called: {told}.{_script_anyway(attempts)}"


def _script_anyway(attempts: Iterable[Attempt]) -> str:
    """A bug of another kind does not hide whether the module compiles."""
    script = next((a for a in attempts if a.backend == "script"), None)
    if script is None or script.status == "skipped":
        return ""
    if script.status == "ok":
        return " It does compile with torch.jit.script."
    return f" Scripting fails besides: {first_line(script.error.message) if script.error else script.status}."


def _best(working: list[Attempt]) -> _Advice:
    """For each device, what is fastest in inference, and what to do in training."""
    devices = list(dict.fromkeys(a.device for a in working))
    told = [_on_device([a for a in working if a.device == device]) for device in devices]
    if len(devices) == 1:
        return told[0]
    text = " ".join(f"On {device}: {advice.text}" for device, advice in zip(devices, told, strict=True))
    return _Advice(text, any(advice.traces for advice in told))


def _on_device(working: list[Attempt]) -> _Advice:
    # Another dtype was asked for besides; the advice is for the model as it is.
    working = [a for a in working if a.dtype is None] or working
    best = _fastest(a for a in working if a.mode == "eval") or _fastest(working)
    if best is None:
        return _no_faster(working)
    # What torch.jit.script refuses is traced to be frozen.
    way = "Script" if any(a.backend == "script" for a in working) else "Trace"
    doing = _DOING[best.backend].format(Script=way)
    text = f"{doing}: equal to eager and {_speed(best)} in {place(best)}"
    if best.backend not in _PORTABLE:
        script = _fastest(a for a in working if a.backend in _PORTABLE and a.mode == best.mode)
        text += f" ({script.backend} alone {_speed(script)})" if script else ""
    training = _in_training(working, best) if best.mode == "eval" else _Advice("", False)
    traces = best.backend in _TRACING or (best.backend in _FREEZING and way == "Trace")
    return _Advice(f"{text}{training.text}.", traces or training.traces)


def _in_training(working: list[Attempt], best: Attempt) -> _Advice:
    """What the advice for inference does in training."""
    trained = [a for a in working if a.mode == "train" and a.speedup is not None]
    same = next((a for a in trained if a.backend == best.backend), None)
    if same is not None and same.speedup is not None and same.speedup.conclusion == "faster":
        return _Advice(f", {_speed(same)} in training", False)
    other = _fastest(trained)
    if other is not None:
        return _Advice(f"; for training, {other.backend} gives {_speed(other)}", other.backend in _TRACING)
    slower = next((a for a in trained if a.speedup and a.speedup.conclusion == "slower"), None)
    if slower is not None:
        return _Advice(f"; train it eagerly, {slower.backend} is slower there, {_speed(slower)}", False)
    return _Advice("; in training it gains no time" if trained else "", False)


def _fastest(attempts: Iterable[Attempt]) -> Attempt | None:
    faster = [a for a in attempts if a.speedup is not None and a.speedup.conclusion == "faster"]
    return max(faster, key=lambda a: a.speedup.low if a.speedup else 0.0, default=None)


def _no_faster(working: list[Attempt]) -> _Advice:
    slower = [a for a in working if a.speedup is not None and a.speedup.conclusion == "slower"]
    if slower and len(slower) == len(working):
        worst = slower[0]
        return _Advice(
            f"Leave it eager: {worst.backend} is slower, {_speed(worst)} in {place(worst)}.", False
        )
    portable = [a for a in working if a.backend in _PORTABLE] or working
    names = " and ".join(dict.fromkeys(a.backend for a in portable))
    timed = next((a for a in portable if a.speedup is not None), None)
    if timed is None and any(a.note == COMPILED_ALREADY for a in portable):
        return _Advice("It is compiled already, and runs.", False)
    traces = any(a.backend in _TRACING for a in portable)
    if timed is None:
        return _Advice(f"It works with {names}; no speed was measured.", traces)
    measured = f" ({timed.backend} {_speed(timed)} in {place(timed)})"
    purpose = "use it to deploy without Python, not for speed"
    return _Advice(f"It works with {names} and gains no time{measured}: {purpose}.", traces)


def _speed(attempt: Attempt) -> str:
    return ratio(attempt.speedup) if attempt.speedup else ""


def _what_not(attempts: list[Attempt], working: list[Attempt]) -> str:
    said = []
    diverged = next((a for a in attempts if a.status == "diverged"), None)
    if diverged is not None and diverged.error is not None:
        said.append(f"Do not {_verb(diverged)}: {first_line(diverged.error.message)}.")
    unsaved = next((a for a in working if a.saved is False), None)
    if unsaved is not None:
        said.append(f"The {unsaved.backend} result {first_line(unsaved.note or 'cannot be saved')}.")
    return " ".join(said)


def _verb(attempt: Attempt) -> str:
    return "trace it" if attempt.backend == "trace" else f"use {attempt.backend}"


def _repair(attempts: list[Attempt], blockers: Sequence[Finding]) -> str:
    refused = next((a for a in attempts if a.backend == "script" and a.status == "failed"), None)
    return f"To script it: {_first(refused, blockers)}" if refused is not None else ""


def _first_repair(attempts: list[Attempt], blockers: Sequence[Finding]) -> str:
    failed = [a for a in attempts if a.status not in ("ok", "skipped") and a.backend != "eager"]
    script = next((a for a in failed if a.backend == "script"), failed[0] if failed else None)
    return f"First repair: {_first(script, blockers)}" if script is not None else ""


def _first(refused: Attempt | None, blockers: Sequence[Finding]) -> str:
    error = refused.error if refused is not None else None
    for finding in blockers:
        if error is None or (finding.path, finding.line) == (error.path, error.line):
            return f"{finding.path}:{finding.line}: {finding.message} ({finding.code})."
    if error is None:
        return "see the attempts."
    where = f"{error.path}:{error.line}: " if error.path else ""
    return f"{where}{first_line(error.message)}."
