"""What an attempt has made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tsguard.report import AttemptError


@dataclass(frozen=True, slots=True)
class Built:
    """``callee`` is called as the module is; ``program`` is what is saved of it, None for itself.

    ``breaks`` are the places where it falls back to Python.
    """

    callee: Any
    program: Any = None
    breaks: tuple[AttemptError, ...] = ()
