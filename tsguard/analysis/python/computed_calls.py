"""Calls that are computed on constants: what builtins and functions of math give."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from tsguard.analysis.python import operations, sizes, sorting
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.folding import folded, folded_default
from tsguard.analysis.python.iteration import consume, iterate
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    Const,
    DictValue,
    ObjectValue,
    TensorValue,
    Unknown,
    Value,
    constant,
    plain,
)

Args = list[Value]


Kwargs = dict[str, Value]


Handler = Callable[["Interpreter", Args, Kwargs, "ast.AST | None"], Value]


def computed(name: str, function: Callable[..., Any], hint: str) -> Handler:
    """A builtin that is computed on constants and named on unknowns."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        settled = [plain(interp.settled(a)) for a in args]
        named = {key: plain(interp.settled(a)) for key, a in kwargs.items()}
        given, keywords = [known(a) for a in settled], {key: known(a) for key, a in named.items()}
        if not any(isinstance(a, Value) for a in (*given, *keywords.values())):
            return folded(interp, partial(function, **keywords), given, node)
        if any(isinstance(a, TensorValue) for a in settled):
            return TensorValue() if hint == "" else Unknown(placed(node), hint)
        defaults = [operations.default_of(a) for a in settled]
        default = None
        if defaults and not named and all(isinstance(d, Const) for d in defaults):
            default = folded_default(function, [constant(d) for d in defaults if d is not None])
        result_hint = hint or next((operations.hint_of(a) for a in settled if operations.hint_of(a)), "")
        return Unknown(operations.called(name, settled, node), result_hint, default)

    return run


def extreme(name: str, function: Callable[..., Any]) -> Handler:
    of_several = computed(name, function, "")

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        if len(args) > 1 and not kwargs and not any(isinstance(arg, ObjectValue) for arg in args):
            return of_several(interp, args, kwargs, node)
        items, is_open = consume(interp, args[0]) if len(args) == 1 else (args, False)
        if is_open:
            return Unknown(placed(node))
        found = sorting.extreme(interp, name, items, kwargs)
        if found is None and not items:
            raise Raised("ValueError", node)
        return Unknown(placed(node)) if found is None else plain(found)

    return run


_MATH_HINTS = {
    "floor": "int",
    "ceil": "int",
    "gcd": "int",
    "factorial": "int",
    "isqrt": "int",
    "comb": "int",
    "prod": "",
}


_GROWING = frozenset({"factorial", "comb", "perm"})


def math_call(interp: Interpreter, name: str, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """A function of the math module."""
    function = getattr(math, name, None)
    if function is None:
        return Unknown()
    if name in _GROWING:
        function = sizes.combined(function)
    if name == "prod" and args:
        items, is_open = iterate(interp, args[0])
        if is_open or not all(isinstance(i, Const) for i in items):
            return Unknown(placed(node), "int")
        return folded(interp, math.prod, [[constant(i) for i in items]], node)
    return computed(f"math.{name}", function, _MATH_HINTS.get(name, "float"))(interp, args, kwargs, node)


def always(value: Value) -> Handler:
    """A call that gives the same value whatever it is given."""
    return lambda interp, args, kwargs, node: value


def open_table(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """A dict of which nothing is known."""
    return DictValue({}, open=True)
