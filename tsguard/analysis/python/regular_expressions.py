"""The re module on constant strings, as configuration strings and versions are taken apart with it.

Source: Python's documentation of ``re``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tsguard.analysis.budgets import LONGEST_PATTERN, LONGEST_REPEATED, LONGEST_SEARCHED
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import (
    BoundMethod,
    Const,
    DictValue,
    External,
    ListValue,
    ObjectValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)

_PATTERN = External("re.Pattern")
_MATCH = External("re.Match")
# An escaped character, a class of characters, or what a group is made of.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[(|]|\)[*+{]?|[*+{]", re.DOTALL)
# Where the functions of the module take flags, but for the third place.
_FLAGS = {"compile": 1, "split": 3, "sub": 4}
_OF_PATTERNS = frozenset({"findall", "fullmatch", "match", "search", "split", "sub"})


def constant_of(name: str) -> Value | None:
    """A flag, by its name in the module."""
    flag = re.RegexFlag.__members__.get(name.removeprefix("re.")) if name.startswith("re.") else None
    return Const(int(flag)) if flag is not None else None


def call(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of a function of the module where all arguments are short constants."""
    given = [constant(interp.settled(argument)) for argument in args]
    if name == "escape" and len(given) == 1 and isinstance(given[0], str):
        return Const(re.escape(given[0]))
    named = {key: constant(interp.settled(value)) for key, value in kwargs.items()}
    place = _FLAGS.get(name, 2)
    flags = given.pop(place) if len(given) > place else named.pop("flags", 0)
    if not given or not isinstance(given[0], str) or not isinstance(flags, int):
        return ObjectValue(_PATTERN, {}, open=True) if name == "compile" else Unknown()
    pattern = _compiled(given[0], flags)
    if name == "compile":
        return ObjectValue(_PATTERN, {"pattern": Const(given[0]), "flags": Const(flags)}, open=True)
    if pattern is None or name not in _OF_PATTERNS or named:
        return Unknown()
    return _used(pattern, name, given[1:])


def attribute(owner: ObjectValue, name: str) -> Value | None:
    """A method of a compiled pattern, or of a match, that is computed; None for any other."""
    if owner.cls == _PATTERN and name in _OF_PATTERNS and "pattern" in owner.attributes:
        return BoundMethod(External(f"{_PATTERN.name}.{name}"), owner)
    if owner.cls == _MATCH and name in _OF_MATCHES:
        return BoundMethod(External(f"{_MATCH.name}.{name}"), owner)
    return None


def call_method(interp: Interpreter, name: str, receiver: Value, args: list[Value]) -> Value | None:
    """The result of a method that ``attribute`` gave; None of any other."""
    if not isinstance(receiver, ObjectValue) or receiver.cls not in (_PATTERN, _MATCH):
        return None
    short = name.rpartition(".")[2]
    given = [constant(interp.settled(argument)) for argument in args]
    if receiver.cls == _MATCH:
        return _OF_MATCHES[short](_Found(receiver), given)
    text, flags = (constant(receiver.attributes[part]) for part in ("pattern", "flags"))
    pattern = _compiled(text, flags) if isinstance(text, str) and isinstance(flags, int) else None
    return _used(pattern, short, given) if pattern is not None else Unknown()


def _compiled(text: str, flags: int) -> re.Pattern[str] | None:
    if len(text) > LONGEST_PATTERN:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are for who runs the user's code
        try:
            return re.compile(text, flags)
        except (re.error, ValueError, OverflowError, RecursionError):
            return None


def _used(pattern: re.Pattern[str], name: str, given: Sequence[object]) -> Value:
    longest = _longest(pattern.pattern)
    if not given or not all(isinstance(part, int) or _is_short(part, longest) for part in given):
        return Unknown()
    function: Callable[..., object] = getattr(pattern, name)
    try:
        result = function(*given)
    except (re.error, TypeError, IndexError):
        return Unknown()
    if isinstance(result, re.Match):
        return _match(result)
    return _value(result)


def _longest(pattern: str) -> int:
    """How long a text may be for a pattern, which may take exponential time where it repeats a group.

    A repeated group with one repetition in it divides the text in 2 ** n ways at most; one with more, or
    with alternatives, in more ways than can be tried.
    """
    longest, opened = LONGEST_SEARCHED, [0]
    for piece in _PIECE.findall(pattern):
        if piece == "(":
            opened.append(0)
        elif piece == "|":
            opened[-1] += 2
        elif piece in ("*", "+", "{"):
            opened[-1] += 1
        elif piece[0] == ")":
            inside = opened.pop() if len(opened) > 1 else 2
            if len(piece) > 1 and inside > 1:
                return 0
            longest = LONGEST_REPEATED if len(piece) > 1 and inside else longest
            opened[-1] += inside + len(piece) - 1
    return longest


def _is_short(text: object, longest: int) -> bool:
    return isinstance(text, str) and len(text) <= longest


def _value(result: object) -> Value:
    if isinstance(result, list):
        return ListValue(list(map(_value, result)))
    if isinstance(result, tuple):
        return TupleValue(tuple(map(_value, result)))
    return Const(result) if isinstance(result, str) or result is None else Unknown()


def _match(found: re.Match[str]) -> ObjectValue:
    spans = tuple(found.span(group) for group in range(found.re.groups + 1))
    facts = {"string": found.string, "spans": spans, "names": tuple(found.re.groupindex.items())}
    return ObjectValue(_MATCH, {name: Const(fact) for name, fact in facts.items()}, open=True)


class _Found:
    """A match: the text of each group, None of one that took no part."""

    def __init__(self, match: ObjectValue) -> None:
        string, spans, names = (constant(match.attributes[name]) for name in ("string", "spans", "names"))
        assert isinstance(string, str)
        assert isinstance(spans, tuple)
        assert isinstance(names, tuple)
        self.spans: tuple[tuple[int, int], ...] = spans
        self.names: dict[str, int] = dict(names)
        self.texts = [None if start < 0 else string[start:end] for start, end in spans]

    def place(self, key: object) -> int:
        """The number of a group.

        Raises:
            Raised: there is no such group.
        """
        number = self.names.get(key) if isinstance(key, str) else key
        if not isinstance(number, int) or not 0 <= number < len(self.spans):
            raise Raised("IndexError")
        return number

    def text(self, key: object) -> Value:
        """A group's text."""
        return Unknown() if isinstance(key, Value) else _value(self.texts[self.place(key)])

    def span(self, keys: Sequence[Any]) -> tuple[int, int]:
        """Where a group starts and ends; the whole match, where none is named."""
        return self.spans[self.place(keys[0] if keys else 0)]


def _group(found: _Found, keys: Sequence[object]) -> Value:
    texts = [found.text(key) for key in keys or [0]]
    return texts[0] if len(texts) == 1 else TupleValue(tuple(texts))


def _or_default(text: str | None, given: Sequence[object]) -> Value:
    value = text if text is not None or not given else given[0]
    return value if isinstance(value, Value) else _value(value)


_OF_MATCHES: dict[str, Callable[[_Found, Sequence[Any]], Value]] = {
    "__getitem__": _group,
    "group": _group,
    "groups": lambda found, given: TupleValue(tuple(_or_default(text, given) for text in found.texts[1:])),
    "groupdict": lambda found, given: DictValue(
        {name: _or_default(found.texts[number], given) for name, number in found.names.items()}
    ),
    "start": lambda found, keys: Const(found.span(keys)[0]),
    "end": lambda found, keys: Const(found.span(keys)[1]),
    "span": lambda found, keys: TupleValue(tuple(map(Const, found.span(keys)))),
}
