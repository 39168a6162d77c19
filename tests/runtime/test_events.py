"""What a worker tells arrives as it was sent; what is no event is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tsguard.report import Attempt, AttemptError, Breakdown, Parity, Speedup, Submodule, Variant
from tsguard.runtime.events import (
    Artifact,
    Attempted,
    BrokenDown,
    End,
    Event,
    InputsFound,
    Phase,
    Seen,
    SeenFunction,
    Stopped,
    framed,
    read,
)

ERROR = AttemptError("RuntimeError", "a message\nof two lines", "net.py", 7)
SPEEDUP = Speedup(1.5, 1.25, 2.0, 11, "faster")
ATTEMPT = Attempt(
    "script",
    "cpu",
    "eval",
    "forward",
    "diverged",
    ERROR,
    Parity(False, (Variant("the example", True, 0.0), Variant("a larger batch", False, float("inf")))),
    speedup=SPEEDUP,
    warnings=(ERROR,),
    seconds=2,
)


@pytest.mark.parametrize(
    "event",
    [
        Phase("import"),
        Phase("inputs", 2.5, ("torch.rand(2)",)),
        End(),
        InputsFound(None, "get_module()"),
        Stopped("construct", ERROR, ("channels",), fault=True),
        Attempted(ATTEMPT, (("net.py", 7),), Artifact("/tmp/net.pt", "torchscript")),
        BrokenDown(Breakdown((Submodule("layer", "Linear", 3, 0.5, "ok", speedup=SPEEDUP),), ("layer",))),
        Seen((SeenFunction("net.py", 3, "forward", {"x": ("Tensor", "NoneType")}),)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_survives_the_pipe(event: Event) -> None:
    assert read(json.loads(json.dumps(framed(event)))) == event


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"event": "Unheard"},
        {"event": ["Phase"]},
        {"event": "Phase"},
        {"event": "Phase", "phase": 3},
        {"event": "InputsFound", "expressions": [], "source": "a rumour"},
        {"event": "Attempted", "attempt": {"backend": "script"}},
    ],
    ids=str,
)
def test_what_is_no_event_is_passed_over(frame: dict[str, Any]) -> None:
    assert read(frame) is None
