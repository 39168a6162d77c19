"""torch.compile: as one graph, else in pieces, with the places where it leaves the graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch

from tsguard.report import AttemptError
from tsguard.runtime.worker.applicable import need_compiler
from tsguard.runtime.worker.built import Built
from tsguard.runtime.worker.running import Call

_EXPLANATION = "Explanation: "
_BRANCHES = ("generic_jump", "Data-dependent branching")


def compiled(module: Any, call: Call) -> Built:
    """The module compiled for the sizes of a call, with ``fullgraph=True`` if torch can do that.

    Raises:
        NotApplicable: there is no compiler.
    """
    need_compiler()
    use_eagers_random_numbers()
    whole = torch.compile(module, dynamic=False, fullgraph=True)
    try:
        call.cloned().on(whole)
    except torch._dynamo.exc.Unsupported as refusal:
        torch._dynamo.reset()
        breaks = tuple(_breaks(refusal, module, call))
        torch._dynamo.reset()
        return Built(torch.compile(module, dynamic=False), breaks=breaks)
    return Built(whole)


def use_eagers_random_numbers() -> None:
    """Have Inductor draw as eager does, and compile in this process."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch._inductor.config as inductor

    inductor.fallback_random = True


def _breaks(refusal: Any, module: Any, call: Call) -> Iterator[AttemptError]:
    """Where the graph is left, each place once: as the refusal of a whole graph says, then in what is compiled."""
    call = call.cloned()
    explained = torch._dynamo.explain(module)(*call.args, **call.kwargs)
    found = [(str(refusal), getattr(refusal, "real_stack", None))]
    found += [(str(r.reason), r.user_stack) for r in explained.break_reasons if r.graph_break]
    seen = set()
    for why, frames in found:
        place = (frames[-1].filename, frames[-1].lineno) if frames else (None, None)
        if place not in seen:
            seen.add(place)
            yield AttemptError("GraphBreak", _worded(why), *place)


def _worded(reason: str) -> str:
    """A reason in a line; dynamo's name for a branch says nothing to who has not read it."""
    if reason.startswith(_BRANCHES):
        return "a branch on the values in a tensor"
    lines = [line.strip() for line in reason.splitlines() if line.strip()] or ["no reason is given"]
    explained = (line.removeprefix(_EXPLANATION) for line in lines if line.startswith(_EXPLANATION))
    return next(explained, lines[0])
