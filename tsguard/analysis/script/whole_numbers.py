"""Constructor arguments of unknown type where TorchScript tells floats, whole numbers and tensors apart, which eager does not.

Source: torch/csrc/jit/frontend/schema_matching.cpp (``tryConvertToType`` makes no float of an int).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.mismatches import mismatch
from tsguard.analysis.script.sugared import Args, Kwargs, Value
from tsguard.analysis.terms import (
    Attribute,
    IsInstance,
    Item,
    Literal,
    Named,
    Operation,
    Parameter,
    Question,
    Term,
    is_constant,
)
from tsguard.language import types as t
from tsguard.language.matching import Mismatch, match_overloads
from tsguard.language.schemas import Schema
from tsguard.report.records import replace

_FLOATS = t.ListType(t.FLOAT)
_INT, _FLOAT = Named("builtins.int", "int"), Named("builtins.float", "float")
_TENSOR = Named("torch.Tensor", "Tensor")


def passed(
    fc: FunctionCompiler,
    schemas: Sequence[Schema],
    args: Args,
    kwargs: Kwargs,
    node: ast.AST,
    name: str,
) -> None:
    """A call that takes what nothing tells the type of.

    Raises:
        Refusal: it takes a float, and in this world it is given an int.
    """
    if not any(t.mentions_unknown(value.type) for value in (*args, *kwargs.values())):
        return
    keyed: list[tuple[int | str, Value]] = [*enumerate(args), *kwargs.items()]
    for key, value in keyed:
        wanted = {_wanted(schema, key) for schema in schemas}
        if t.mentions_unknown(value.type) and wanted & {t.FLOAT, _FLOATS}:
            is_listed = value.type is t.UNKNOWN and t.FLOAT not in wanted
            whole = replace(value, type=t.ListType(t.INT) if is_listed else _whole(value.type))
            asked = _asked(fc, value, is_listed=is_listed)
            given = [whole if one is value else one for one in args]
            named = {name: whole if one is value else one for name, one in kwargs.items()}
            refused = match_overloads(schemas, given, named, bools=fc.compiler.ways.bools_are_numbers)
            if asked and isinstance(refused, Mismatch) and _is_so(fc, asked):
                raise mismatch(fc, refused, given, named, node, name, python=True)


def joined(fc: FunctionCompiler, one: Value, other: Value) -> tuple[Value, Value]:
    """Two values of which a variable or an expression is either: in this world a number may be of the other type."""
    return _beside(fc, one, other.type), _beside(fc, other, one.type)


def kept(fc: FunctionCompiler, value: Value, outer: t.Type) -> Value:
    """A value that a variable of a type gets: in this world it may be a number where that is a tensor."""
    return _beside(fc, value, outer) if outer is t.TENSOR else value


def calculated(result: Value, left: Value, right: Value) -> Value:
    """What an operator makes of an argument and a number: a number, or a tensor, as the argument is."""
    read = (one for one in (left, right) if isinstance(one.node, (ast.Attribute, ast.Name)))
    given = next((one for one in read if _given(one) is not None), None)
    is_number = {left.type, right.type} in ({t.UNKNOWN, t.INT}, {t.UNKNOWN, t.FLOAT})
    if result.type is not t.UNKNOWN or given is None or not is_number:
        return result
    return replace(result, source=given.source)


def _beside(fc: FunctionCompiler, value: Value, type_: t.Type) -> Value:
    term = _given(value) if type_ in (t.INT, t.FLOAT, t.TENSOR) else None
    if term is None:
        return value
    if type_ is t.TENSOR:
        fc.compiler.reporter.mark_target_specific()
        is_tensor = fc.compiler.interp.world.decide(IsInstance(term, _TENSOR), True, guess=True)
        return value if is_tensor else replace(value, type=t.NUMBER)
    kind, read = (_FLOAT, t.FLOAT) if type_ is t.INT else (_INT, t.INT)
    return replace(value, type=read) if _is_so(fc, [IsInstance(term, kind)]) else value


def _wanted(schema: Schema, key: int | str) -> t.Type:
    """The type of an argument, but for None."""
    arguments = schema.arguments
    chosen = arguments[key : key + 1] if isinstance(key, int) else [a for a in arguments if a.name == key]
    wanted = chosen[0].type if chosen else t.ANY
    return wanted.element if isinstance(wanted, t.OptionalType) else wanted


def _whole(type_: t.Type) -> t.Type:
    """The same, of whole numbers where nothing tells what it is of."""
    if isinstance(type_, t.TupleType):
        return t.TupleType(tuple(map(_whole, type_.elements)))
    if isinstance(type_, t.ListType):
        return t.ListType(_whole(type_.element))
    return t.INT if type_ is t.UNKNOWN else type_


def _is_so(fc: FunctionCompiler, asked: list[Question]) -> bool:
    """Whether one of some questions has in this world the answer that nothing speaks for."""
    fc.compiler.reporter.mark_target_specific()
    return any(fc.compiler.interp.world.decide(question, False, guess=True) for question in asked)


def _asked(fc: FunctionCompiler, value: Value, *, is_listed: bool) -> list[Question]:
    """Whether constructor arguments that a value is, or is written of, are whole numbers, or hold such."""
    parts = [value]
    if value.type is not t.UNKNOWN:
        written = value.node.elts if isinstance(value.node, (ast.List, ast.Tuple)) else []
        parts = [fc.attempt(part) for part in written if isinstance(part, (ast.Attribute, ast.Name))]
    given = [term for term in map(_parameter, parts) if term is not None]
    return [IsInstance(Item(term, Literal.of(0)) if is_listed else term, _INT) for term in given]


def _parameter(value: Value) -> Parameter | None:
    """The argument of a constructor that a value of unknown type is, as it was given."""
    term = _given(value)
    return term if isinstance(term, Parameter) else None


def _given(value: Value) -> Term | None:
    """What a value of unknown type is, where that was given to a constructor: an argument, or an attribute of one."""
    source = value.source if value.type is t.UNKNOWN else None
    if source is None or source.unread is not None or source.hint:
        return None
    return source.term if _is_of_arguments(source.term) else None


def _is_of_arguments(term: Term | None) -> bool:
    """Whether a term is an argument, an attribute of one, or what such come to with numbers."""
    if isinstance(term, Operation):
        parts = [part for part in (term.left, term.right) if part is not None and not is_constant(part)]
        return bool(parts) and all(map(_is_of_arguments, parts))
    root = term
    while isinstance(root, Attribute):
        root = root.owner
    return isinstance(root, Parameter)
