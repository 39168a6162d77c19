"""Steps that are taken until nothing changes any more, or what was there before comes again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

_State = TypeVar("_State")


def settled(
    first: _State, step: Callable[[_State], _State | None], key: Callable[[_State], Hashable], most: int
) -> tuple[_State, bool]:
    """The last state, and whether the steps go in a circle.

    Of a circle the state at which it was entered is the last: who starts there again ends there again.

    Args:
        step: the next state, None where there is none.
        key: what two states share that are the same.
        most: the steps after which it ends whatever there is.
    """
    seen = {key(first): first}
    now = first
    for _ in range(most):
        after = step(now)
        if after is None:
            break
        if key(after) in seen:
            return seen[key(after)], True
        seen[key(after)] = now = after
    return now, False
