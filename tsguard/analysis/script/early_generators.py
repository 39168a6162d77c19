"""Lists that a generator reads while they grow by it: compiled, the generator is a list before anything is added."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script import iteration
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Tuple
from tsguard.source.walking import children


def check(fc: FunctionCompiler, node: ast.AST) -> None:
    """Report ``y.extend(f(y[-1]) for ...)`` and ``y += (...)``, unless nothing is added before the last is made."""
    target: ast.expr
    if isinstance(node, ast.AugAssign):
        target, given = node.target, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        target, given = node.func.value, node.args[0]
    else:
        return
    if not isinstance(given, ast.GeneratorExp) or not isinstance(target, (ast.Name, ast.Attribute)):
        return
    if _reads_end(given.elt, text_of(target)) and not _is_short(fc, given.generators[0].iter):
        fc.note(Refusal("early-generator", given, list=text_of(target)))


def _reads_end(node: ast.AST, grown: str) -> bool:
    """Whether what an expression makes of a list may change as items are added: ``y[0]`` stays."""
    if (
        isinstance(node, ast.Subscript)
        and text_of(node.value) == grown
        and isinstance(node.slice, ast.Constant)
    ):
        return False
    if isinstance(node, (ast.Name, ast.Attribute)) and text_of(node) == grown:
        return True
    return any(_reads_end(child, grown) for child in children(node))


def _is_short(fc: FunctionCompiler, iterable: ast.expr) -> bool:
    """Whether a generator is known to make one item at most."""
    iterated = iteration.iterate(fc, fc.sugared(iterable), iterable)
    if isinstance(iterated, Tuple) and iterated.open:
        return False
    items = iteration.unrolled_items(fc, iterated, iterable)
    return items is not None and len(items) < 2
