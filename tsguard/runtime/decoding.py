"""Attempts as a report holds them, from what workers send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from tsguard.report import Attempt, AttemptError, AttemptStatus, Parity, Speedup, Variant
from tsguard.runtime.launcher import Event
from tsguard.runtime.plan import AttemptSpec


def decoded_error(value: dict[str, Any], shown: Callable[[str], str]) -> AttemptError:
    """An error as a report holds it; ``shown`` turns a worker's path into the report's."""
    path = value["path"]
    return AttemptError(value["type"], value["message"], shown(path) if path else None, value["line"])


def decoded(spec: AttemptSpec, event: Event, shown: Callable[[str], str]) -> Attempt:
    """An attempt as a report holds it, from what a worker sent."""
    error, speedup = event.get("error"), event.get("speedup")
    note = event.get("note")
    if event.get("saved") is False:
        note = f"cannot be saved: {event['save_error']['message'].partition(chr(10))[0]}"
    return Attempt(
        backend=spec.backend,
        device=spec.device,
        mode=spec.mode,
        passes=event.get("passes", "forward"),
        status=cast(AttemptStatus, event["status"]),
        error=decoded_error(error, shown) if error else None,
        parity=_parity(event.get("parity")),
        warm_up_calls=event.get("warm_up_calls", 0),
        compile_seconds=event.get("compile_seconds", 0.0),
        speedup=Speedup(**speedup) if speedup else None,
        warnings=tuple(decoded_error(w, shown) for w in event.get("warnings", ())),
        dtype=spec.dtype,
        first_call_seconds=event.get("first_call_seconds"),
        seconds=event.get("seconds"),
        eager_seconds=event.get("eager_seconds"),
        saved=event.get("saved"),
        note=note,
        breaks=tuple(decoded_error(b, shown) for b in event.get("breaks", ())),
    )


def _parity(value: dict[str, Any] | None) -> Parity | None:
    if value is None:
        return None
    variants = tuple(Variant(**variant) for variant in value["variants"])
    return Parity(**{**value, "variants": variants})
