"""With statements: supported context managers, and those that stay in Python.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitWith``), torch/jit/frontend.py
(``build_ignore_context_manager``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script import arguments, classes
from tsguard.analysis.script.annotations import annotation_type
from tsguard.analysis.script.calls import call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Method, Simple, Sugared, SugaredUnknown, Value, source_of
from tsguard.language import types as t


def emit_ignored(fc: FunctionCompiler, node: ast.With) -> None:
    """``with torch.jit._IgnoreContextManager(a="inp:int", b="out:int")``: a call of a function of Python."""
    call = node.items[0].context_expr
    assert isinstance(call, ast.Call)
    for keyword in call.keywords:
        text = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
        direction, _, spelled = str(text).partition(":")
        if keyword.arg is None or not spelled:
            continue
        type_ = annotation_type(fc.compiler, ast.parse(spelled.strip(), mode="eval").body, fc.scope)
        if direction == "out":
            fc.set_variable(keyword.arg, Simple(Value(type_)), node)


def enter(fc: FunctionCompiler, item: ast.withitem) -> None:
    """Enter one context, and bind what that gives."""
    try:
        result = _entered(fc, item.context_expr)
    except Refusal as refusal:
        fc.report(refusal)
        result = Value(t.UNKNOWN)
    if isinstance(item.optional_vars, ast.Name):
        fc.set_variable(item.optional_vars.id, Simple(result), item.optional_vars)
    elif item.optional_vars is not None:
        fc.report(Refusal("unpacking-target", item.optional_vars, target=text_of(item.optional_vars)))


def _entered(fc: FunctionCompiler, node: ast.expr) -> Value:
    entered = _context(fc, node)
    value = entered if isinstance(entered, Simple) else None
    type_ = value.value.type if value is not None else None
    if isinstance(entered, SugaredUnknown) or type_ is t.UNKNOWN:
        arguments.rests_on(fc, source_of(entered), node)
        return Value(t.UNKNOWN)
    if not isinstance(type_, t.ClassType) or value is None:
        raise Refusal("context-manager", node, manager=text_of(node))
    if fc.compiler.is_torch_context(type_):
        return Value(t.NONE)
    return _enter_object(fc, value, node)


# Rules by which a call is refused for what it calls.
_UNKNOWN_CALLEES = frozenset(
    {
        "unknown-operator",
        "python-call",
        "python-call/builtin",
        "unscriptable-function",
        "class-built-in-forward",
    }
)


def _context(fc: FunctionCompiler, node: ast.expr) -> Sugared:
    """The value of a with item; a callee that torch lacks is no context manager of its."""
    try:
        return fc.sugared(node)
    except Refusal as refusal:
        callee = node.func if isinstance(node, ast.Call) else None
        if refusal.rule in _UNKNOWN_CALLEES and refusal.node in (node, callee):
            raise Refusal("context-manager", node, manager=text_of(node)) from None
        raise


def _enter_object(fc: FunctionCompiler, value: Simple, node: ast.expr) -> Value:
    """An object's ``__enter__``; torch checks both methods before it calls one."""
    enter_method, exit_method = (classes.member(fc, value, name, node) for name in ("__enter__", "__exit__"))
    if enter_method is None or exit_method is None:
        raise Refusal("context-manager", node, manager=text_of(node))
    if _parameter_count(enter_method) not in (0, None):
        raise Refusal("context-manager/enter", node, manager=text_of(node))
    if _parameter_count(exit_method) not in (3, None):
        raise Refusal("context-manager/exit", node, manager=text_of(node))
    if isinstance(exit_method, Method) and exit_method.function is not None:
        schema = classes.method_schema(fc, value.value.type, "__exit__", exit_method.function, node)
        for argument in schema.arguments:
            if argument.type not in (t.ANY, t.UNKNOWN):
                facts = {"argument": argument.name, "type": str(argument.type)}
                raise Refusal("context-manager/any", node, **facts)
    entered = call_method(fc, value, "__enter__", [], node)
    return Value(t.UNKNOWN) if entered is None else as_value(fc, entered, node)


def _parameter_count(method: Sugared) -> int | None:
    """How many parameters a method has beside the object; None where that cannot be told."""
    function = method.function if isinstance(method, Method) else None
    if not isinstance(function, py.FunctionValue) or not isinstance(function.node, ast.FunctionDef):
        return None
    spec = function.node.args
    return len(spec.posonlyargs) + len(spec.args) + len(spec.kwonlyargs) - 1
