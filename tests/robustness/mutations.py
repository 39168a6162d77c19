"""Programs that nobody would write, made of ones that people did: cut, swapped, joined.

Mutants of the text mostly no longer parse; mutants of the tree always do, and reach
corners of the analysis that sensible code leaves alone.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Sequence


def mutants(sources: Sequence[str], seed: int) -> Iterator[str]:
    """An endless stream of mutants, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        source, other = rng.choice(sources), rng.choice(sources)
        way = rng.randrange(10)
        if way == 0:
            yield _cut(source, rng)
        elif way == 1:
            yield _swapped_lines(source, rng)
        elif way == 2:
            yield _joined(source, other, rng)
        else:
            yield _regrown(source, other, rng)


def _cut(source: str, rng: random.Random) -> str:
    """A source without a piece from its middle."""
    start = rng.randrange(len(source))
    return source[:start] + source[start + rng.randrange(1, 200) :]


def _swapped_lines(source: str, rng: random.Random) -> str:
    lines = source.splitlines(keepends=True)
    for _ in range(rng.randrange(1, 5)):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
    return "".join(lines)


def _joined(source: str, other: str, rng: random.Random) -> str:
    """The beginning of one source and the end of another."""
    first, second = source.splitlines(), other.splitlines()
    return "\n".join(first[: rng.randrange(len(first)) + 1] + second[rng.randrange(len(second)) :])


def _regrown(source: str, other: str, rng: random.Random) -> str:
    """A source in whose tree some branches stand elsewhere, or come from another tree."""
    tree, graft = ast.parse(source), ast.parse(other)
    for _ in range(rng.randrange(1, 6)):
        kind = rng.choice((ast.expr, ast.expr, ast.stmt))
        places = list(_places(tree, kind))
        donors = [node for node in ast.walk(rng.choice((tree, graft))) if isinstance(node, kind)]
        if places and donors:
            holder, name, index = rng.choice(places)
            donor = copy.deepcopy(rng.choice(donors))
            if index is None:
                setattr(holder, name, donor)
            else:
                getattr(holder, name)[index] = donor
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return source  # there is no text for what grew


def _places(tree: ast.AST, kind: type[ast.AST]) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where nodes of a kind stand: the node above, its field, the index in a list."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, kind):
                yield node, name, None
            elif isinstance(value, list):
                yield from ((node, name, i) for i, item in enumerate(value) if isinstance(item, kind))
