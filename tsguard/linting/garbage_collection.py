"""Python's cyclic collector, kept from walking what an analysis keeps.

A project keeps every tree that it has read, and little else is left of a file.  If the
collector walked the trees again and again, it would cost more than parsing.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Most of what the analysis makes is freed without the collector.
_OBJECTS_PER_COLLECTION = 50_000
# Some 700 MB of an analysis.
_BLOCKS = 8_000_000


@contextmanager
def infrequent_collection() -> Iterator[Callable[[], None]]:
    """Collect seldom meanwhile; what is yielded is to be called before each part of the work.

    What the parts before have left is looked at only when the memory in use has doubled.
    """
    most = _BLOCKS

    def collect_if_grown() -> None:
        nonlocal most
        if sys.getallocatedblocks() > most:
            gc.unfreeze()
            gc.collect()
            most = max(_BLOCKS, 2 * sys.getallocatedblocks())
        gc.freeze()

    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *before[1:])
    try:
        yield collect_if_grown
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
