"""The experiment on fixes: call a target before and after its repair, uncompiled."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from tests.rules.comparison import built, called, inputs, same
from tests.rules.on_torch import load


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Call both targets with the inputs of the second.

    Args:
        module: what it was before.
        name: ``PATH:TARGET``, where the repaired file is, and the target's name in both.

    Returns:
        ``errors`` that the calls raised, ``calls`` how many there were, and whether all
        results are ``equal``.
    """
    path, _, target = name.rpartition(":")
    repaired = load(path)
    makes = list(inputs(repaired).values())
    pairs = [(called(built(module, target), make), called(built(repaired, target), make)) for make in makes]
    return {
        "calls": len(pairs),
        "errors": [result.error for pair in pairs for result in pair if result.error],
        "equal": all(same(before.value, after.value) for before, after in pairs),
    }
