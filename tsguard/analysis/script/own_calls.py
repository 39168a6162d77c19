"""``__call__`` of modules, which torch.jit.script leaves out: a scripted module is called by its forward."""

from __future__ import annotations

import ast

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Gap
from tsguard.analysis.python import classes
from tsguard.analysis.python.context import Interpreter
from tsguard.source.unparsing import unparsed


def left_out(interp: Interpreter, cls: py.Value) -> Gap | None:
    """Why the scripted module may do something else than eager; None where its class has no ``__call__`` of its own."""
    found = classes.class_member(interp, cls, "__call__")
    called = found[0] if found is not None else None
    if not isinstance(called, py.FunctionValue) or not isinstance(called.node, ast.FunctionDef):
        return None
    return None if _passes_on(called.node) else unread.own_call(called.module, called.node)


def _passes_on(function: ast.FunctionDef) -> bool:
    """``return super().__call__(x)``, which only tells types."""
    *before, last = function.body
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return False
    is_alone = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in before)
    return is_alone and _is_forward(last.value.func) and _hands_on(function.args, last.value)


def _is_forward(called: ast.expr) -> bool:
    """``super().__call__``, ``self.forward``."""
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value.func if isinstance(called.value, ast.Call) else called.value
    name = owner.id if isinstance(owner, ast.Name) else ""
    return called.attr == "__call__" if name == "super" else called.attr == "forward" and name == "self"


def _hands_on(spec: ast.arguments, call: ast.Call) -> bool:
    """Whether each parameter but the first is given on in its place."""
    positional = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)][1:]
    starred = [f"*{spec.vararg.arg}"] if spec.vararg is not None else []
    named: list[tuple[str | None, str]] = [(parameter.arg, parameter.arg) for parameter in spec.kwonlyargs]
    if spec.kwarg is not None:
        named.append((None, spec.kwarg.arg))
    given = [unparsed(argument) for argument in call.args]
    keywords = [(keyword.arg, unparsed(keyword.value)) for keyword in call.keywords]
    return given == positional + starred and keywords == named
