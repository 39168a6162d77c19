"""Calls of what torch.jit.script has compiled, while tracing: its graph becomes a part of the trace.

Numbers that it is given are those of the example, and it may return tensors only.  Source:
torch/csrc/jit/frontend/tracer.cpp (``getValue``, ``setValueTrace``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from tsguard.analysis import values as py
from tsguard.analysis.python import classes
from tsguard.analysis.trace.alternatives import followed_aside
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import report_number, tensor
from tsguard.analysis.trace.uses import lost_sight
from tsguard.analysis.trace.values import Fixed, Number, Opaque, Shape, is_live, origin_of, parts
from tsguard.source.functions import first_line, positional_parameters
from tsguard.source.type_comments import signature_comment
from tsguard.source.unparsing import unparsed

Args = list[py.Value]

_TUPLES = frozenset({"Tuple", "tuple"})
_LISTS = frozenset({"List", "list"})
_DICTS = frozenset({"Dict", "dict"})
# What an annotation may name that is no tensor.
_REFUSED = frozenset({"Any", "None", "Size", "bool", "complex", "device", "dtype", "float", "int", "str"})


def called(
    tracer: Tracer,
    function: py.FunctionValue,
    args: Args,
    kwargs: Mapping[str, py.Value],
    run: Callable[[], py.Value] | None,
    node: ast.AST | None,
) -> py.Value:
    """What a compiled function gives; ``run`` follows it where its source is at hand.

    Raises:
        Raised: it raises as Python does.
    """
    values = [*args, *kwargs.values()]
    _give(tracer, _as_numbers(function, args, kwargs), node)
    lost_sight(tracer, values)
    returned: list[py.Value] = []
    if run is not None:
        followed_aside(tracer, lambda: returned.append(run()))
    _check(tracer, function, returned, node)
    return _result(function, values, node)


def module_called(tracer: Tracer, module: py.ModuleValue, values: Args, node: ast.AST | None) -> py.Value:
    """What the forward of a scripted module gives."""
    _give(tracer, values, node)
    lost_sight(tracer, values)
    found = classes.class_member(tracer, module.cls, "forward")
    function = found[0] if found is not None else None
    if not isinstance(function, py.FunctionValue):
        return tensor(values, node)
    _check(tracer, function, [], node)
    return _result(function, values, node)


def _check(tracer: Tracer, function: py.FunctionValue, returned: Args, node: ast.AST | None) -> None:
    if _is_refused(tracer, function, returned, node):
        tracer.report("untraceable-call/compiled", node or function.node)
    undefined = next(_undefined(function), None)
    if undefined is not None:
        tracer.report(
            "unsaveable-trace/default", node or function.node, function=function.name, name=undefined
        )


def _undefined(function: py.FunctionValue) -> Iterator[str]:
    """The parameters that are Tensors for TorchScript and default to None; types in a comment are not read here."""
    first, last = first_line(function.node), function.node.end_lineno or 0
    if signature_comment(function.module.file.lines[first - 1 : last])[0] is not None:
        return
    for parameter, default in positional_parameters(function.node):
        is_none = isinstance(default, ast.Constant) and default.value is None
        if is_none and (parameter.annotation is None or _head(parameter.annotation) == "Tensor"):
            yield parameter.arg


def _give(tracer: Tracer, values: Args, node: ast.AST | None) -> None:
    live = next((part for part in parts(values) if isinstance(part, Number) and is_live(part)), None)
    if live is not None:
        report_number(tracer, "compiled", live, node)


def _as_numbers(function: py.FunctionValue, args: Args, kwargs: Mapping[str, py.Value]) -> Args:
    """What is given for other parameters than Tensors, as all without an annotation are: a size stays a tensor there."""
    parameters = function.node.args
    every = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    tensors = {p.arg for p in every if p.annotation is None or _head(p.annotation) == "Tensor"}
    names = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
    given = [*zip(names, args, strict=False), *kwargs.items()]
    return [*(value for name, value in given if name not in tensors), *args[len(names) :]]


def _is_refused(tracer: Tracer, function: py.FunctionValue, returned: Args, node: ast.AST | None) -> bool:
    """Whether what is returned, as annotated or as it is, cannot be recorded; what is only passed on may be None."""
    returns = function.node.returns if isinstance(function.node, ast.FunctionDef) else None
    if returns is not None and not _is_optional(returns):
        return any(name in _REFUSED for name in _named(returns))
    if any(map(_is_plain, parts(returned))):
        return True
    is_passed_on = isinstance(tracer.statement, ast.Return) and tracer.statement.value is node
    return returns is not None and not (is_passed_on and len(tracer.frames) == 1)


def _is_plain(value: py.Value) -> bool:
    return isinstance(value, (py.Const, Number, Shape, Fixed))


def _head(annotation: ast.expr) -> str:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    text = "None" if isinstance(named, ast.Constant) and named.value is None else unparsed(named)
    return text.rpartition(".")[2]


def _is_optional(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.BinOp):
        return True
    return isinstance(annotation, ast.Subscript) and _head(annotation) in ("Optional", "Union")


def _named(annotation: ast.expr) -> Iterator[str]:
    """The types that values of an annotated type hold; of a dict, the keys are left out."""
    head = _head(annotation)
    if not isinstance(annotation, ast.Subscript):
        yield head
    elif head in _TUPLES | _LISTS | _DICTS:
        items = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        for item in items[1:] if head in _DICTS else items:
            yield from _named(item)


def _result(function: py.FunctionValue, values: Args, node: ast.AST | None) -> py.Value:
    """A tensor, or several if the annotation says so."""
    returns = function.node.returns if isinstance(function.node, ast.FunctionDef) else None
    if isinstance(returns, ast.Subscript) and _head(returns) in _TUPLES:
        items = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
        return py.TupleValue(tuple(tensor(values, node) for _ in items))
    if isinstance(returns, ast.Subscript):
        return Opaque(None, origin=origin) if (origin := origin_of(values)) is not None else py.Unknown()
    return tensor(values, node)
