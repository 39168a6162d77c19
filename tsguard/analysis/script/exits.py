"""Early exits past a with block: a rewriting of torch's that loses values.

Torch turns an if that returns or jumps on one side into a guard around what follows, and
then merges the guard into the if.  The merge forgets values that leave a ``with`` block,
and torch fails with an internal error.
Source: torch/csrc/jit/frontend/exit_transforms.cpp (``inlineConsecutiveIfs``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from tsguard.report.records import dataclass
from tsguard.source.remembering import remembered
from tsguard.source.statements import statements
from tsguard.source.walking import walked

# What a block does: exits on every path, on some, on none, or raises on all.
Status = Literal["will", "might", "wont", "throws"]
_RETURN: tuple[type[ast.stmt], ...] = (ast.Return,)
_JUMP: tuple[type[ast.stmt], ...] = (ast.Break, ast.Continue)


@dataclass(frozen=True, slots=True)
class LostValue:
    """An early exit, and the with block whose values torch loses behind it."""

    exit: ast.stmt
    block: ast.With


def lost_value(function: ast.FunctionDef, branches: Mapping[int, bool | None]) -> LostValue | None:
    """The first early exit that torch cannot carry past a with block.

    ``branches`` holds, by the id of each if that was compiled, the side that is statically
    taken, None where it is decided at run time.
    """
    if not _has_with(function):
        return None
    flow = _Flow(function, branches)
    return next(
        (found for kind in (_JUMP, _RETURN) for found in flow.losses(function.body, kind, None)), None
    )


@remembered(4096)
def _has_with(function: ast.FunctionDef) -> bool:
    return any(isinstance(statement, ast.With) for statement in statements(function))


@dataclass(frozen=True, slots=True)
class _Flow:
    function: ast.FunctionDef
    branches: Mapping[int, bool | None]

    def losses(
        self, body: Sequence[ast.stmt], kind: tuple[type[ast.stmt], ...], around: ast.With | None
    ) -> Iterator[LostValue]:
        """The losses in a block; ``around`` is the with statement whose body it is."""
        block = list(self._compiled(body))
        for index, node in enumerate(block):
            exit_ = self._one_sided(node, kind)
            if exit_ is not None:
                rest = block[index + 1 :]
                lost = (
                    around
                    if around is not None and self._outlives(around, rest)
                    else self._with_that_loses(rest)
                )
                if lost is not None:
                    yield LostValue(exit_, lost)
            for inner in _blocks(node):
                yield from self.losses(inner, kind, node if isinstance(node, ast.With) else None)

    def _compiled(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements of a block, those of a statically taken branch among them."""
        for node in body:
            taken = self.branches.get(id(node))
            if isinstance(node, ast.If) and taken is not None:
                yield from self._compiled(node.body if taken else node.orelse)
            elif not isinstance(node, ast.If) or id(node) in self.branches:
                yield node

    def _one_sided(self, node: ast.stmt, kind: tuple[type[ast.stmt], ...]) -> ast.stmt | None:
        """The exit of an if that always exits on one side and never on the other."""
        if not isinstance(node, ast.If):
            return None
        statuses = self._status(node.body, kind), self._status(node.orelse, kind)
        if statuses == ("will", "wont"):
            return _first(node.body, kind)
        return _first(node.orelse, kind) if statuses == ("wont", "will") else None

    def _status(self, body: Sequence[ast.stmt], kind: tuple[type[ast.stmt], ...]) -> Status:
        might = False
        for node in self._compiled(body):
            status = self._statement(node, kind)
            if status in ("will", "throws"):
                return "will" if might else status
            might |= status == "might"
        return "might" if might else "wont"

    def _statement(self, node: ast.stmt, kind: tuple[type[ast.stmt], ...]) -> Status:
        if isinstance(node, kind):
            return "will"
        if isinstance(node, ast.Raise):
            return "throws"
        if isinstance(node, ast.With):
            return self._status(node.body, kind)
        if isinstance(node, (ast.For, ast.While)):
            inside = self._status(node.body, kind) if kind is _RETURN else "wont"
            return "might" if inside in ("will", "might") else "wont"
        if isinstance(node, ast.If):
            statuses = {self._status(node.body, kind), self._status(node.orelse, kind)}
            if len(statuses) > 1:
                statuses -= {"throws"}
            return statuses.pop() if len(statuses) == 1 else "might"
        return "wont"

    def _with_that_loses(self, rest: Sequence[ast.stmt]) -> ast.With | None:
        for statement in rest:
            for node in walked(statement):
                if isinstance(node, ast.With) and (_returns_value(node) or self._outlives(node, node.body)):
                    return node
        return None

    def _outlives(self, block: ast.With, body: Sequence[ast.stmt]) -> bool:
        """Whether a variable that some statements of a with block set is used outside it."""
        return not _stored(body).isdisjoint(self._read_outside(block))

    def _read_outside(self, block: ast.With) -> Iterator[str]:
        """Names that are read after a with block, or around it in a loop."""
        end = block.end_lineno or block.lineno
        loops = (n for n in walked(self.function) if isinstance(n, (ast.For, ast.While)))
        repeated = any(loop.lineno < block.lineno <= (loop.end_lineno or 0) for loop in loops)
        for node in walked(self.function):
            name = node.target if isinstance(node, ast.AugAssign) else node
            if not isinstance(name, ast.Name) or (name is node and not isinstance(name.ctx, ast.Load)):
                continue
            if name.lineno > end or (repeated and name.lineno < block.lineno):
                yield name.id


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(node, (ast.If, ast.For, ast.While, ast.With)):
        yield node.body
    if isinstance(node, ast.If):
        yield node.orelse


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    nodes = (node for statement in body for node in walked(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _returns_value(block: ast.With) -> bool:
    """Whether a with block returns what it computes, not a variable from before."""
    stored = _stored(block.body)
    returns = (node for node in walked(block) if isinstance(node, ast.Return))
    return any(not isinstance(node.value, ast.Name) or node.value.id in stored for node in returns)


def _first(body: Sequence[ast.stmt], kind: tuple[type[ast.stmt], ...]) -> ast.stmt:
    return next(
        n for statement in body for n in walked(statement) if isinstance(n, ast.stmt) and isinstance(n, kind)
    )
