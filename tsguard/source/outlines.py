"""Outlines of files that were parsed: with one, a file is parsed again without the bodies of its functions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from tsguard.report.records import dataclass
from tsguard.source.changing import changed_in, filled_in
from tsguard.source.replacing import replace_file
from tsguard.source.statements import held
from tsguard.source.unread import Told, Unread, parsed

# Of a shorter body the place that it leaves costs as much.
_FEWEST_LINES = 3
# Python takes no number of more digits.
_WIDEST = 4_300


@dataclass(frozen=True, slots=True)
class Body:
    """The body of the function whose ``def`` stands in a ``line``: it lies alone in the lines ``first`` to ``last``.

    It begins in column ``indent`` and ends in column ``end``, in bytes and 0-based, as ``ast`` counts.
    """

    line: int
    first: int
    last: int
    indent: int
    end: int
    told: Told


Outline = tuple[Body, ...]


@dataclass(frozen=True, slots=True)
class Outlines:
    """Outlines kept between runs in a ``folder``, by the texts that they are of.

    ``made_by`` names the tsguard and the Python that write and read them, in at most 64 letters.
    """

    folder: Path
    made_by: str

    def parsed(self, text: str) -> ast.Module:
        """The tree of a text; one that was parsed before has functions that are unread.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: as ``ast.parse`` does.
        """
        place = self._place(text)
        try:
            outline = _decoder().decode(place.read_bytes())
        except (OSError, ValueError):
            tree = parsed(text)
            replace_file(place, msgspec.json.encode(outline_of(tree, text)))
            return tree
        return outlined(text, outline)

    def _place(self, text: str) -> Path:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self.made_by.encode())
        key = digest.hexdigest()
        return self.folder / key[:2] / f"{key[2:]}.json"


def outline_of(tree: ast.Module, text: str) -> Outline:
    """Where the functions outside of functions have their bodies."""
    if "\r" in text or "\f" in text:  # lines are counted in more than one way
        return ()
    lines = text.split("\n")
    return tuple(body for node in _functions(tree) if (body := _body(node, lines)) is not None)


def outlined(text: str, outline: Outline) -> ast.Module:
    """The tree of the text that an outline is of, with the functions in it unread."""
    lines = text.split("\n")
    short = list(lines)
    for body in outline:
        indentation = lines[body.first - 1][: body.indent]
        short[body.first - 1 : body.last] = [""] * (body.last - body.first + 1)
        # A number as wide as needed: what holds the function ends where it did.
        short[body.last - 1] = indentation + "0" * (body.end - body.indent)
    tree = parsed("\n".join(short))
    bodies = {body.line: body for body in outline}
    for node in _functions(tree):
        known = bodies.get(node.lineno)
        if known is not None:
            node.__class__ = Unread
            assert isinstance(node, Unread)
            node.told, node.lines, node.rows = known.told, lines, (known.first, known.last)
    return tree


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    for inner in held(node):
        if isinstance(inner, ast.FunctionDef):
            yield inner
        elif not isinstance(inner, ast.AsyncFunctionDef):
            yield from _functions(inner)


def _body(node: ast.FunctionDef, lines: Sequence[str]) -> Body | None:
    """The body of a function, where it lies alone in lines that can be left out."""
    start, end = node.body[0], node.body[-1]
    # A definition begins with its decorators.
    first = min([start.lineno, *(d.lineno for d in getattr(start, "decorator_list", ()))])
    last, width = end.end_lineno, end.end_col_offset
    if last is None or width is None or last - first + 1 < _FEWEST_LINES:
        return None
    begins_alone = not lines[first - 1][: start.col_offset].strip() and not lines[first - 2].endswith("\\")
    if not begins_alone or first <= node.lineno or not 0 < width - start.col_offset <= _WIDEST:
        return None
    told = Told(changed_in(node), filled_in(node))
    return Body(node.lineno, first, last, start.col_offset, width, told)


@functools.cache
def _decoder() -> msgspec.json.Decoder[Outline]:
    return msgspec.json.Decoder(Outline)
