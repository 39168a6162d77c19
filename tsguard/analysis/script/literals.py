"""List and dict literals and comprehensions, with their expected type.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitListLiteral``, ``emitDictLiteral``,
``emitListComprehension``, ``emitDictComprehension``).
"""

from __future__ import annotations

import ast
from itertools import pairwise

from tsguard.analysis.events import text_of
from tsguard.analysis.script import arguments, differences, iteration
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.statements import emit_loop
from tsguard.analysis.script.sugared import Value, source_of
from tsguard.language import types as t
from tsguard.language.relations import is_subtype, unify, unify_all


def elements(fc: FunctionCompiler, nodes: list[ast.expr]) -> tuple[list[Value], bool]:
    """The values of a literal's elements; False where a star's length is unknown."""
    values: list[Value] = []
    exact = True
    for node in nodes:
        if not isinstance(node, ast.Starred):
            values.append(fc.attempt(node))
            continue
        value = fc.sugared(node.value)
        parts = iteration.as_tuple(value, node.value, None)
        if parts is None:
            arguments.rests_on(fc, source_of(value), node.value)
            exact = False
        else:
            values.extend(as_value(fc, part, node) for part in parts)
    return values, exact


def candidates(hint: t.Type | None, kind: type[t.ListType] | type[t.DictType]) -> list[t.Type]:
    """The container types that an expected type allows."""
    if hint is None:
        return []
    if isinstance(hint, t.OptionalType):
        return candidates(hint.element, kind)
    if isinstance(hint, t.UnionType):
        return [member for member in hint.members if isinstance(member, kind)]
    return [hint] if isinstance(hint, kind) else []


def _unexpected(node: ast.expr, hint: t.Type, kind: str) -> Refusal:
    if hint is t.ANY_LIST and kind == "list":
        return Refusal("unknown-annotation/bare-list", node, literal=text_of(node))
    return Refusal("literal-type/container", node, expected=hint, given=f"a {kind}", literal=text_of(node))


def _refuse_choice(node: ast.expr, expected: list[t.Type], hint: t.Type | None) -> None:
    """Torch does not choose among the members of a Union for a container that tells no types."""
    if len(expected) > 1:
        raise Refusal("literal-type/choice", node, literal=text_of(node), union=hint)


def _known(hint: t.Type | None) -> bool:
    return hint is not None and hint is not t.ANY and not t.mentions_unknown(hint)


def refuse_any(node: ast.expr, hint: t.Type | None) -> None:
    """Refuse a list, or a dict that a comprehension makes, where Any is annotated: torch asks Any for an element type."""
    if hint is t.ANY:
        raise Refusal("literal-type/any", node, literal=text_of(node))


