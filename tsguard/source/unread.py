"""Functions of a file that was parsed before: each body is parsed when somebody reads it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a function without its body.

    ``changed`` are the names of which its code changes what they stand for, ``filled`` the attributes
    into which it puts items.
    """

    changed: frozenset[str]
    filled: frozenset[str]


class Unread(ast.FunctionDef):
    """A function whose body nobody has read; who does makes a plain function of it.

    Attributes:
        told: what is known of it so far.
        lines: the lines of the file.
        rows: the first and the last line of the body, 1-based.
    """

    told: Told
    lines: Sequence[str]
    rows: tuple[int, int]

    @property
    def body(self) -> list[ast.stmt]:  # type: ignore[override]
        """The statements, parsed now."""
        first, last = self.rows
        above = "\n" * (first - 2)
        block = parsed("\n".join([f"{above}if 1:", *self.lines[first - 1 : last]])).body[0]
        assert isinstance(block, ast.If)
        del self.told, self.lines, self.rows
        self.__class__ = ast.FunctionDef  # type: ignore[assignment]
        self.body = block.body  # type: ignore[misc]
        return block.body


# By this name visitors of the standard library find what they do with a node.
Unread.__name__ = "FunctionDef"


def parsed(text: str) -> ast.Module:
    """The tree of a text, without Python's warnings about it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as ``ast.parse`` does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
