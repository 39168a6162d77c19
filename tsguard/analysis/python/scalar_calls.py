"""Python's builtins that make a number or a text of what they are given."""

from __future__ import annotations

import ast

from tsguard.analysis.python import operations, sizes, texts
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs, computed
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    FALSE,
    NONE,
    Const,
    DictValue,
    ListValue,
    ObjectValue,
    SetValue,
    TupleValue,
    Unknown,
    Value,
    plain,
)


def _str(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    shown = [texts.shown(interp, interp.settled(a)) for a in args]
    return computed("str", str, "str")(interp, shown, kwargs, node)


def _repr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    value = interp.settled(args[0]) if args else NONE
    if not isinstance(known(value), Value):
        return computed("repr", repr, "str")(interp, args, kwargs, node)
    return Unknown(operations.called("repr", [value], node), "str")


def _bool(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    value = plain(interp.settled(args[0])) if args else FALSE
    if isinstance(value, (ListValue, TupleValue, DictValue, SetValue, ObjectValue)):
        return Const(interp.truth(value, node))
    return computed("bool", bool, "bool")(interp, args, kwargs, node)


def _round(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    to_digits = len(args) > 1 or bool(kwargs)
    return computed("round", round, "float" if to_digits else "int")(interp, args, kwargs, node)


HANDLERS: dict[str, Handler] = {
    "builtins.bool": _bool,
    "builtins.complex": computed("complex", complex, "complex"),
    "builtins.chr": computed("chr", chr, "str"),
    "builtins.ord": computed("ord", ord, "int"),
    "builtins.bin": computed("bin", bin, "str"),
    "builtins.hex": computed("hex", hex, "str"),
    "builtins.oct": computed("oct", oct, "str"),
    "builtins.format": computed("format", sizes.formatted, "str"),
    "builtins.repr": _repr,
    "builtins.str.maketrans": computed("maketrans", str.maketrans, "dict"),
    "builtins.int": computed("int", int, "int"),
    "builtins.float": computed("float", float, "float"),
    "builtins.str": _str,
    "builtins.abs": computed("abs", abs, ""),
    "builtins.round": _round,
    "builtins.pow": computed("pow", sizes.power, ""),
    "builtins.divmod": computed("divmod", divmod, ""),
}
