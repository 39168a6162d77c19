"""Sizes that torch.export is to leave open, as users name them: ``x: {0: batch, 1: auto}``."""

from __future__ import annotations

import re

from tsguard.report.records import dataclass

_GIVEN = re.compile(r"\s*(?P<input>[^\s:]+)\s*:\s*\{(?P<dimensions>[^{}]*)\}\s*")
_DIMENSION = re.compile(r"\s*(?P<number>\d+)\s*:\s*(?P<name>[^\W\d]\w*)\s*")
_AUTOMATIC = "auto"


@dataclass(frozen=True, slots=True)
class OpenSizes:
    """The open dimensions (from 0) of an input; those of one name have the same size, "" stands for ``Dim.AUTO``."""

    input: str
    dimensions: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        named = (f"{number}: {name or _AUTOMATIC}" for number, name in self.dimensions)
        return f"{self.input}: {{{', '.join(named)}}}"


def open_sizes(text: str) -> OpenSizes:
    """What ``x: {0: batch}`` says.

    Raises:
        ValueError: it is not written so.
    """
    given = _GIVEN.fullmatch(text)
    parts = given["dimensions"].strip().removesuffix(",").split(",") if given else []
    found = [_DIMENSION.fullmatch(part) for part in parts]
    if given is None or not all(found):
        raise ValueError(f"{text!r} is not written as in 'x: {{0: batch, 1: auto}}'")
    dimensions = tuple((int(m["number"]), "" if m["name"] == _AUTOMATIC else m["name"]) for m in found if m)
    return OpenSizes(given["input"], dimensions)
