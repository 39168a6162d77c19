"""A fix as the edits that make it: all of them, or there is no fix."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from tsguard.report import Applicability, Edit, Fix

Part = Edit | Iterable[Edit | None] | None
"""An edit, or several; None for what cannot be made."""


def safe(message: str, *parts: Part) -> Fix | None:
    """A fix that leaves what eager does as it is; None where a part cannot be made, or nothing changes."""
    return composed("safe", message, *parts)


def unsafe(message: str, *parts: Part) -> Fix | None:
    """A fix that may change what eager does; None where a part cannot be made, or nothing changes."""
    return composed("unsafe", message, *parts)


def composed(applicability: Applicability, message: str, *parts: Part) -> Fix | None:
    """A fix of this applicability; None where a part cannot be made, or nothing changes."""
    edits = together(*parts)
    return Fix(applicability, message, edits) if edits else None


def together(*parts: Part) -> tuple[Edit, ...] | None:
    """The edits of all parts; None where one cannot be made."""
    edits = list(chain.from_iterable((p,) if p is None or isinstance(p, Edit) else p for p in parts))
    made = tuple(edit for edit in edits if edit is not None)
    return made if len(made) == len(edits) else None