def list_literal(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    """``[a, b]``."""
    assert isinstance(node, ast.List)
    refuse_any(node, hint)
    values, exact = elements(fc, node.elts)
    if not exact:
        return Value(t.UNKNOWN, node=node)
    if not values and hint is None:
        return Value(t.ListType(t.TENSOR), node=node, empty_list=True, untyped="[]")
    type_ = _list_type(fc, node, [v.type for v in values], hint)
    return Value(type_, node=node, unlike=differences.of_any(values))


def _list_type(fc: FunctionCompiler, node: ast.expr, types: list[t.Type], hint: t.Type | None) -> t.Type:
    expected = candidates(hint, t.ListType)
    if _known(hint) and not expected and hint is not None:
        raise _unexpected(node, hint, "list")
    if not types:
        if len(expected) == 1:
            return expected[0]
        _refuse_choice(node, expected, hint)
        return t.ListType(t.UNKNOWN if hint is not None else t.TENSOR)
    first = expected[0].element if len(expected) == 1 and isinstance(expected[0], t.ListType) else None
    joint = unify_all(types, default_to_union=True, hint=first)
    assert joint is not None
    for candidate in expected:
        assert isinstance(candidate, t.ListType)
        if is_subtype(joint, candidate.element):
            return candidate
    if expected:
        facts = {"expected": str(expected[0]), "given": str(t.ListType(joint)), "literal": text_of(node)}
        raise Refusal("literal-type", node, **facts)
    return t.ListType(joint)


def dict_literal(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    """``{k: v}``."""
    assert isinstance(node, ast.Dict)
    keys = [fc.attempt(key) for key in node.keys if key is not None]
    values = [fc.attempt(value) for value in node.values]
    if len(keys) != len(values):
        return Value(t.UNKNOWN, node=node)
    for before, after in pairwise(keys):
        if before.type != after.type and t.UNKNOWN not in (before.type, after.type):
            raise Refusal("literal-type/keys", node, first=before.type, second=after.type)
    value_type = unify_all([v.type for v in values], default_to_union=True)
    type_ = _dict_type(fc, node, keys[0].type if keys else None, value_type, hint)
    untyped = "" if keys or hint is not None else "{}"
    return Value(type_, node=node, untyped=untyped, unlike=differences.of_any([*keys, *values]))


def _dict_type(
    fc: FunctionCompiler, node: ast.expr, key: t.Type | None, value: t.Type | None, hint: t.Type | None
) -> t.Type:
    expected = candidates(hint, t.DictType)
    if _known(hint) and not expected and hint is not None:
        raise _unexpected(node, hint, "dict")
    if key is None or value is None:
        if len(expected) == 1:
            return expected[0]
        _refuse_choice(node, expected, hint)
        return t.DictType(t.STR, t.TENSOR) if hint is None else t.UNKNOWN
    for candidate in expected:
        assert isinstance(candidate, t.DictType)
        if (candidate.key == key or key is t.UNKNOWN) and is_subtype(value, candidate.value):
            return candidate
    if expected:
        raise Refusal(
            "literal-type", node, expected=expected[0], given=t.DictType(key, value), literal=text_of(node)
        )
    _check_key(node, key)
    return t.DictType(key, value)


def _check_key(node: ast.expr, key: t.Type) -> None:
    allowed = (t.INT, t.FLOAT, t.COMPLEX, t.STR, t.BOOL, t.DEVICE, t.TENSOR, t.UNKNOWN)
    if key not in allowed:
        raise Refusal("literal-type/key", node, type=key)


def list_comprehension(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    """``[f(x) for x in xs]``; a generator expression is the same list."""
    assert isinstance(node, (ast.ListComp, ast.GeneratorExp))
    refuse_any(node, hint)
    found: list[Value] = []
    generator = node.generators[0]
    if len(node.generators) > 1 or generator.ifs:
        return Value(t.UNKNOWN, node=node)
    fc.push()
    try:
        emit_loop(fc, generator.target, generator.iter, node, lambda: found.append(fc.expression(node.elt)))
    finally:
        fc.pop()
    expected = candidates(hint, t.ListType)
    if _known(hint) and not expected and hint is not None:
        raise _unexpected(node, hint, "list")
    if not found:
        return Value(expected[0] if len(expected) == 1 else t.ListType(t.TENSOR), node=node)
    type_ = _list_type(fc, node, [value.type for value in found], hint if expected else None)
    if not expected:
        made_by_first = t.ListType(found[0].type)
        if isinstance(type_, t.ListType) and not is_subtype(type_.element, made_by_first.element):
            raise Refusal("literal-type", node, literal=text_of(node), given=type_, expected=made_by_first)
    return Value(type_, node=node, unlike=differences.of_any(found))


def dict_comprehension(fc: FunctionCompiler, node: ast.expr, hint: t.Type | None) -> Value:
    """``{k: v for ...}``."""
    assert isinstance(node, ast.DictComp)
    refuse_any(node, hint)
    keys: list[t.Type] = []
    values: list[t.Type] = []

    items: list[Value] = []

    def body() -> None:
        items.extend((fc.expression(node.key), fc.expression(node.value)))
        keys.append(items[-2].type)
        values.append(items[-1].type)

    generator = node.generators[0]
    if len(node.generators) > 1 or generator.ifs:
        return Value(t.UNKNOWN, node=node)
    fc.push()
    try:
        emit_loop(fc, generator.target, generator.iter, node, body)
    finally:
        fc.pop()
    key = keys[0] if keys else None
    if any(k != key and unify(k, key or k) is None for k in keys):
        raise Refusal("literal-type/keys", node, first=keys[0], second=keys[-1])
    if not candidates(hint, t.DictType):
        check_dict_values(node, key, values)
    value = unify_all(values, default_to_union=True) if values else None
    return Value(_dict_type(fc, node, key, value, hint), node=node, unlike=differences.of_any(items))


def check_dict_values(node: ast.expr, key: t.Type | None, values: list[t.Type]) -> None:
    """The values that turns of an unrolled loop put into a dict: its type is that of the last.

    Raises:
        Refusal: the dict does not take one of the others.
    """
    if key is None:
        return
    for value in values[:-1]:
        if not is_subtype(value, values[-1]):
            given, expected = t.DictType(key, value), t.DictType(key, values[-1])
            raise Refusal("literal-type", node, literal=text_of(node), given=given, expected=expected)
