"""Answers about trees, remembered as long as an analysis lasts: each holds the tree that it is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

_Tree = TypeVar("_Tree")
_Answer = TypeVar("_Answer")

_FORGETTERS: list[Callable[[], None]] = []


def remembered(most: int) -> Callable[[Callable[[_Tree], _Answer]], Callable[[_Tree], _Answer]]:
    """Remember the answers for the ``most`` trees that a function was last asked about."""

    def remember(function: Callable[[_Tree], _Answer]) -> Callable[[_Tree], _Answer]:
        cached = lru_cache(maxsize=most)(function)
        _FORGETTERS.append(cached.cache_clear)
        return cached

    return remember


def forget() -> None:
    """Forget every answer, and so let go of the trees."""
    for clear in _FORGETTERS:
        clear()
