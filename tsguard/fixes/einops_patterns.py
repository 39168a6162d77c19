"""What a pattern of einops does to a tensor, as calls of its methods.

``'b n (h d) -> b h n d'`` is ``.unflatten(2, (h, -1)).permute(0, 2, 1, 3)``.  Source: the documentation of einops
(rearrange, repeat, reduce).  None of what a pattern checks beside is checked.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\(|\)|\.\.\.|\w+|\S")
_REST = "..."
_REDUCTIONS = {"mean": "mean", "sum": "sum", "max": "amax", "min": "amin"}

Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pattern: the axes of each dimension; one of size 1 has none. ``flat`` for ``(...)``."""

    groups: tuple[Group, ...]
    flat: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(axis for group in self.groups for axis in group)


def rearranged(pattern: str, sizes: Mapping[str, str]) -> str | None:
    """The calls that ``rearrange`` comes to; None for patterns that are not known."""
    sides = _sides(pattern)
    if sides is None or set(sides[0].axes) != set(sides[1].axes):
        return None
    return _joined(_split(sides[0], sizes), _moved(sides[0].axes, sides[1].axes), _merged(sides[1]))


def repeated(pattern: str, sizes: Mapping[str, str]) -> str | None:
    """The calls that ``repeat`` comes to; None for patterns that are not known."""
    sides = _sides(pattern)
    if sides is None:
        return None
    left, right = sides
    plain = _expanded(left, right, sizes)
    if plain is not None:
        return plain
    new = [axis for axis in right.axes if axis not in left.axes]
    if not set(left.axes) <= set(right.axes) or any(_size(axis, sizes) is None for axis in new):
        return None
    kept = tuple(axis for axis in right.axes if axis in left.axes)
    made = []
    for index, axis in _indexed(right.axes):
        if axis in new:
            made.append(f".unsqueeze({index}).repeat_interleave({_size(axis, sizes)}, dim={index})")
    return _joined(_split(left, sizes), _moved(left.axes, kept), "".join(made), _merged(right))


def reduced(pattern: str, operation: str, sizes: Mapping[str, str]) -> str | None:
    """The calls that ``reduce`` comes to; None for patterns that are not known."""
    sides = _sides(pattern)
    if sides is None or operation not in _REDUCTIONS or _REST in (*sides[0].axes, *sides[1].axes):
        return None
    left, right = sides
    gone = [str(index) for index, axis in enumerate(left.axes) if axis not in right.axes]
    kept = tuple(axis for axis in left.axes if axis in right.axes)
    if not gone or set(kept) != set(right.axes):
        return None
    call = f".{_REDUCTIONS[operation]}(({', '.join(gone)}{',' if len(gone) == 1 else ''}))"
    return _joined(_split(left, sizes), call, _moved(kept, right.axes), _merged(right))


def _joined(*parts: str | None) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if len(texts) == len(parts) else None


def _sides(pattern: str) -> tuple[Side, Side] | None:
    """The two sides of a pattern whose axes each occur once on a side."""
    parts = pattern.split("->")
    sides = [_side(part) for part in parts]
    if len(parts) != 2 or sides[0] is None or sides[1] is None:
        return None
    if sides[0].flat:
        return None
    return None if any(axis.isdecimal() for axis in sides[0].axes) else (sides[0], sides[1])


def _side(text: str) -> Side | None:
    groups: list[Group] = []
    open_: list[str] | None = None
    for token in _TOKEN.findall(text):
        if token == "(" and open_ is None:
            open_ = []
        elif token == ")" and open_ is not None:
            groups.append(tuple(open_))
            open_ = None
        elif token == _REST or token.isidentifier() or token.isdecimal():
            found = () if token == "1" else (token,)
            if open_ is None:
                groups.append(found)
            else:
                open_ += found
        else:
            return None
    side = Side(tuple(groups), flat=bool(re.search(r"\([^)]*\.\.\.", text)))
    named = [axis for axis in side.axes if not axis.isdecimal()]
    return side if open_ is None and len(named) == len(set(named)) and "_" not in named else None


def _size(axis: str, sizes: Mapping[str, str]) -> str | None:
    return axis if axis.isdecimal() else sizes.get(axis)


