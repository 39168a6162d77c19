"""What stages keep with a program: for each kind of thing a table of its own, with its types."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class Keeper:
    """What things are kept with."""

    def __init__(self) -> None:
        self.kept: dict[Kept[Any, Any], dict[Any, Any]] = {}


class Kept(Generic[K, V]):
    """A kind of thing that is found out once, by key.

    Args:
        lasting: it holds while texts are only tried, too.
    """

    def __init__(self, *, lasting: bool = True) -> None:
        self.lasting = lasting

    def of(self, keeper: Keeper) -> dict[K, V]:
        """What is known of it."""
        return cast("dict[K, V]", keeper.kept.setdefault(self, {}))
