"""Calling what has schemas: one, or several overloads."""

from __future__ import annotations

import ast

from tsguard.analysis.script import differences, none_defaults, notes, results, tensor_numbers, whole_numbers
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.mismatches import mismatch
from tsguard.analysis.script.sugared import Args, Kwargs, Simple, Sugared, SugaredUnknown
from tsguard.language.matching import Match, Mismatch, match_overloads
from tsguard.language.schemas import Schema


def call_schemas(
    fc: FunctionCompiler, schemas: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST, name: str
) -> Sugared:
    """Call a function by its schemas: one, or several overloads."""
    if not schemas:
        return SugaredUnknown()
    result = matched(fc, schemas, args, kwargs, node, name)
    tensor_numbers.passed(fc, result, args, kwargs, node)
    differences.passed(fc, [*args, *kwargs.values()])
    return Simple(results.result(fc, result.schema, result.returns, node))


def matched(
    fc: FunctionCompiler, schemas: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST, name: str
) -> Match:
    """The schema that takes the arguments of a call.

    Raises:
        Refusal: there is none.
    """
    result = match_overloads(schemas, args, kwargs, bools=fc.compiler.ways.bools_are_numbers)
    if isinstance(result, Mismatch):
        raise mismatch(fc, result, args, kwargs, node, name, python=True)
    whole_numbers.passed(fc, schemas, args, kwargs, node, name)
    none_defaults.passed(fc, result.schema, args, kwargs, node)
    none_defaults.left_out(fc, result.schema, args, kwargs, node, name)
    notes.match(fc, result, args, kwargs, node, name)
    return result
