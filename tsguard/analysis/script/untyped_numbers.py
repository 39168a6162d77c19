"""Parameters without annotation that callers pass numbers, and that TorchScript takes for Tensors."""

from __future__ import annotations

import ast

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.differences import is_target
from tsguard.analysis.script.refusals import Refusal
from tsguard.source import truths


def finish(fc: FunctionCompiler) -> None:
    """Report what has neither annotation nor default and is only compared with numbers."""
    if not fc.failed and fc.node.type_comment is None and is_target(fc):
        for parameter in _untyped(fc.node.args):
            numbers = truths.compared_with(parameter.arg, fc.node)
            if numbers:
                type_ = "bool" if all(isinstance(number, bool) for number in numbers) else "int"
                refusal = Refusal("untyped-number", parameter, parameter=parameter.arg, type=type_)
                fc.compiler.report(refusal, fc.module)


def _untyped(args: ast.arguments) -> list[ast.arg]:
    positional = [*args.posonlyargs, *args.args]
    return [arg for arg in positional[: len(positional) - len(args.defaults)] if arg.annotation is None]