def _indexed(axes: Sequence[str]) -> list[tuple[int, str]]:
    """Axes with their indices, in an order in which each may be put in; behind ``...`` they count from the end."""
    if _REST not in axes:
        return list(enumerate(axes))
    at = axes.index(_REST)
    return [*enumerate(axes[:at]), *((-number, axes[-number]) for number in range(1, len(axes) - at))]


def _split(side: Side, sizes: Mapping[str, str]) -> str | None:
    """Each dimension taken apart into its axes; those of size 1 left out."""
    calls = []
    whole = [group != (_REST,) for group in side.groups]
    at = whole.index(False) if False in whole else len(whole)
    # From the inner end of what comes before and behind "...": no index changes by what is done later.
    ahead = [(index, side.groups[index]) for index in reversed(range(at))]
    behind = [(index - len(whole), side.groups[index]) for index in range(at + 1, len(whole))]
    for index, group in (*ahead, *behind):
        if not group:
            calls.append(f".squeeze({index})")
        elif len(group) > 1:
            texts = [_size(axis, sizes) or "-1" for axis in group]
            if texts.count("-1") > 1:
                return None
            calls.append(f".unflatten({index}, ({', '.join(texts)}))")
    return "".join(calls)


def _moved(before: Sequence[str], after: Sequence[str]) -> str:
    """The axes in another order."""
    if tuple(before) == tuple(after):
        return ""
    if _REST not in before:
        order = [before.index(axis) for axis in after]
        swapped = [index for index, place in enumerate(order) if index != place]
        if len(swapped) == 2:
            return f".transpose({swapped[0]}, {swapped[1]})"
        return f".permute({', '.join(map(str, order))})"
    there = {axis: index for index, axis in _indexed(after)}
    pairs = [(index, there[axis]) for index, axis in sorted(_indexed(before))]
    sources, places = ([str(pair[side]) for pair in pairs] for side in (0, 1))
    return f".movedim(({', '.join(sources)}), ({', '.join(places)}))"


def _merged(side: Side) -> str:
    """Axes put together into dimensions, and dimensions of size 1 put in."""
    calls = []
    at = next((index for index, group in enumerate(side.groups) if _REST in group), len(side.groups))
    for index, group in enumerate(side.groups[:at]):
        if not group:
            calls.append(f".unsqueeze({index})")
        elif len(group) > 1:
            calls.append(f".flatten({index}, {index + len(group) - 1})")
    for number, group in enumerate(reversed(side.groups[at + 1 :]), start=1):
        if not group:
            calls.append(f".unsqueeze({-number})")
        elif len(group) > 1:
            calls.append(f".flatten({-number - len(group) + 1}, {-number})")
    if side.flat:
        calls.append(f".flatten({at}, {at - len(side.groups)})")
    return "".join(calls)


def _expanded(left: Side, right: Side, sizes: Mapping[str, str]) -> str | None:
    """Where only dimensions of size 1 become larger: ``'1 n d -> b n d'`` is ``.expand(b, -1, -1)``."""
    if len(left.groups) != len(right.groups) or _REST in (*left.axes, *right.axes):
        return None
    texts: list[str] = []
    for one, other in zip(left.groups, right.groups, strict=True):
        size = _size(other[0], sizes) if len(other) == 1 and not one else None
        if one == other and len(one) < 2:
            texts.append("-1")
        elif size is not None:
            texts.append(size)
        else:
            return None
    return f".expand({', '.join(texts)})"


def einsum_letters(pattern: str, number: int) -> str | None:
    """A pattern of einops.einsum as ``torch.einsum`` writes it; None where it is none for so many Tensors."""
    left, arrow, right = pattern.partition("->")
    terms = [*left.split(","), right]
    names = dict.fromkeys(name for term in terms for name in term.split() if name != "...")
    if not arrow or len(terms) != number + 1 or len(names) > 26 or not all(map(str.isidentifier, names)):
        return None
    own = {name for name in names if len(name) == 1}
    free = (letter for letter in string.ascii_lowercase if letter not in own)
    letters = {name: name if name in own else next(free) for name in names}
    written = ["".join(letters.get(name, name) for name in term.split()) for term in terms]
    return f"{','.join(written[:-1])}->{written[-1]}"
