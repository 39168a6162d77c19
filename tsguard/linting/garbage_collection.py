"""Python's cyclic collector, kept from walking what an analysis keeps, and what an analysis may keep at most.

A project keeps every tree that it has read, and little else is left of a file.  If the
collector walked the trees again and again, it would cost more than parsing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tsguard.source import remembering

# Most of what the analysis makes is freed without the collector.
_OBJECTS_PER_COLLECTION = 50_000
# Some gigabyte of an analysis, of which what it has found is a part that stays.
_MOST_BLOCKS = 8_000_000


@contextmanager
def infrequent_collection() -> Iterator[None]:
    """Collect seldom meanwhile; what is frozen with ``gc.freeze`` is freed by ``Memory.collect`` at the latest."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class Memory:
    """What an analysis may keep before it begins with nothing kept, besides what it has found."""

    def __init__(self) -> None:
        self._most = _MOST_BLOCKS

    def is_full(self) -> bool:
        """Whether so much is kept that the analysis of a further file had better begin with nothing."""
        return sys.getallocatedblocks() > self._most

    def collect(self) -> None:
        """Free what nothing refers to, also what was frozen, and what was remembered of trees."""
        remembering.forget()
        gc.unfreeze()
        gc.collect()
        self._most = max(_MOST_BLOCKS, sys.getallocatedblocks() + _MOST_BLOCKS // 2)
