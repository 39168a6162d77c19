"""Hooks of modules: what they are called with."""

from __future__ import annotations

from tsguard.analysis.values import BoundMethod, FunctionValue, TupleValue, Value, by_name
from tsguard.source.functions import positional_parameters


def arguments(hook: Value, args: list[Value], kwargs: dict[str, Value], *result: Value) -> list[Value]:
    """What a hook gets after the module: a hook that wants one more is registered ``with_kwargs=True``."""
    given: list[Value] = [TupleValue(tuple(args))]
    if takes_keywords(hook, 2 + len(result)):
        given.append(by_name(dict(kwargs)))
    return [*given, *result]


def takes_keywords(hook: Value, count: int) -> bool:
    """Whether a hook has one required parameter more than a hook without keywords is given."""
    is_bound = isinstance(hook, BoundMethod)
    function = hook.function if isinstance(hook, BoundMethod) else hook
    if not isinstance(function, FunctionValue):
        return False
    required = [parameter for parameter, default in positional_parameters(function.node) if default is None]
    return len(required) - is_bound == count + 1
