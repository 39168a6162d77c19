"""A saved artifact in a process that cannot import the code it was made from: production."""

from __future__ import annotations

from typing import Any

import torch

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Reloaded
from tsguard.runtime.worker.comparison import compare
from tsguard.runtime.worker.errors import first_line
from tsguard.runtime.worker.running import SEED
from tsguard.runtime.worker.saving import FORMS
from tsguard.runtime.worker.state import seed_everything
from tsguard.runtime.worker.values import moved


def reload(argument: dict[str, Any], channel: Channel) -> None:
    """Load, run on the saved inputs, compare with the saved outputs; send what is wrong."""
    channel.phase("load the saved file")
    device = argument["device"]
    try:
        loaded = FORMS[argument["form"]].read(argument["path"], device)
        wrong = _difference(loaded, argument["example"], device)
    except Exception as problem:
        wrong = first_line(problem)
    channel.send(Reloaded(wrong))


def _difference(loaded: Any, example: str | None, device: str) -> str | None:
    if example is None:
        return None
    args, kwargs, gradients, expected = torch.load(example, weights_only=True, map_location=device)
    seed_everything(SEED)
    with torch.set_grad_enabled(gradients):
        actual = loaded(*moved(args, device), **moved(kwargs, device))
    outcome = compare(expected, actual, lambda: None)
    return None if outcome.equal else f"the result differs: {outcome.note}"
