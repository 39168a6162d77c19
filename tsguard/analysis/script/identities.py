"""``is`` between members of enumerations: compiled code holds copies of them, or what they are besides."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule
from tsguard.language import types as t


def test(
    fc: FunctionCompiler, left: ast.expr, op: ast.cmpop, right: ast.expr, types: tuple[t.Type, t.Type]
) -> None:
    """Note a test of two members for identity."""
    of_members = [isinstance(type_, t.EnumType) for type_ in types]
    if not any(of_members):
        return
    members = [_member(fc, left), _member(fc, right)]
    is_is = isinstance(op, ast.Is)
    instead = "==" if is_is else "!="
    if all(of_members):
        if types[0] != types[1] or (None not in members and members[0] is not members[1]):
            return
        facts = {"left": text_of(left), "right": text_of(right), "operator": "is" if is_is else "is not"}
        fc.note(Refusal("enum-identity", left, **facts, instead=instead))
    elif members[0] is not None and members[0] is members[1] and members[0].alike is not None:
        held, member, type_ = (left, right, types[0]) if of_members[1] else (right, left, types[1])
        facts = {"value": text_of(held), "member": text_of(member), "type": str(type_)}
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
