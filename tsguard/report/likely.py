"""What a mistyped word is likely meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], most: int = 1, alike: float = 0.5) -> list[str]:
    """The known words that are like a word, the likest first.

    Args:
        word: what was written.
        known: what it may be meant to be.
        most: how many of them are wanted.
        alike: how like they must be, from 0 to 1 (the same).
    """
    from difflib import get_close_matches  # imported where something is wrong only

    return get_close_matches(word, known, most, alike)
