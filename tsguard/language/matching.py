"""Matching a call to a schema, with torch's implicit conversions.

Source: torch/csrc/jit/frontend/schema_matching.cpp.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from tsguard.language import types as t
from tsguard.language.relations import (
    evaluate_variables,
    is_subtype,
    match_variables,
    same,
)
from tsguard.language.releases import Ways, ways
from tsguard.language.schemas import Argument, Operators, Schema, operators
from tsguard.report.records import dataclass


class Operand(Protocol):
    """A value as matching sees it; an ``empty_list`` literal takes any list type."""

    @property
    def type(self) -> t.Type: ...
    @property
    def empty_list(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Conversion:
    """An implicit conversion that torch inserts: a Tensor read as a number, say."""

    argument: str
    given: t.Type
    wanted: t.Type


@dataclass(frozen=True, slots=True)
class Match:
    schema: Schema
    returns: t.Type
    conversions: tuple[Conversion, ...] = ()


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a call does not fit a schema.

    ``reason`` is "type", "missing", "keyword" (no such), "twice" or "extra" (too many).
    ``progress`` counts the arguments that fitted, to find the nearest overload.
    """

    schema: Schema
    reason: str
    argument: str
    wanted: t.Type = t.UNKNOWN
    given: t.Type = t.UNKNOWN
    progress: int = 0


@dataclass(slots=True)
class _Attempt:
    convert: bool
    bools: bool
    bound: dict[str, t.Type] = field(default_factory=dict)
    conversions: list[Conversion] = field(default_factory=list)


def convertible_to_list(type_: t.Type, wanted: t.Type) -> bool:
    """Whether torch turns a value into this list: it is one, or a homogeneous tuple."""
    if not isinstance(wanted, t.ListType):
        return False
    if is_subtype(type_, wanted):
        return True
    return isinstance(type_, t.TupleType) and all(is_subtype(e, wanted.element) for e in type_.elements)


def converted(
    given: t.Type, wanted: t.Type, *, allow: bool = True, empty_list: bool = False, bools: bool = True
) -> t.Type:
    """The type of a value after torch has tried to convert it to ``wanted``.

    ``allow`` lets it convert Tensors and numbers, ``bools`` bools besides.
    """
    if given is t.UNKNOWN:
        return given
    if isinstance(wanted, t.OptionalType) and not isinstance(given, t.OptionalType) and given is not t.NONE:
        return converted(given, wanted.element, allow=allow, empty_list=empty_list, bools=bools)
    if empty_list and isinstance(wanted, t.ListType):
        return wanted
    if isinstance(given, t.TupleType):
        inner = wanted.element if isinstance(wanted, t.OptionalType) else wanted
        if convertible_to_list(given, inner):
            return inner
        if isinstance(wanted, t.TupleType) and not is_subtype(given, wanted):
            return _converted_tuple(given, wanted, allow, bools)
    if not allow or (given is t.BOOL and not bools):
        return given
    return _converted_number(given, wanted)


def _converted_tuple(given: t.TupleType, wanted: t.TupleType, allow: bool, bools: bool) -> t.Type:
    if len(given.elements) != len(wanted.elements):
        return given
    pairs = zip(given.elements, wanted.elements, strict=True)
    return t.TupleType(tuple(converted(g, w, allow=allow, bools=bools) for g, w in pairs))


def _converted_number(given: t.Type, wanted: t.Type) -> t.Type:
    if given is t.TENSOR and wanted in (t.FLOAT, t.COMPLEX, t.INT, t.NUMBER):
        return wanted
    if given is t.NUMBER and wanted in (t.FLOAT, t.COMPLEX, t.INT):
        return wanted
    if given is t.BOOL and wanted in (t.FLOAT, t.INT):
        return wanted
    if given is t.BOOL and wanted is t.NUMBER:
        return t.INT
    if given is t.STR and wanted is t.DEVICE:
        return wanted
    return given


