"""``is`` between members of enumerations: compiled code holds copies of them, or what they are besides."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule, Value
from tsguard.language import types as t


def are_members(a: Value, b: Value) -> bool:
    """Whether both are members of one enumeration, or one of them None."""
    kinds = [v.type.element if isinstance(v.type, t.OptionalType) else v.type for v in (a, b)]
    optional = [isinstance(v.type, t.OptionalType) for v in (a, b)]
    return isinstance(kinds[0], t.EnumType) and kinds[0] == kinds[1] and not all(optional)


def of_members(
    fc: FunctionCompiler, left: ast.expr, op: ast.cmpop, right: ast.expr, a: Value, b: Value
) -> None:
    """Note a comparison of members that is false in compiled code, unless both sides are known and differ."""
    members = [_member(fc, left), _member(fc, right)]
    if None not in members and members[0] is not members[1]:
        return
    word, instead = ("is", "==") if isinstance(op, ast.Is) else ("is not", "!=")
    facts = {"left": text_of(left), "right": text_of(right), "operator": word, "instead": instead}
    absent = [
        text_of(side) for side, value in ((left, a), (right, b)) if isinstance(value.type, t.OptionalType)
    ]
    if not absent:
        fc.note(Refusal("enum-identity", left, **facts))
        return
    tested = f"{absent[0]} is not None and" if word == "is" else f"{absent[0]} is None or"
    fc.note(Refusal("enum-identity/optional", left, **facts, tested=tested))


def of_member_and_value(
    fc: FunctionCompiler, left: ast.expr, op: ast.cmpop, right: ast.expr, a: Value, b: Value
) -> None:
    """Note a comparison of a member with an attribute that holds it, as the text or number that it is besides."""
    are_of_enumerations = [isinstance(value.type, t.EnumType) for value in (a, b)]
    if are_of_enumerations.count(True) != 1:
        return
    first, second = _member(fc, left), _member(fc, right)
    if first is None or first is not second or first.alike is None:
        return
    held, member, type_ = (left, right, a.type) if are_of_enumerations[1] else (right, left, b.type)
    facts = {"value": text_of(held), "member": text_of(member), "type": str(type_)}
    instead = "==" if isinstance(op, ast.Is) else "!="
    fc.note(Refusal("enum-identity/mixed", left, **facts, instead=instead))


def _member(fc: FunctionCompiler, node: ast.expr) -> py.EnumMember | None:
    """The member that an attribute of a module, or of the enumeration itself, is."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return None
    owner = fc.sugared(node.value)
    if isinstance(owner, SugaredModule):
        found = owner.instance.attributes.get(node.attr)
    else:
        found = fc.compiler.interp.evaluate(node, fc.scope)
    return found if isinstance(found, py.EnumMember) else None
