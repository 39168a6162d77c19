"""Wrappers by ``functools.wraps``, of which torch.jit.script compiles the function behind: what they do is lost."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked


def check(compiler: Compiler, fc: FunctionCompiler, function: py.FunctionValue) -> None:
    """Report a function that compiles while a wrapper of it changes what goes in or what comes out."""
    if fc.failed or function.wrapped is None or not isinstance(function.node, ast.FunctionDef):
        return
    if not _only_calls(compiler, function.node, function):
        compiler.report(Refusal("lost-decorator", fc.node, function=fc.node.name), fc.module)


def _only_calls(compiler: Compiler, node: ast.FunctionDef, function: py.FunctionValue) -> bool:
    """Whether a wrapper hands on what it is given, and returns what the wrapped function returns."""
    handed = {ast.dump(call) for call in _calls(compiler, node, function)}
    stored: dict[str, list[str]] = {}
    for part in walked(node):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            stored.setdefault(part.targets[0].id, []).append(ast.dump(part.value))
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            stored.setdefault(part.target.id, []).append("")
    if any(name in stored for name in _parameters(node)):
        return False
    held = {name for name, values in stored.items() if handed.issuperset(values)}
    returned = [part.value for part in walked(node) if isinstance(part, ast.Return)]
    return bool(returned) and all(
        value is not None
        and (ast.dump(value) in handed or (isinstance(value, ast.Name) and value.id in held))
        for value in returned
    )


def _calls(compiler: Compiler, node: ast.FunctionDef, function: py.FunctionValue) -> list[ast.Call]:
    """The calls of what is wrapped with the wrapper's own arguments, each in its place."""
    expected = _handed_on(node)
    return [
        part
        for part in walked(node)
        if isinstance(part, ast.Call)
        and isinstance(part.func, ast.Name)
        and isinstance(compiler.interp.lookup(part.func.id, function.scope), py.FunctionValue)
        and _given(part) == expected
    ]


def _given(call: ast.Call) -> list[str]:
    named = [f"{'' if keyword.arg else '**'}{unparsed(keyword.value)}" for keyword in call.keywords]
    return [*map(unparsed, call.args), *named]


def _handed_on(node: ast.FunctionDef) -> list[str]:
    """What a call has to be given for the wrapped function to get what the wrapper gets."""
    spec = node.args
    names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
    names += [f"*{spec.vararg.arg}"] if spec.vararg is not None else []
    names += [parameter.arg for parameter in spec.kwonlyargs]
    return names + ([f"**{spec.kwarg.arg}"] if spec.kwarg is not None else [])


def _parameters(node: ast.FunctionDef) -> set[str]:
    return {name.lstrip("*") for name in _handed_on(node)}
