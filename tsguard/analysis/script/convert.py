"""Conversion of sugared values to typed values, where torch needs one.

Source: torch/csrc/jit/frontend/sugared_value.h (``asValue``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.script import python_objects
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    ABSENT,
    Function,
    Method,
    PythonModule,
    Simple,
    Sugared,
    SugaredGlobal,
    SugaredModule,
    SugaredNone,
    SugaredPython,
    SugaredUnknown,
    Tuple,
    Value,
)
from tsguard.language import types as t


def as_value(fc: FunctionCompiler, value: Sugared, node: ast.AST) -> Value:
    """The typed value that a sugared one is.

    Raises:
        Refusal: it is none: a function, a class, a Python object.
    """
    if isinstance(value, Simple):
        return value.value
    if isinstance(value, SugaredModule):
        return Value(value.interface or fc.compiler.module_type(value.instance), node=node)
    if isinstance(value, Tuple):
        parts = [as_value(fc, item, node) for item in value.items]
        return Value(
            t.UNKNOWN if value.open else t.TupleType(tuple(part.type for part in parts)), ABSENT, node=node
        )
    if isinstance(value, SugaredGlobal):
        raise Refusal("global-value", node, name=value.name, kind="a Python value")
    if isinstance(value, SugaredUnknown):
        return Value(t.UNKNOWN, node=node, source=value.source)
    if isinstance(value, SugaredNone):
        raise Refusal("python-object/printed", node, value=text_of(node))
    if isinstance(value, SugaredPython):
        return _python_value(fc, value, node)
    if isinstance(value, Method) and isinstance(value.receiver, SugaredModule) and value.function is not None:
        # Torch compiles methods and functions where they are read, and finds out afterwards that they are no values.
        fc.compiler.method_schemas(fc, value.receiver, value.name, value.function, node)
    if isinstance(value, Function):
        fc.compiler.function_schemas(fc, value.function, node)
    if isinstance(value, PythonModule):
        raise Refusal("python-object", node, value=text_of(node), kind="a Python module")
    raise Refusal("python-object", node, value=text_of(node), kind=with_article(value.kind))


def _python_value(fc: FunctionCompiler, value: SugaredPython, node: ast.AST) -> Value:
    if isinstance(value.value, py.Unknown):
        return Value(t.UNKNOWN, node=node, source=value.value)
    raise python_objects.refusal(fc.compiler, value, node)
