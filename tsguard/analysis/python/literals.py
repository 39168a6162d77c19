"""Texts that are literals of Python, as values."""

from __future__ import annotations

import ast
import functools

from tsguard.analysis.python.constants import literal
from tsguard.analysis.values import Value


@functools.lru_cache(maxsize=4096)
def _evaluated(text: str) -> object:
    return ast.literal_eval(text)


def written(text: str) -> Value:
    """The constant, or the tuple, list or dict of constants, that a text spells.

    Raises:
        ValueError, SyntaxError: it spells something else.
    """
    return literal(_evaluated(text))
