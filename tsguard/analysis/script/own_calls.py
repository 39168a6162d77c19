"""``__call__`` of modules, which torch.jit.script leaves out: a scripted module is called by its forward."""

from __future__ import annotations

import ast

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Gap
from tsguard.analysis.python import classes
from tsguard.analysis.python.context import Interpreter


def left_out(interp: Interpreter, cls: py.Value) -> Gap | None:
    """Why the scripted module may do something else than eager; None where its class has no ``__call__`` of its own."""
    found = classes.class_member(interp, cls, "__call__")
    called = found[0] if found is not None else None
    if not isinstance(called, py.FunctionValue) or not isinstance(called.node, ast.FunctionDef):
        return None
    return None if _passes_on(called.node) else unread.own_call(called.module, called.node)


def _passes_on(function: ast.FunctionDef) -> bool:
    """``return super().__call__(x)``, which only tells types."""
    statement = function.body[-1]
    if not isinstance(statement, ast.Return) or not isinstance(statement.value, ast.Call):
        return False
    given = [
        argument.value if isinstance(argument, ast.Starred) else argument for argument in statement.value.args
    ]
    given += [keyword.value for keyword in statement.value.keywords]
    spec = function.args
    taken = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))][1:]
    names = [value.id if isinstance(value, ast.Name) else "" for value in given]
    is_alone = all(
        isinstance(other, ast.Expr) and isinstance(other.value, ast.Constant) for other in function.body[:-1]
    )
    return is_alone and sorted(names) == sorted(parameter.arg for parameter in taken)
