"""A ration of memory for what is only tried: too large a guess raises, instead of ending the process."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

import psutil

from tsguard.runtime.budgets import PART_OF_MEMORY


@contextlib.contextmanager
def rationed(process: psutil.Process, memory_mb: int) -> Iterator[None]:
    """Let this process hold no more than most of ``memory_mb`` while the block runs; 0 for no limit.

    Address space that is reserved and not used counts too: not for processes that use CUDA.
    """
    if not memory_mb:
        yield
        return
    held = process.memory_info()
    spare = max(int(PART_OF_MEMORY * memory_mb * 2**20) - held.rss, 2**26)
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = held.vms + spare
    hard = before[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(
            resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, before)
