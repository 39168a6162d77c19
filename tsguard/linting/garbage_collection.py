"""Python's cyclic collector, kept from walking what an analysis keeps, and what an analysis may keep at most.

A project keeps every tree that it has read, and little else is left of a file.  If the
collector walked the trees again and again, it would cost more than parsing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Most of what the analysis makes is freed without the collector.
_OBJECTS_PER_COLLECTION = 50_000
# Some gigabyte of an analysis.
_MOST_BLOCKS = 11_000_000


@contextmanager
def infrequent_collection() -> Iterator[None]:
    """Collect seldom meanwhile; what is frozen with ``gc.freeze`` is freed by ``collect`` at the latest."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def is_full() -> bool:
    """Whether so much is kept that the analysis of a further file had better begin with nothing."""
    return sys.getallocatedblocks() > _MOST_BLOCKS


def collect() -> None:
    """Free what nothing refers to, also what was frozen."""
    gc.unfreeze()
    gc.collect()
