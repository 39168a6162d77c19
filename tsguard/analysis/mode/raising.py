"""Statements that raise in one of the modes: a check, unless the mode decides or somebody catches it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.source.walking import walked


def is_in(body: Sequence[ast.stmt]) -> bool:
    """Whether there is a ``raise`` in statements."""
    return any(isinstance(part, ast.Raise) for statement in body for part in walked(statement))


def is_certain(node: ast.If, train: bool | None, other: bool | None) -> bool:
    """Whether one of the modes leads to a side of a branch that ends in ``raise``."""
    sides = {True: node.body, False: node.orelse}
    taken = (sides[answer] for answer in (train, other) if answer is not None)
    return any(side and isinstance(side[-1], ast.Raise) for side in taken)


@contextmanager
def caught(walk: ModeInterpreter, handlers: list[ast.ExceptHandler]) -> Iterator[None]:
    """Run code whose exceptions the handlers catch, if one of them goes on after it."""
    goes_on = any(not isinstance(handler.body[-1], ast.Raise) for handler in handlers)
    walk.catching += goes_on
    try:
        yield
    finally:
        walk.catching -= goes_on
