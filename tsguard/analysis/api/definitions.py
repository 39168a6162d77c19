"""Definitions with decorators of torch.jit where these do not work, and annotations with undefined names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tsguard.analysis.api.usage import Usage
from tsguard.source.statements import held
from tsguard.source.walking import walked

_TYPING = frozenset(
    {"Any", "Callable", "Dict", "Final", "List", "NamedTuple", "Optional", "Sequence", "Tuple", "Union"}
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def check(usage: Usage) -> None:
    """Check every function and class of a file."""
    tree = usage.module.file.tree
    annotations = list(_of_variables(tree.body))
    for node, owner in _definitions(tree, None):
        if isinstance(node, ast.ClassDef):
            _check_class(usage, node)
            annotations += _of_variables(node.body)
        else:
            _check_decorators(usage, node, owner)
            annotations += _of_signature(node)
    _check_annotations(usage, annotations)


def check_import(usage: Usage) -> None:
    """Check what is run whenever the file is imported."""
    annotations: list[ast.expr] = []
    for body in _bodies(usage.module.file.tree):
        annotations += _of_variables(body)
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                annotations += _of_signature(node)
                for decorator in node.decorator_list:
                    _check_trace(usage, decorator, node)
    _check_annotations(usage, annotations)


def _bodies(node: ast.Module | ast.ClassDef) -> Iterator[list[ast.stmt]]:
    """The body of a file and those of its classes, without what only a condition lets run."""
    yield node.body
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            yield from _bodies(statement)


def _definitions(
    parent: ast.AST, owner: ast.ClassDef | None
) -> Iterator[tuple[Function | ast.ClassDef, ast.ClassDef | None]]:
    """Every definition of a file, with the class whose body it lies in directly."""
    for node in held(parent):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node, owner
            yield from _definitions(node, node if isinstance(node, ast.ClassDef) else None)
        else:
            yield from _definitions(node, owner)


def _check_decorators(usage: Usage, node: Function, owner: ast.ClassDef | None) -> None:
    names = [usage.names.dotted(_applied(decorator)) for decorator in node.decorator_list]
    for decorator, name in zip(node.decorator_list, names, strict=True):
        _check_trace(usage, decorator, node)
        if name == "torch.jit.script":
            usage.scripts = True
            if owner is not None and "builtins.staticmethod" not in _builtins(node) and node.args.args:
                usage.report("script-on-method", decorator, name=node.name, receiver=node.args.args[0].arg)
        elif name == "torch.jit.script_method":
            _check_script_method(usage, decorator, node, owner)
        elif name == "torch.jit.ignore" and _drops(decorator):
            usage.report("deprecated-entry-point/drop", decorator)


def _check_trace(usage: Usage, decorator: ast.expr, node: Function) -> None:
    if usage.names.dotted(_applied(decorator)) == "torch.jit.trace":
        usage.report("trace-without-inputs/decorator", decorator, name=node.name)


def _applied(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _builtins(node: Function) -> set[str]:
    return {f"builtins.{d.id}" for d in node.decorator_list if isinstance(d, ast.Name)}


def _check_script_method(
    usage: Usage, decorator: ast.expr, node: Function, owner: ast.ClassDef | None
) -> None:
    is_script_module = usage.names.is_script_module(owner) if owner is not None else False
    if is_script_module is False:
        where = owner.name if owner is not None else "no class"
        usage.report("script-method-outside", decorator, name=node.name, owner=where)
    elif is_script_module:
        usage.report("deprecated-entry-point/script-method", decorator)


def _drops(decorator: ast.expr) -> bool:
    if not isinstance(decorator, ast.Call):
        return False
    flags = [*decorator.args, *(keyword.value for keyword in decorator.keywords)]
    return any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def _check_class(usage: Usage, node: ast.ClassDef) -> None:
    """A ScriptModule compiles its script methods and nothing else."""
    if usage.names.is_script_module(node) is not True:
        return
    usage.scripts = True
    methods = [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]
    marks = {usage.names.dotted(_applied(d)) for method in methods for d in method.decorator_list}
    forward = next((method for method in methods if method.name == "forward"), None)
    if forward is not None and "torch.jit.script_method" not in marks:
        usage.report("script-module-without-methods", node, name=node.name)


def _check_annotations(usage: Usage, annotations: list[ast.expr]) -> None:
    """Names of ``typing`` in annotations that Python evaluates, where nothing binds them; each once."""
    if usage.module.star_imports or _postpones_annotations(usage.module.file.tree):
        return
    missing: dict[str, ast.Name] = {}
    for annotation in annotations:
        for name in walked(annotation):
            if isinstance(name, ast.Name) and name.id in _TYPING and usage.names.meaning(name) is None:
                known = missing.setdefault(name.id, name)
                if (name.lineno, name.col_offset) < (known.lineno, known.col_offset):
                    missing[name.id] = name
    for name in missing.values():
        usage.report("missing-typing-import", name, name=name.id)


def _of_variables(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """The annotations of the variables of a file or class, which Python evaluates as those of functions are."""
    yield from (statement.annotation for statement in body if isinstance(statement, ast.AnnAssign))


def _of_signature(node: Function) -> Iterator[ast.expr]:
    parameters = node.args
    every = [
        *parameters.posonlyargs,
        *parameters.args,
        *parameters.kwonlyargs,
        parameters.vararg,
        parameters.kwarg,
    ]
    for parameter in every:
        if parameter is not None and parameter.annotation is not None:
            yield parameter.annotation
    if node.returns is not None:
        yield node.returns


def _postpones_annotations(tree: ast.Module) -> bool:
    """Whether ``from __future__ import annotations`` is in force."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(a.name == "annotations" for a in node.names)
        for node in tree.body
    )
