"""Code of the user, and torch on the user's objects, may raise anything: what is taken instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Default = TypeVar("Default")


def value_or(default: Default, call: Callable[[], T]) -> T | Default:
    """What a call of the user's code gives; ``default`` where it raises."""
    try:
        return call()
    except Exception:
        return default
