"""Iteration: loops over values, unrolled loops, and unpacking.

Source: torch/csrc/jit/frontend/sugared_value.cpp (``iter``, ``asTuple``, IterableTree).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.script import differences, python_objects
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.submodules import Submodules
from tsguard.analysis.script.sugared import (
    Iterables,
    ModuleCall,
    Simple,
    Sugared,
    SugaredEnum,
    SugaredModule,
    SugaredPython,
    SugaredRange,
    SugaredUnknown,
    Tuple,
    Value,
    simple,
    source_of,
)
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.language.rule_names import RuleName


def iterate(fc: FunctionCompiler, value: Sugared, node: ast.AST) -> Sugared:
    """What a loop over a value runs over.

    Raises:
        Refusal: it cannot be looped over.
    """
    if isinstance(value, Simple):
        return _iterate_value(value.value, node)
    if isinstance(value, SugaredModule):
        return _iterate_module(fc, value, node)
    if isinstance(value, (Tuple, Iterables, SugaredRange, SugaredUnknown)):
        return value
    if isinstance(value, SugaredEnum):
        return simple(t.ListType(value.type))
    if isinstance(value, ModuleCall):
        raise Refusal("not-iterable", node, value=text_of(node), type="a method")
    if isinstance(value, SugaredPython):
        if isinstance(value.value, py.Unknown):
            return SugaredUnknown()
        raise python_objects.refusal(fc.compiler, value, node)
    raise Refusal("not-iterable", node, value=text_of(node), type=with_article(value.kind))


def _iterate_value(value: Value, node: ast.AST) -> Sugared:
    type_ = value.type
    if type_ is t.UNKNOWN:
        return SugaredUnknown(value.source)
    if isinstance(type_, t.ListType) or type_ is t.STR or type_ is t.TENSOR:
        return Simple(value)
    if isinstance(type_, t.DictType):
        return Simple(differences.item(value, t.ListType(type_.key)))
    if isinstance(type_, t.TupleType):
        return Tuple([Simple(part) for part in differences.items(value)])
    if isinstance(type_, (t.OptionalType, t.UnionType)):
        raise not_refined(node, text_of(node), type_)
    if type_ in (t.ANY_LIST, t.ANY_TUPLE):
        raise Refusal("not-iterable/bare", node, value=text_of(node), type=type_)
    if type_ is t.NONE:
        raise Refusal("not-iterable/none", node, value=text_of(node))
    raise Refusal("not-iterable", node, value=text_of(node), type=type_)


def _iterate_module(fc: FunctionCompiler, value: SugaredModule, node: ast.AST) -> Sugared:
    kind = fc.compiler.container_kind(value.instance)
    if kind == "dict":
        return Submodules(fc.compiler, value).keys()
    if kind == "list":
        return Submodules(fc.compiler, value).values()
    if kind == "parameters":
        instance = value.instance
        return Tuple([simple(t.TENSOR) for _ in instance.parameters], instance.open)
    raise Refusal("module-not-iterable", node, value=text_of(node), type=fc.compiler.name_of(value.instance))


def unrolled_items(fc: FunctionCompiler, iterable: Sugared, node: ast.AST) -> list[Sugared] | None:
    """The items of a loop that torch unrolls, or None for a real loop."""
    if isinstance(iterable, Tuple):
        return iterable.items
    if not isinstance(iterable, Iterables):
        return None
    lengths = [_static_length(fc, child, node) for child in iterable.children]
    if all(length is None for length in lengths):
        return None
    counted = [length for length in lengths if length is not None]
    for child, length in zip(iterable.children, lengths, strict=True):
        if length is None and not _is_unknown(child):
            raise Refusal("not-iterable/unequal", node, value=text_of(node), **_two_kinds(node, lengths))
    return [_row(fc, iterable, index, node) for index in range(min(counted))]


def _two_kinds(node: ast.AST, lengths: list[int | None]) -> dict[str, str]:
    """What is unrolled and what is a list, of the arguments of ``zip``."""
    args = node.args if isinstance(node, ast.Call) and len(node.args) == len(lengths) else None
    named = {length is None: text_of(arg) for arg, length in zip(args or (), lengths, strict=bool(args))}
    return {"unrolled": named.get(False, "the container"), "listed": named.get(True, "the list")}


def _is_unknown(value: Sugared) -> bool:
    return isinstance(value, SugaredUnknown) or (isinstance(value, Simple) and value.value.type is t.UNKNOWN)


def _static_length(fc: FunctionCompiler, child: Sugared, node: ast.AST) -> int | None:
    items = unrolled_items(fc, child, node)
    if items is not None:
        return len(items)
    return child.static_length if isinstance(child, SugaredRange) else None


def _row(fc: FunctionCompiler, iterable: Iterables, index: int, node: ast.AST) -> Sugared:
    row: list[Sugared] = []
    for child in iterable.children:
        items = unrolled_items(fc, child, node)
        if items is not None:
            row.append(items[index])
        elif isinstance(child, SugaredRange):
            row.append(simple(t.INT))
        else:
            row.append(element(fc, child, node))
    return Tuple(row)


def element(fc: FunctionCompiler, iterable: Sugared, node: ast.AST) -> Sugared:
    """The item of a real loop."""
    if isinstance(iterable, SugaredRange):
        return simple(t.INT)
    if isinstance(iterable, Iterables):
        return Tuple([element(fc, child, node) for child in iterable.children])
    if isinstance(iterable, Simple):
        type_ = iterable.value.type
        if isinstance(type_, t.ListType):
            return Simple(differences.item(iterable.value, type_.element))
        return simple(t.UNKNOWN if type_ is t.UNKNOWN else type_)
    return SugaredUnknown(source_of(iterable))


def as_tuple(
    value: Sugared, node: ast.AST, wanted: int | None, rule: RuleName = "starred-list"
) -> list[Sugared] | None:
    """The parts that a value unpacks into; None where the source does not tell.

    ``wanted`` is how many an assignment takes, None where the value itself must tell;
    ``rule`` is the one broken where it cannot.

    Raises:
        Refusal: it does not unpack.
    """
    if isinstance(value, Tuple):
        return None if value.open else value.items
    if isinstance(value, SugaredUnknown):
        return None
    if isinstance(value, SugaredModule):
        raise Refusal("module-as-value/unpacked", node, value=text_of(node))
    if isinstance(value, Iterables):
        raise Refusal(rule, node, value=text_of(node), type="an iterator")
    if not isinstance(value, Simple):
        rule = rule if rule == "starred-list/tuple" else "not-iterable/tuple"
        raise Refusal(rule, node, value=text_of(node), type=with_article(value.kind))
    return _value_parts(value.value, node, wanted, rule)


def _value_parts(value: Value, node: ast.AST, wanted: int | None, rule: RuleName) -> list[Sugared] | None:
    type_ = value.type
    if type_ is t.UNKNOWN:
        return None
    if isinstance(type_, t.TupleType):
        return [Simple(part) for part in differences.items(value)]
    if isinstance(type_, t.ListType):
        if wanted is None:
            raise Refusal(rule, node, value=text_of(node), type=type_)
        return [Simple(differences.item(value, type_.element)) for _ in range(wanted)]
    if value.opaque and wanted is not None:
        return [simple(t.TENSOR) for _ in range(wanted)]
    if type_ is t.TENSOR or is_subtype(type_, t.TENSOR):
        if value.parameter:
            types = ", ".join(["Tensor"] * wanted) if wanted else "Tensor, Tensor"
            facts = {"parameter": value.parameter, "value": text_of(node), "types": types}
            raise Refusal("untyped-parameter/unpacked", node, use="a Tensor does not unpack", **facts)
        if rule == "starred-list/tuple":
            raise Refusal(rule, node, value=text_of(node), type="a Tensor")
        raise Refusal("unpacking-count/tensor", node, value=text_of(node))
    if isinstance(type_, (t.OptionalType, t.UnionType)):
        raise not_refined(node, text_of(node), type_)
    if type_ is t.NONE:
        raise Refusal("not-iterable/none", node, value=text_of(node))
    rule = "not-iterable/bare" if type_ in (t.ANY_LIST, t.ANY_TUPLE) else "not-iterable/tuple"
    raise Refusal(rule, node, value=text_of(node), type=type_)