def match(
    schema: Schema,
    args: Sequence[Operand],
    kwargs: Mapping[str, Operand],
    self_value: Operand | None = None,
    *,
    convert: bool = True,
    bools: bool = True,
) -> Match | Mismatch:
    """Match one schema to a call's arguments."""
    attempt = _Attempt(convert, bools)
    used = 0
    used_keywords: set[str] = set()
    for index, argument in enumerate(schema.arguments):
        if argument.name == "self" and self_value is not None:
            given: Operand | None = self_value
            self_value = None
        elif not argument.keyword_only and used < len(args):
            if convert and _takes_rest_as_list(schema, index) and not _is_list(args[used:], argument):
                failed = _match_rest(schema, argument, args[used:], attempt, used)
                if failed is not None:
                    return failed
                used = len(args)
                continue
            given = args[used]
            used += 1
        else:
            keyword = _keyword(argument, kwargs)
            given = kwargs[keyword] if keyword else None
            used_keywords.add(keyword)
        if given is None:
            if argument.has_default:
                continue
            return Mismatch(schema, "missing", argument.name, argument.type, progress=index)
        failed = _match_argument(schema, argument, given, attempt, index)
        if failed is not None:
            return failed
    return _finish(schema, args, kwargs, self_value, used, used_keywords, attempt)


def _finish(
    schema: Schema,
    args: Sequence[Operand],
    kwargs: Mapping[str, Operand],
    unused_self: Operand | None,
    used: int,
    used_keywords: set[str],
    attempt: _Attempt,
) -> Match | Mismatch:
    count = len(schema.arguments)
    if unused_self is not None:
        return Mismatch(schema, "extra", "self", progress=count)
    if used < len(args) and not schema.vararg:
        return Mismatch(schema, "extra", str(len(args)), progress=used)
    for keyword in kwargs:
        if keyword not in used_keywords and not schema.kwarg:
            known = any(a.name == keyword for a in schema.arguments)
            return Mismatch(schema, "twice" if known else "keyword", keyword, progress=count)
    returns = evaluate_variables(schema.returns, attempt.bound)
    return Match(schema, t.UNKNOWN if returns is None else returns, tuple(attempt.conversions))


def _keyword(argument: Argument, kwargs: Mapping[str, Operand]) -> str:
    if argument.name in kwargs:
        return argument.name
    return "input" if argument.name == "self" and "input" in kwargs else ""


def _takes_rest_as_list(schema: Schema, index: int) -> bool:
    """Whether positional arguments from here on may be gathered: ``zeros(2, 3)``."""
    argument = schema.arguments[index]
    last = index + 1 == len(schema.arguments) or schema.arguments[index + 1].keyword_only
    return (
        last
        and isinstance(argument.type, t.ListType)
        and argument.size is None
        and not isinstance(argument.type.element, t.VarType)
    )


def _is_list(rest: Sequence[Operand], argument: Argument) -> bool:
    """Whether the first of the arguments is itself the list; of several, the first is an element."""
    first = rest[0].type
    if first is t.UNKNOWN:
        return len(rest) == 1
    return isinstance(first, t.ListType) or convertible_to_list(first, argument.type)


def _match_rest(
    schema: Schema, argument: Argument, rest: Sequence[Operand], attempt: _Attempt, progress: int
) -> Mismatch | None:
    assert isinstance(argument.type, t.ListType)
    element = Argument(argument.name, argument.type.element)
    for given in rest:
        failed = _match_argument(schema, element, given, attempt, progress)
        if failed is not None:
            return failed
    return None


def _match_argument(
    schema: Schema, argument: Argument, given: Operand, attempt: _Attempt, progress: int
) -> Mismatch | None:
    type_ = given.type
    wanted = argument.type.element if isinstance(argument.type, t.OptionalType) else argument.type
    if argument.size and type_ in (t.FLOAT, t.INT) and wanted == t.ListType(type_):
        type_ = wanted
    expected = concrete = argument.type
    if t.has_variables(argument.type):
        expected = evaluate_variables(argument.type, attempt.bound) or argument.type
        fits = match_variables(argument.type, type_, attempt.bound)
        bound = evaluate_variables(argument.type, attempt.bound) if fits else None
        if bound is None:
            is_open = fits and t.mentions_unknown(type_)
            return None if is_open else _of_type(schema, argument, expected, given, progress)
        concrete = bound
    result = converted(
        type_, concrete, allow=attempt.convert, empty_list=given.empty_list, bools=attempt.bools
    )
    if not is_subtype(result, concrete):
        return _of_type(schema, argument, expected, given, progress)
    if result != type_ and attempt.convert and not isinstance(type_, (t.TupleType, t.ListType)):
        attempt.conversions.append(Conversion(argument.name, type_, concrete))
    return None


