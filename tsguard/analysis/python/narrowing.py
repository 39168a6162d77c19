"""What a test says of the parameter it asks: one that is of another class than its default is not its default."""

from __future__ import annotations

import ast

from tsguard.analysis.python import assignments, type_tests
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import Scope, Unknown
from tsguard.report.records import replace


def narrow(interp: Interpreter, test: ast.expr, holds: bool, scope: Scope) -> None:
    """Take from variables the defaults that ``test``, answered by ``holds``, rules out."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(interp, test.operand, not holds, scope)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == holds:
        for operand in test.values:
            narrow(interp, operand, holds, scope)
    elif holds and isinstance(test, ast.Call):
        _of_class(interp, test, scope)


def _of_class(interp: Interpreter, test: ast.Call, scope: Scope) -> None:
    if not (isinstance(test.func, ast.Name) and test.func.id == "isinstance" and len(test.args) == 2):
        return
    asked, given = test.args
    value = scope.names.get(asked.id) if isinstance(asked, ast.Name) else None
    if not isinstance(value, Unknown) or value.default is None:
        return
    if type_tests.is_one_of(interp, value.default, interp.evaluate(given, scope)) is False:
        assignments.assign(interp, asked, replace(value, hint="", default=None), scope)
