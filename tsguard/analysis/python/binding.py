"""Arguments of a call, and how they are bound to the parameters of a function, as Python does."""

from __future__ import annotations

import ast

from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.python.unread_mappings import REST, STARS, gathers, perhaps_other, unread_rest
from tsguard.analysis.terms import Parameter, placed
from tsguard.analysis.values import DictValue, FunctionValue, Scope, TupleValue, Unknown, Value, mapped
from tsguard.source.functions import positional_parameters


def arguments(
    interp: Interpreter, node: ast.Call, scope: Scope
) -> tuple[list[Value], dict[str, Value], bool]:
    """A call's arguments, by ``REST`` and ``STARS`` what may hold others; the flag is False when a star of unknown length is among them."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    exact = True
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            starred = interp.evaluate(arg.value, scope)
            items, is_open = iterate(interp, starred)
            args.extend(items)
            if is_open and arg is node.args[-1] and isinstance(starred, Unknown):
                kwargs[STARS] = starred
            exact = exact and not is_open
        else:
            args.append(interp.evaluate(arg, scope))
    for keyword in node.keywords:
        value = interp.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        value = mapped(value)
        if isinstance(value, DictValue):
            kwargs.update({k: v for k, v in value.items.items() if isinstance(k, str)})
            if value.rest is not None:
                kwargs[REST] = value.rest
            exact = exact and not value.open
        else:
            kwargs[REST] = unread_rest(value) or Unknown(placed(keyword.value))
            exact = False
    return args, kwargs, exact


def may_be_none_at_all(starred: Value) -> bool:
    """Whether what is unpacked is the ``*args`` of a function of which nobody says how many there are."""
    return isinstance(starred, Unknown) and gathers(starred.term, "vararg")


def bind(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    frame: Scope,
    node: ast.AST | None,
) -> None:
    """Bind a call's arguments to a function's parameters in its frame.

    What is not given has its default, and may be another where ``REST`` or ``STARS`` hold what nobody knows.

    Raises:
        Raised: more is given than the function takes.
    """
    spec = function.node.args
    positional = positional_parameters(function.node)
    rest = dict(kwargs) if kwargs else kwargs
    others, more = rest.pop(REST, None), rest.pop(STARS, None)
    names, given, is_all_given = frame.names, len(args), True
    for index, (parameter, default) in enumerate(positional):
        name = parameter.arg
        if index < given:
            names[name] = args[index]
        elif name in rest:
            names[name] = rest.pop(name)
        else:
            is_all_given = False
            found = _default(interp, function, parameter, default, others)
            names[name] = found if more is None else perhaps_other(found, index - given + 1, more)
    if spec.vararg is not None:
        names[spec.vararg.arg] = _stars(args[len(positional) :], more, is_all_given)
    for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if spec.kwonlyargs else ():
        if parameter.arg in rest:
            names[parameter.arg] = rest.pop(parameter.arg)
        else:
            names[parameter.arg] = _default(interp, function, parameter, default, others)
    is_named = any(map(str.isidentifier, rest))  # a key that nobody knows is there under no name
    if (is_named and spec.kwarg is None) or (0 < len(positional) < given and spec.vararg is None):
        raise Raised("TypeError", node)  # an unexpected argument, or one that is given twice
    if spec.kwarg is not None:
        unread = others if isinstance(others, Unknown) else None
        names[spec.kwarg.arg] = DictValue(dict(rest.items()), others is not None, rest=unread)


def _stars(given: list[Value], more: Value | None, is_all: bool) -> Value:
    """What ``*args`` is: of what ``more`` may hold, parameters that were not given take the first."""
    if more is None or given:
        return TupleValue(tuple(given), more is not None)
    return more if is_all else Unknown()


def _default(
    interp: Interpreter,
    function: FunctionValue,
    parameter: ast.arg,
    default: ast.expr | None,
    others: Value | None,
) -> Value:
    if default is None:
        return Unknown(
            Parameter(parameter.arg, function.node, function.module),
            annotation=parameter.annotation,
            scope=function.scope,
        )
    name = parameter.arg
    known = function.defaults.get(name)
    if known is None:
        known = interp.default(function, name, interp.evaluate(default, function.scope))
    perhaps = perhaps_other(known, name, others)
    if isinstance(perhaps, Unknown) and perhaps is not known:
        perhaps.annotation, perhaps.scope = parameter.annotation, function.scope
    return perhaps
