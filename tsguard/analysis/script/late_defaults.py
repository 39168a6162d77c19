"""Defaults that are not known yet: methods that are compiled together do not know each other's.

torch compiles what it finds first of a module (forward, exported and overloaded methods, properties) or
of a class (all its methods) in one go, and gives the schemas their defaults when all are done.
Source: torch/csrc/jit/python/script_init.cpp (``_create_methods``, ``_jit_script_class_compile``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from tsguard.analysis import values as py
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.schema_calls import call_schemas
from tsguard.analysis.script.sugared import Args, Kwargs, Simple, Sugared, SugaredModule
from tsguard.language import types as t
from tsguard.language.schemas import Argument, Schema
from tsguard.report.records import replace


@contextmanager
def together(
    compiler: Compiler, owner: py.ModuleValue | py.ClassValue, names: frozenset[str]
) -> Iterator[None]:
    """Compile methods of a module or class together, inside."""
    before = compiler.unfinished.get(id(owner), frozenset())
    compiler.unfinished[id(owner)] = before | names
    try:
        yield
    finally:
        compiler.unfinished[id(owner)] = before


def call(
    fc: FunctionCompiler,
    owner: Sugared,
    method: str,
    schemas: tuple[Schema, ...],
    args: Args,
    kwargs: Kwargs,
    node: ast.AST,
    label: str | None = None,
) -> Sugared:
    """Call a method of a module or object, which messages call by its ``label``.

    Raises:
        Refusal: it cannot be called so, or not yet.
    """
    if _is_unfinished(fc.compiler, owner, method):
        schemas = _without_defaults(schemas, args, kwargs, node, label or method)
    return call_schemas(fc, schemas, args, kwargs, node, label or method)


def _is_unfinished(compiler: Compiler, owner: Sugared, method: str) -> bool:
    if isinstance(owner, SugaredModule):
        key: object = compiler.model(owner.instance)
    elif isinstance(owner, Simple) and isinstance(owner.value.type, t.ClassType):
        key = owner.value.type.key
    else:
        return False
    return method in compiler.unfinished.get(id(key), ())


def _without_defaults(
    schemas: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST, name: str
) -> tuple[Schema, ...]:
    for argument in schemas[0].arguments[len(args) :] if len(schemas) == 1 else ():
        if argument.has_default and argument.name not in kwargs:
            facts = {"function": name, "argument": argument.name, "default": _shown(argument)}
            raise Refusal("argument-count/together", node, **facts)
    return tuple(map(_without, schemas))


def _shown(argument: Argument) -> str:
    """A default as Python writes it; "" for one that is no literal."""
    return "" if argument.default is ... else repr(argument.default)


def _without(schema: Schema) -> Schema:
    arguments = tuple(replace(a, has_default=False) if a.has_default else a for a in schema.arguments)
    return replace(schema, arguments=arguments)
