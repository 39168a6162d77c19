"""``dataclass`` for values that never change, at the cost of those that may.

mypy keeps frozen values from being changed.  That Python would check it too makes each of them
three times as dear to create, and their classes half as dear again to define: measured, 4% of
a lint and 11% of its start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, eq: bool = True, **options: bool) -> Callable[[_Class], _Class]:
        """``dataclasses.dataclass``, but that ``frozen`` only makes instances hashable."""

        def made(cls: _Class) -> _Class:
            hashed = frozen and eq and "__hash__" not in vars(cls)
            return dataclasses.dataclass(eq=eq, unsafe_hash=hashed, **options)(cls)

        return made
