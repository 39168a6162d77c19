"""Names that mean nothing in compiled code."""

from __future__ import annotations

import ast

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.source.walking import walked


def is_starred(function: ast.FunctionDef, name: str) -> bool:
    """Whether a name is the ``*args`` or ``**kwargs`` of a function, which torch knows nothing of."""
    starred = (function.args.vararg, function.args.kwarg)
    return any(parameter is not None and parameter.arg == name for parameter in starred)


def undefined(fc: FunctionCompiler, name: str, node: ast.AST) -> Refusal:
    """Why a name means nothing: nobody assigns it, or its block has ended."""
    names = (n for n in walked(fc.node) if isinstance(n, ast.Name) and n.id == name)
    lines = [n.lineno for n in names if isinstance(n.ctx, ast.Store)]
    if lines and min(lines) < getattr(node, "lineno", 0):
        return Refusal("undefined-name/block", node, name=name, line=min(lines))
    return Refusal("undefined-name", node, name=name)
