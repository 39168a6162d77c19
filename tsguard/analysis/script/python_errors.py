"""Refusals of what raises in Python too: a module that comes to one in each call is none that anybody uses."""

from __future__ import annotations

from tsguard.analysis.script.refusals import Refusal

_RAISING = frozenset({"missing-attribute", "not-callable/none", "unknown-method/none", "tuple-index/range"})
# Operators that Python has for None.
_OF_NONE = frozenset({"==", "!=", "in", "not in"})

# What no number of iterations can be.
_NOT_COUNTED = frozenset({"float", "str", "NoneType"})


def raises(refusal: Refusal) -> bool:
    """Whether Python raises where torch refuses this, whatever the inputs are."""
    if refusal.rule == "operator-types/absent":
        return refusal.facts["operator"] not in _OF_NONE
    if refusal.rule == "argument-type/range":
        return refusal.facts["type"] in _NOT_COUNTED
    if refusal.rule == "module-index/key":
        return refusal.facts["key"].startswith(("'", '"'))
    return refusal.rule in _RAISING
