"""The condition that a failed assertion or check was about, with the values it had.

Models check their inputs in their own words (``assert H == self.img_size``); the words
are free, the comparison is not: it is evaluated again in the frame that raised.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from tsguard.runtime.worker.guarding import value_or

_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Condition:
    """``left operator right`` should hold and does not; ``divisor`` when left is a remainder by it."""

    left: Any
    operator: str
    right: Any
    divisor: int | None = None


def violated(frame: FrameType | None, line: int) -> list[Condition]:
    """The comparisons that should have held at a line that raised, with integers on both sides."""
    if frame is None:
        return []
    found: list[Condition] = []
    for test, wanted in _tests(frame.f_code.co_filename, line):
        for comparison, negated in _comparisons(test, not wanted):
            found += _evaluated(comparison, negated, frame)
    return found


def innermost_frame(error: BaseException) -> tuple[FrameType | None, int]:
    """Where an exception was raised: the frame and the line in it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (trace.tb_frame, trace.tb_lineno) if trace is not None else (None, 0)


def is_unwritten(error: BaseException) -> bool:
    """Whether code says that it is not written yet, whatever it is called with; operations refuse some inputs so."""
    if not isinstance(error, NotImplementedError):
        return False
    frame, line = innermost_frame(error)
    if frame is None or frame.f_globals.get("__name__", "").startswith("torch."):
        return frame is not None and frame.f_code.co_name == "_forward_unimplemented"
    tree = _tree(frame.f_code.co_filename)
    functions = (n for n in ast.walk(tree or ast.Module([], [])) if isinstance(n, ast.FunctionDef))
    return any(isinstance(s, ast.Raise) and s.lineno == line for f in functions for s in f.body)


@functools.lru_cache(16)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def _tests(file: str, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """Tests about the line, and the truth value that would have avoided the error."""
    tree = _tree(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or line):
            yield node.test, True
        elif isinstance(node, ast.If):
            for body, wanted in ((node.body, False), (node.orelse, True)):
                if any(isinstance(s, ast.Raise) and s.lineno <= line <= (s.end_lineno or line) for s in body):
                    yield node.test, wanted


def _comparisons(test: ast.expr, negated: bool) -> Iterator[tuple[ast.Compare, bool]]:
    if isinstance(test, ast.Compare):
        yield test, negated
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _comparisons(test.operand, not negated)
    elif isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _comparisons(value, negated)
    elif isinstance(test, ast.Call) and test.args:
        for argument in test.args:
            inner = argument.elt if isinstance(argument, ast.GeneratorExp) else argument
            yield from _comparisons(inner, negated)


def _evaluated(comparison: ast.Compare, negated: bool, frame: FrameType) -> Iterator[Condition]:
    left = comparison.left
    for operator, right in zip(comparison.ops, comparison.comparators, strict=True):
        text = _COMPARISONS.get(type(operator))
        values = _value(left, frame), _value(right, frame)
        if text is not None and None not in values:
            text = _OPPOSITE[text] if negated else text
            divisor = None
            if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
                divisor, number = _value(left.right, frame), _value(left.left, frame)
                values = (number, values[1]) if number is not None else values
            yield Condition(values[0], text, values[1], divisor if isinstance(divisor, int) else None)
        left = right


def _value(node: ast.expr, frame: FrameType) -> Any:
    """The node's value in the frame if it is an integer or a few of them."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<condition>", "eval")
    return value_or(None, lambda: _integers(eval(code, frame.f_globals, frame.f_locals)))


def _integers(value: Any) -> int | list[int]:
    return [int(v) for v in value] if isinstance(value, (list, tuple)) else int(value)


def memberships(frame: FrameType | None, line: int) -> list[tuple[str, list[str]]]:
    """Names that a failed check wanted among some values, with the values as expressions."""
    if frame is None:
        return []
    found: list[tuple[str, list[str]]] = []
    for test, _ in _tests(frame.f_code.co_filename, line):
        for node in ast.walk(test):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                found += _accepted_classes(node)
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
                options = node.comparators[0]
                if isinstance(options, (ast.Tuple, ast.List, ast.Set)) and options.elts:
                    found.append((node.left.id, [ast.unparse(element) for element in options.elts]))
                elif isinstance(node.ops[0], ast.Eq) and isinstance(options, ast.Constant):
                    found.append((node.left.id, [ast.unparse(options)]))
    return found


def _accepted_classes(check: ast.Call) -> list[tuple[str, list[str]]]:
    name, classes = check.args
    accepted = classes.elts if isinstance(classes, ast.Tuple) else [classes]
    return [(name.id, [ast.unparse(c) for c in accepted])] if isinstance(name, ast.Name) else []
