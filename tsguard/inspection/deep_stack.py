"""A stack that is deep enough for what nests deepest: the analysis follows nesting by recursion.

Python counts the calls of its own functions and raises RecursionError in time.  Nobody counts
those of compiled ones: on the main thread's stack, often of
8 MB, a list that holds itself would end the process before the analysis has used up its steps.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Address space, not memory: only what is used is ever backed by it.
_BYTES = 1 << 28 if sys.maxsize > 1 << 32 else 1 << 26
# Python's own limit would end the analysis in a sum of some two hundred terms.
_CALLS = 8_000
# A power of two: what is left of a chunk is room for some thousand frames.
_WORDS = 1 << 16


def on_deep_stack(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises, done by a thread with a stack of its own."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _CALLS))
    done: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            done.append(_with_room(work))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    try:
        _start(thread)
    except (RuntimeError, ValueError):  # no room for such a stack here
        return work()
    thread.join()
    if raised:
        raise raised[0]
    return done[0]


def _with_room(work: Callable[[], T]) -> T:
    """What ``work`` returns, called so that the frames above this one lie in one piece of memory.

    CPython takes memory for frames from the system in chunks, and gives one back as soon as the call that
    needed it returns: a loop at the edge of a chunk spends its time there.  A chunk is twice as large as the
    frame that needs it, and this frame claims much (Python/pystate.c, ``push_chunk``).
    """
    return work()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=_WORDS + 1)


def _start(thread: threading.Thread) -> None:
    before = threading.stack_size(_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
