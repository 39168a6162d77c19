"""Wrappers by ``functools.wraps``, of which torch.jit.script compiles the function behind: what they do is lost."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked


def check(compiler: Compiler, fc: FunctionCompiler, function: py.FunctionValue) -> None:
    """Report a function that compiles while a wrapper changes what goes in or what comes out, in every call."""
    if fc.failed or function.wrapped is None or not isinstance(function.node, ast.FunctionDef):
        return
    if _changes_arguments(function.node) or _changes_result(compiler, function.node, function):
        compiler.report(Refusal("lost-decorator", fc.node, function=fc.node.name), fc.module)


# Expressions that are another value than what they are made of; what a call makes of it, only the call tells.
_OTHERS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple, ast.List, ast.Dict)


def _changes_arguments(node: ast.FunctionDef) -> bool:
    """Whether a wrapper gives one of its parameters another value: ``x = x / 255``."""
    spec = node.args
    parameters = {parameter.arg for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    return any(
        isinstance(target, ast.Name)
        and target.id in parameters
        and _is_another(statement.value, set(), {target.id})
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )


def _changes_result(compiler: Compiler, node: ast.FunctionDef, function: py.FunctionValue) -> bool:
    """Whether each way through a wrapper makes something else of what the wrapped function gives."""
    handed = {id(part) for part in walked(node) if _calls_wrapped(compiler, part, function)}
    kept = [part for part in walked(node) if isinstance(part, ast.Assign) and id(part.value) in handed]
    names = {target.id for part in kept for target in part.targets if isinstance(target, ast.Name)}
    returned = [part.value for part in walked(node) if isinstance(part, ast.Return)]
    return bool(returned) and all(
        value is not None and _is_another(value, handed, names) for value in returned
    )


def _is_another(value: ast.expr, handed: set[int], names: set[str]) -> bool:
    """Whether an expression is made of the results of some calls, or of names, and never one of them itself."""
    if isinstance(value, ast.IfExp):
        return all(_is_another(side, handed, names) for side in (value.body, value.orelse))
    return isinstance(value, _OTHERS) and any(
        id(part) in handed or (isinstance(part, ast.Name) and part.id in names) for part in walked(value)
    )


def _calls_wrapped(compiler: Compiler, part: ast.AST, function: py.FunctionValue) -> bool:
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name):
        return False
    return compiler.interp.lookup(part.func.id, function.scope) is function.wrapped


def hiding(source: py.FunctionValue, node: ast.FunctionDef) -> RuleName:
    """The rule for a decorator through which torch does not find the function's names."""
    if "grad_wrapper" not in source.marks:
        return "grad-decorator-names/other"
    return "grad-decorator-names/enabling" if _enables_gradients(node) else "grad-decorator-names"


def losing(node: ast.FunctionDef) -> Refusal:
    """The refusal of a decorator that sets how gradients are recorded, which compiled code does not."""
    rule: RuleName = "grad-decorator/enabling" if _enables_gradients(node) else "grad-decorator"
    return Refusal(rule, node, function=node.name)


def _enables_gradients(function: ast.FunctionDef) -> bool:
    """Whether a decorator turns gradients on, or may: torch.jit.script enters no context that does."""
    texts = [text_of(decorator) for decorator in function.decorator_list]
    return any("enable_grad" in text or "set_grad_enabled" in text for text in texts) and not any(
        "set_grad_enabled(False)" in text for text in texts
    )
