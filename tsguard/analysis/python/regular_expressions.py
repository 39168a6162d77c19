"""The re module on constant strings, as configuration strings are split with it."""

from __future__ import annotations

import re
from collections.abc import Callable

from tsguard.analysis.budgets import LONGEST_PATTERN
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import Const, ListValue, Unknown, Value, constant

_FUNCTIONS: dict[str, Callable[..., str | list[str] | re.Match[str] | None]] = {
    "split": re.split,
    "findall": re.findall,
    "sub": re.sub,
    "escape": re.escape,
    "search": re.search,
    "match": re.match,
    "fullmatch": re.fullmatch,
}
# A repeated group may take exponential time to fail.
_REPEATED_GROUP = re.compile(r"\)[*+{]")


def call(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of ``re.split`` and its like where all arguments are short constants."""
    function = _FUNCTIONS.get(name)
    texts = [constant(interp.settled(argument)) for argument in args]
    if function is None or kwargs or not texts or not all(_is_harmless(text) for text in texts):
        return Unknown()
    try:
        result = function(*(text for text in texts if isinstance(text, str)))
    except (re.error, TypeError):
        return Unknown()
    if result is None or isinstance(result, str):
        return Const(result)
    if isinstance(result, list) and all(isinstance(part, str) for part in result):
        return ListValue([Const(part) for part in result])
    return Unknown()  # a match, or groups of which some took no part


def _is_harmless(text: object) -> bool:
    return isinstance(text, str) and len(text) <= LONGEST_PATTERN and not _REPEATED_GROUP.search(text)
