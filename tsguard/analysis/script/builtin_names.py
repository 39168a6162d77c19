"""The names that the compiler itself gives a meaning to.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (globals of ``getSugaredVar``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    Builtin,
    Cast,
    Magic,
    Print,
    PythonModule,
    Special,
    Sugared,
    SugaredException,
    SugaredUnknown,
)
from tsguard.language import types as t
from tsguard.language.tables import Tables


def _magic(name: str, symbol: str) -> Magic:
    return Magic(name, Builtin(symbol))


GLOBALS: dict[str, Sugared] = {
    "print": Print(),
    "tuple": Special("tuple"),
    "float": Cast(t.FLOAT, "aten::Float", "__float__"),
    "int": Cast(t.INT, "aten::Int", "__int__"),
    "bool": Cast(t.BOOL, "aten::Bool", "__bool__"),
    "str": Cast(t.STR, "aten::str", "__str__"),
    "getattr": Special("getattr"),
    "hasattr": Special("hasattr"),
    "isinstance": Special("isinstance"),
    "len": _magic("__len__", "aten::len"),
    "hex": _magic("__hex__", "aten::hex"),
    "oct": _magic("__oct__", "aten::oct"),
    "round": _magic("__round__", "aten::round"),
    "hash": Builtin("aten::hash"),
    "id": Builtin("prim::id"),
    "min": Builtin("prim::min"),
    "max": Builtin("prim::max"),
    "abs": Builtin("prim::abs"),
    "all": Builtin("aten::all"),
    "any": Builtin("aten::any"),
    "divmod": Builtin("aten::divmod"),
    "sum": Builtin("aten::sum"),
    "list": Special("list"),
    "dict": Special("dict"),
    "ord": Builtin("aten::ord"),
    "chr": Builtin("aten::chr"),
    "bin": Builtin("aten::bin"),
    "pow": Builtin("aten::pow"),
    "complex": _magic("__complex__", "aten::Complex"),
    "range": Special("range"),
    "zip": Special("zip"),
    "enumerate": Special("enumerate"),
    "rangelist": Builtin("prim::rangelist"),
    "sorted": Builtin("aten::sorted"),
    "AssertionError": SugaredException("AssertionError"),
}


def operator_by_name(tables: Tables, value: py.External, node: ast.AST) -> Sugared:
    """``torch.ops``, a namespace in it, or an operator: those of other libraries are not known.

    Raises:
        Refusal: torch has no operator of this name.
    """
    _, _, namespace, *operator = f"{value.name}.".split(".")
    symbol = f"{namespace}::{operator[0]}" if operator else ""
    if symbol in tables.operators:
        return Builtin(symbol)
    if namespace in ("aten", "prim") and operator[0]:
        why = "torch has no operator of this name"
        raise Refusal("unscriptable-function", node, name=text_of(node), why=why)
    return SugaredUnknown() if operator and operator[0] else PythonModule(value)
