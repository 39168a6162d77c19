"""What evaluation may make: a loop that doubles a value forty times must not fill the memory.

Numbers and texts are kept short; what makes containers is charged for their items.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tsguard.analysis.budgets import ITEMS_PER_STEP, LARGEST_ARGUMENT, LONGEST_TEXT, MOST_BITS
from tsguard.analysis.python.context import Interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# A width or precision of five digits, or one that is an argument.
_WIDE = re.compile(r"\d{5}|\*")


class Huge(Exception):
    """A result too large to be worth having."""


def checked(value: Any) -> Any:
    """A value that is not too large.

    Raises:
        Huge: it is.
    """
    if isinstance(value, int):
        huge = value.bit_length() > MOST_BITS
    else:
        huge = isinstance(value, (str, bytes)) and len(value) > LONGEST_TEXT
    if huge:
        raise Huge
    return value


def power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """``pow(base, exponent, modulus)``."""
    if (
        modulus is None
        and isinstance(base, int)
        and isinstance(exponent, int)
        and base.bit_length() * exponent > MOST_BITS
    ):
        raise Huge
    return pow(base, exponent, modulus)


def shifted(number: Any, places: Any) -> Any:
    """``number << places``."""
    if isinstance(places, int) and places > MOST_BITS:
        raise Huge
    return number << places


def multiplied(left: Any, right: Any) -> Any:
    """``left * right``."""
    for text, times in ((left, right), (right, left)):
        if isinstance(text, (str, bytes)) and isinstance(times, int) and len(text) * times > LONGEST_TEXT:
            raise Huge
    return left * right


def remainder(left: Any, right: Any) -> Any:
    """``left % right``, which formats where left is a text."""
    if isinstance(left, str) and _WIDE.search(left):
        raise Huge
    return left % right


def formatted(value: Any, how: str = "") -> str:
    """``format(value, how)``."""
    if _WIDE.search(how):
        raise Huge
    return format(value, how)


def combined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that grows faster than its whole numbers, such as a factorial, for small ones."""

    def small(*arguments: Any) -> Any:
        if any(isinstance(argument, int) and abs(argument) > LARGEST_ARGUMENT for argument in arguments):
            raise Huge
        return function(*arguments)

    return small


def method(function: Callable[..., Any], receiver: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
    """A method of a text or number, called.

    Raises:
        Huge: its result is too large, or may be.
        Exception: whatever the method itself raises.
    """
    given = [*arguments, *named.values()]
    if any(isinstance(argument, int) and argument > LONGEST_TEXT for argument in given):
        raise Huge  # a width
    texts = [len(argument) for argument in given if isinstance(argument, (str, bytes))]
    length = len(receiver) if isinstance(receiver, (str, bytes)) else 0
    if texts and (length + 1) * max(texts) > 100 * LONGEST_TEXT:
        raise Huge  # replaced again and again
    if getattr(function, "__name__", "") in ("format", "expandtabs") and _WIDE.search(str(receiver)):
        raise Huge
    return checked(function(*arguments, **named))


def charge(interp: Interpreter, items: int) -> None:
    """Count what making a container of so many items takes.

    Raises:
        BudgetExceeded: nothing is left.
    """
    if items >= ITEMS_PER_STEP:
        interp.spend(items // ITEMS_PER_STEP)


def joined(separator: str, texts: Iterable[str]) -> str:
    """``separator.join(texts)``.

    Raises:
        Huge: it is too long.
    """
    parts = list(texts)
    if sum(map(len, parts)) + len(separator) * len(parts) > LONGEST_TEXT:
        raise Huge
    return separator.join(parts)