def _of_type(schema: Schema, argument: Argument, expected: t.Type, given: Operand, progress: int) -> Mismatch:
    return Mismatch(schema, "type", argument.name, expected, given.type, progress)


def match_overloads(
    schemas: Sequence[Schema],
    args: Sequence[Operand],
    kwargs: Mapping[str, Operand],
    self_value: Operand | None = None,
    *,
    bools: bool,
) -> Match | Mismatch:
    """Match a call to the first overload that fits, first without conversions, then with.

    Where an argument's type is unknown, every overload that could fit counts: the
    result is known only if they agree.
    """
    if len(schemas) == 1:
        result = match(schemas[0], args, kwargs, self_value, bools=bools)
        return result if isinstance(result, Match) else _nearest([result], kwargs)
    unknown = any(
        t.mentions_unknown(o.type) for o in [*args, *kwargs.values(), *([self_value] if self_value else [])]
    )
    mismatches: list[Mismatch] = []
    for convert in (False, True):
        mismatches = []
        matches = []
        for schema in schemas:
            result = match(schema, args, kwargs, self_value, convert=convert, bools=bools)
            if isinstance(result, Mismatch):
                mismatches.append(result)
            elif not unknown:
                return result
            else:
                matches.append(result)
        if matches and (not convert or not unknown):
            return _agreed(matches)
        if matches:
            return _agreed(matches)
    return _nearest(mismatches, kwargs)


def _agreed(matches: list[Match]) -> Match:
    first = matches[0]
    if all(same(m.returns, first.returns) and not t.mentions_unknown(m.returns) for m in matches):
        return Match(first.schema, first.returns)
    return Match(first.schema, t.UNKNOWN)


def _nearest(mismatches: list[Mismatch], keywords: Collection[str]) -> Mismatch:
    """The overload that the call was most likely meant for; a keyword that none has is the cause."""
    plain = [m for m in mismatches if not m.schema.is_out_variant] or mismatches
    names = [{argument.name for argument in m.schema.arguments} for m in plain if not m.schema.vararg]
    for keyword in keywords:
        if names and not any(keyword in known or ("self" in known and keyword == "input") for known in names):
            meant = max(
                plain,
                key=lambda m: (sum(a.name in keywords for a in m.schema.arguments), len(m.schema.arguments)),
            )
            return Mismatch(meant.schema, "keyword", keyword)
    return max(plain, key=_likelihood)


def _likelihood(found: Mismatch) -> tuple[bool, int, bool, bool]:
    wanted = found.wanted.element if isinstance(found.wanted, t.OptionalType) else found.wanted
    alike = isinstance(wanted, t.ListType) == isinstance(found.given, (t.ListType, t.TupleType))
    return (found.reason != "keyword", found.progress, found.reason == "type", alike)


class Matcher:
    """Matches calls of one release's operators; equal calls are matched once."""

    def __init__(self, operators: Operators, ways: Ways) -> None:
        self.operators = operators
        self.ways = ways
        self._done: dict[tuple[object, ...], Match | Mismatch] = {}

    def match(
        self,
        name: str,
        args: Sequence[Operand],
        kwargs: Mapping[str, Operand],
        self_value: Operand | None = None,
    ) -> Match | Mismatch:
        """Match a call of ``aten::add``, which must have overloads."""
        key = (name, _key(self_value), tuple(map(_key, args)), tuple((k, _key(v)) for k, v in kwargs.items()))
        result = self._done.get(key)
        if result is None:
            schemas = self.operators.overloads(name)
            result = match_overloads(schemas, args, kwargs, self_value, bools=self.ways.bools_are_numbers)
            operands = (self_value, *args, *kwargs.values())
            # A class goes with the program that has it: it would be kept for good here, and all that it refers to.
            if not any(operand is not None and _has_class(operand.type) for operand in operands):
                self._done[key] = result
        return result


def _has_class(type_: t.Type) -> bool:
    return isinstance(type_, (t.ClassType, t.EnumType, t.ModuleType)) or any(map(_has_class, t.parts(type_)))


def _key(operand: Operand | None) -> tuple[t.Type, bool] | None:
    return None if operand is None else (operand.type, operand.empty_list)


@functools.cache
def matcher(release: str) -> Matcher:
    """The matcher of a torch release."""
    return Matcher(operators(release), ways(release))
