"""The experiment on script pages: script a target, and hold it against eager."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import torch

from tests.rules.comparison import built, called, inputs, same


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Script the target and call it.

    Returns:
        ``error`` what scripting raised or None, ``lines`` the lines of the example that
        it names, ``calls`` for each of the example's inputs: ``eager`` and ``scripted``,
        the errors raised or None, and whether the results are ``equal``.
    """
    try:
        torch.manual_seed(0)
        scripted = torch.jit.script(built(module, name))
    except Exception as error:
        place = re.compile(rf'File "{re.escape(str(module.__file__))}", line (\d+)')
        return {"error": str(error), "lines": [int(n) for n in place.findall(str(error))], "calls": {}}
    eager = built(module, name)
    calls = {}
    for which, make in inputs(module).items():
        # The first two calls of a script are profiled, later ones run what that has led to.
        pairs = [(called(eager, make), called(scripted, make)) for _ in range(3)]
        calls[which] = {
            "eager": next((a.error for a, _ in pairs if a.error), None),
            "scripted": next((b.error for _, b in pairs if b.error), None),
            "equal": all(a.error is b.error is None and same(a.value, b.value) for a, b in pairs),
        }
    return {"error": None, "lines": [], "calls": calls}
