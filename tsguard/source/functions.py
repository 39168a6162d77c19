"""Functions in the tree of a file: their parameters, as a call gives them."""

from __future__ import annotations

import ast
from typing import TypeAlias

from tsguard.source.remembering import remembered

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def takes_positional(node: FunctionNode) -> bool:
    """Whether a function can be given anything by position, as a method is its receiver."""
    spec = node.args
    return bool(spec.posonlyargs or spec.args or spec.vararg)


@remembered(4096)
def positional_parameters(node: FunctionNode) -> tuple[tuple[ast.arg, ast.expr | None], ...]:
    """The parameters that may be given by position, with their defaults."""
    parameters = [*node.args.posonlyargs, *node.args.args]
    required: list[ast.expr | None] = [None] * (len(parameters) - len(node.args.defaults))
    return tuple(zip(parameters, [*required, *node.args.defaults], strict=True))


def named_parameters(spec: ast.arguments) -> list[ast.arg]:
    """The parameters that have a name of their own: all but ``*args`` and ``**kwargs``."""
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


def first_line(node: ast.AST) -> int:
    """The line on which a node begins: that of its first decorator, if it has any."""
    line: int = getattr(node, "lineno", 1)
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([line, *(decorator.lineno for decorator in decorators)])


def required_parameters(node: FunctionNode) -> set[str]:
    """The names of the parameters without a default."""
    return {parameter.arg for parameter, default in positional_parameters(node) if default is None}
