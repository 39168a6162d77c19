"""Fixes of loops over some modules of a container: compiled code goes through all, and asks which are meant."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, fresh_name
from tsguard.fixes.chosen_calls import call_each
from tsguard.fixes.composing import safe
from tsguard.fixes.edits import between
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def call_each_or_loop(event: Event) -> Fix | None:
    """A module that is chosen is called where it is chosen, one of a slice in a loop over all."""
    return call_each(event) or _loop_over_slice(event)


def _loop_over_slice(event: Event) -> Fix | None:
    """``for block in self.blocks[1:]:`` becomes ``for i, block in enumerate(self.blocks):`` with ``if i >= 1:``."""
    file = event.module.file
    loops = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.For)]
    loop = loops[-1] if loops else None
    taken = loop.iter if loop is not None else None
    if (
        loop is None
        or loop.orelse
        or not isinstance(taken, ast.Subscript)
        or not isinstance(taken.slice, ast.Slice)
    ):
        return None
    leaves = any(isinstance(n, (ast.Break, ast.Continue)) for part in loop.body for n in ast.walk(part))
    container, index = between(file, file.span(taken.value)), fresh_name(file, "i")
    asked = _bounds(taken.slice, container, index)
    if leaves or asked is None or not isinstance(loop.target, ast.Name):
        return None
    name = loop.target.id

    def change(block: cst.For) -> cst.BaseStatement | None:
        if not isinstance(block.body, cst.IndentedBlock):
            return None
        inner = cst.If(cst.parse_expression(asked), block.body.with_changes(header=cst.TrailingWhitespace()))
        target = cst.Tuple([cst.Element(cst.Name(index)), cst.Element(cst.Name(name))], lpar=[], rpar=[])
        source = cst.parse_expression(f"enumerate({container})")
        return block.with_changes(target=target, iter=source, body=block.body.with_changes(body=[inner]))

    return safe(f"Loop over all of {container}", changed_block(file, loop, cst.For, change))


def _bounds(part: ast.Slice, container: str, index: str) -> str | None:
    """What a slice asks of the index: its bounds are numbers that are written there."""
    asked = []
    for bound, sign in ((part.lower, ">="), (part.upper, "<")):
        if bound is None:
            continue
        try:
            number = ast.literal_eval(bound)
        except ValueError:
            return None
        if not isinstance(number, int):
            return None
        asked.append(f"{index} {sign} {number if number >= 0 else f'len({container}) - {-number}'}")
    return " and ".join(asked) if asked and part.step is None else None
