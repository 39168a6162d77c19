"""Which rules have a fix, and what makes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.report import Fix
from tsguard.rules import rule

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

Repair = Callable[["Event"], Fix | None]

# By rule, or by rule and variant: module and function.  The modules parse with libcst, whose
# import costs more than a small file's analysis, so they are imported when there is something to fix.
_REPAIRS = {
    "untyped-default": ("parameters", "annotate_by_default"),
    "none-default": ("parameters", "make_optional"),
    "default-type-mismatch/none": ("parameters", "make_optional"),
    "empty-container-type": ("variables", "annotate_container"),
    "none-then-value": ("variables", "annotate_none"),
    "number-accumulates-tensor": ("variables", "start_with_tensor"),
    "annotated-self-attribute": ("variables", "drop_annotation"),
    "int-for-float": ("expressions", "write_as_float"),
    "enum-identity": ("expressions", "compare_by_value"),
    "boolean-operand": ("expressions", "choose_by_condition"),
    "optional-truthiness": ("expressions", "test_for_none"),
    "missing-typing-import": ("imports", "import_typing_name"),
    "deprecated-entry-point/optimize": ("calls", "drop_optimize"),
    "deprecated-entry-point/drop": ("calls", "mark_unused"),
}


def repair(event: Event) -> Fix | None:
    """The fix for what an event reports; None where there is none, or none that is sure to be right here."""
    place = _REPAIRS.get(event.rule)
    if place is None or rule(event.rule).fix == "none":
        return None
    module, function = place
    make: Repair = getattr(importlib.import_module(f"tsguard.fixes.{module}"), function)
    return make(event)


def fixable_rules() -> frozenset[str]:
    """The names of the rules that some fix is for; comments are no events."""
    return frozenset(name.partition("/")[0] for name in _REPAIRS) | {"unused-suppression"}
