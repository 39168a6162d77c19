"""The arguments that a target is called with: tensors, unless its signature says otherwise."""

from __future__ import annotations

import ast

from tsguard.analysis.mode.choices import either
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import Raised
from tsguard.analysis.values import (
    NONE,
    Const,
    DictValue,
    FunctionValue,
    ListValue,
    StaticMethod,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    is_none,
)
from tsguard.source.functions import positional_parameters
from tsguard.source.unparsing import unparsed

_NUMBERS = {"int": "int", "float": "float", "bool": "bool", "str": "str"}


def of(walk: ModeInterpreter, function: Value, *, bound: bool) -> tuple[list[Value], dict[str, Value]]:
    """Arguments for a function; ``bound`` when its first parameter is given already.

    ``*args`` get a tensor only where nothing else does: in ``forward(self, x, *args)`` they are what
    another caller may add, and what they would switch on is off by default.
    """
    if isinstance(function, StaticMethod):
        function, bound = function.function, False
    if not isinstance(function, FunctionValue):
        return [TensorValue()], {}
    spec = function.node.args
    pairs = positional_parameters(function.node)[1 if bound else 0 :]
    args = [_argument(walk, function, parameter, default) for parameter, default in pairs]
    if spec.vararg is not None and not args:
        args.append(TensorValue())
    keywords = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return args, {
        parameter.arg: _argument(walk, function, parameter, default) for parameter, default in keywords
    }


def _argument(
    walk: ModeInterpreter, function: FunctionValue, parameter: ast.arg, default: ast.expr | None
) -> Value:
    given = _by_annotation(parameter.annotation)
    if default is None:
        return given
    try:
        value = walk.evaluate(default, function.scope)
    except Raised:
        return given
    return either([NONE, given]) if is_none(value) else value if isinstance(value, Const) else given


def _by_annotation(annotation: ast.expr | None) -> Value:
    text = unparsed(annotation) if annotation is not None else ""
    text = text.removeprefix("typing.").removeprefix("Optional[").strip("'\"")
    head = text.partition("[")[0].partition(" |")[0].rpartition(".")[2].rstrip("]")
    if head in _NUMBERS:
        return Unknown(None, _NUMBERS[head])
    if head in ("List", "list", "Sequence", "Iterable"):
        return ListValue([TensorValue()], open=True)
    if head in ("Tuple", "tuple"):
        return TupleValue((TensorValue(),) * max(text.count(",") + 1, 1), open=True)
    if head in ("Dict", "dict", "Mapping"):
        return DictValue({}, open=True)
    return TensorValue()
