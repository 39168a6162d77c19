"""Conditions: those known statically, and the type refinements of a test.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitCondExpr``, ``RefinementSet``).
"""

from __future__ import annotations

import ast
from dataclasses import field

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script import identities, instance_tests, none_defaults, notes, spelled_out
from tsguard.analysis.script.annotations import isinstance_types
from tsguard.analysis.script.attributes import has_attribute
from tsguard.analysis.script.calls import call_method
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sources import source_of
from tsguard.analysis.script.sugared import Simple, Special, SugaredModule, SugaredUnknown, Value
from tsguard.analysis.terms import NONE, Is
from tsguard.language import types as t
from tsguard.language.relations import is_subtype, merged, same, unify_all, union
from tsguard.language.rule_names import RuleName
from tsguard.report.records import dataclass, replace
from tsguard.source.walking import walked

Refinements = dict[str, t.Type]


@dataclass(frozen=True, slots=True)
class Condition:
    """A test; ``static`` is its truth where torch knows it while compiling, ``boolean``
    that Python, too, would make a bool of it, ``types`` those of values tested for truth; ``is_open``
    that torch may know it from a type that was not read."""

    static: bool | None = None
    when_true: Refinements = field(default_factory=dict)
    when_false: Refinements = field(default_factory=dict)
    boolean: bool = True
    types: tuple[t.Type, ...] = ()
    is_open: bool = False


def emit_guarded(fc: FunctionCompiler, node: ast.expr) -> Condition:
    """A condition; a refusal in it is reported and leaves the truth open."""
    try:
        return emit(fc, node)
    except Refusal as refusal:
        fc.report(refusal)
        return Condition()


def emit(fc: FunctionCompiler, node: ast.expr) -> Condition:
    """The condition that an expression is."""
    none_defaults.truth(fc, node)
    return _emit(fc, node)


def _emit(fc: FunctionCompiler, node: ast.expr) -> Condition:
    if isinstance(node, ast.BoolOp):
        return _boolean(fc, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = emit(fc, node.operand)
        static = None if inner.static is None else not inner.static
        return Condition(static, inner.when_false, inner.when_true, is_open=inner.is_open)
    if isinstance(node, ast.Compare):
        return _comparison(fc, node)
    if isinstance(node, ast.Call):
        special = _special_call(fc, node)
        if special is not None:
            return special
    value = fc.expression(node)
    if isinstance(value.type, (t.OptionalType, t.ModuleType)) or value.type is t.NONE:
        return _presence(fc, node, value.type)
    boolean = value.type in (t.BOOL, t.UNKNOWN) or (value.type is t.TENSOR and notes.is_truth(node))
    return Condition(to_bool(fc, value, node), boolean=boolean, types=(value.type,))


def _refused_object(fc: FunctionCompiler, node: ast.expr, type_: t.Type) -> Refusal:
    """None, or a module, which is true unless it is a container that holds nothing."""
    value = text_of(node)
    if type_ is t.NONE:
        return Refusal("condition-type/object", node, value=value, kind="None")
    module = fc.sugared(node)
    if isinstance(module, SugaredModule) and fc.compiler.container_kind(module.instance) in ("list", "dict"):
        return Refusal("condition-type/container", node, value=value)
    return Refusal("condition-type/object", node, value=value, kind="a module")


def _presence(fc: FunctionCompiler, node: ast.expr, type_: t.Type) -> Condition:
    """A truth test of what may be absent: refused, then read as Python would, lest one cause be reported twice."""
    if not isinstance(type_, t.OptionalType):
        fc.report(_refused_object(fc, node, type_))
        return Condition(type_ is not t.NONE, boolean=False)
    value = text_of(node)
    test = spelled_out.tested(value, type_)
    rule: RuleName = "optional-truthiness" if test == f"{value} is not None" else "optional-truthiness/valued"
    if any(isinstance(n, ast.UnaryOp) and n.operand is node for n in walked(fc.node)):
        test = f"({test})"
    fc.report(Refusal(rule, node, value=value, type=type_, test=test))
    return Condition(None, {node.id: type_.element} if isinstance(node, ast.Name) else {}, boolean=False)


def _special_call(fc: FunctionCompiler, node: ast.Call) -> Condition | None:
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "hasattr")
        and fc.frame.find(node.func.id) is None
    ):
        if len(node.args) != 2 or node.keywords:
            raise Refusal(
                "argument-count", node, function=node.func.id, expected="2", given=str(len(node.args))
            )
        if node.func.id == "isinstance":
            return is_instance(fc, node.args[0], node.args[1])
        return Condition(has_attribute_of(fc, node.args[0], node.args[1]))
    if isinstance(node.func, ast.Attribute):
        function = fc.sugared(node.func)
        if isinstance(function, Special) and function.form == "isinstance" and len(node.args) == 2:
            return is_instance(fc, node.args[0], node.args[1])
    return None


def has_attribute_of(fc: FunctionCompiler, owner: ast.expr, name: ast.expr) -> bool | None:
    """``hasattr(owner, "name")``, which torch always knows."""
    sugared = fc.sugared(owner)
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        raise Refusal("dynamic-attribute/name", name, function="hasattr", argument=text_of(name))
    return has_attribute(fc, sugared, name.value, owner)


def to_bool(fc: FunctionCompiler, value: Value, node: ast.expr) -> bool | None:
    """Check that a value may be a condition; its truth where it is a constant.

    Raises:
        Refusal: torch cannot make a bool of it.
    """
    type_ = value.type
    if isinstance(type_, t.ClassType):
        truth = call_method(fc, Simple(value), "__bool__", [], node)
        if truth is None:
            raise Refusal("condition-type", node, value=text_of(node), type=type_)
        type_ = as_value(fc, truth, node).type
        if type_ not in (t.BOOL, t.UNKNOWN):
            raise Refusal("condition-type/bool", node, value=text_of(node), type=type_)
    if type_ not in (t.TENSOR, t.INT, t.FLOAT, t.BOOL, t.STR, t.NUMBER, t.UNKNOWN) and not isinstance(
        type_, (t.ListType, t.DictType)
    ):
        if isinstance(type_, t.TupleType):
            raise Refusal("condition-type/tuple", node, value=text_of(node), type=type_)
        raise Refusal("condition-type", node, value=text_of(node), type=type_)
    if value.static is not None:
        return value.static
    if isinstance(value.const, bool):
        return value.const
    return None


def _boolean(fc: FunctionCompiler, node: ast.BoolOp) -> Condition:
    is_or = isinstance(node.op, ast.Or)
    result = _emit(fc, node.values[0])
    for operand in node.values[1:]:
        fc.push()
        refine(fc, result.when_false if is_or else result.when_true)
        # What the operands before have decided is compiled, and no call comes to it.
        fc.tests.append((ast.Constant(result.static is is_or), False))
        right = emit_guarded(fc, operand)
        fc.tests.pop()
        fc.pop()
        types = (*result.types, *right.types)
        is_open = result.is_open or right.is_open
        joint = _either(result, right) if is_or else _both(result, right)
        result = replace(joint, types=types, is_open=is_open and joint.static is None)
    return result


def _either(a: Condition, b: Condition) -> Condition:
    static: bool | None = None
    if a.static is True or b.static is True:
        static = True
    elif a.static is not None and b.static is not None:
        static = a.static or b.static
    united = _united(a.when_false, b.when_false)
    return Condition(static, _intersected(a.when_true, b.when_true), united, b.boolean)


def _both(a: Condition, b: Condition) -> Condition:
    static: bool | None = None
    if a.static is False or b.static is False:
        static = False
    elif a.static is not None and b.static is not None:
        static = a.static and b.static
    united = _united(a.when_true, b.when_true)
    return Condition(static, united, _intersected(a.when_false, b.when_false), b.boolean)


def _united(a: Refinements, b: Refinements) -> Refinements:
    """Refinements that both hold; where two disagree on a variable, neither is kept."""
    result = dict(a)
    for name, type_ in b.items():
        if name not in result:
            result[name] = type_
        elif result[name] != type_:
            del result[name]
    return result


def _intersected(a: Refinements, b: Refinements) -> Refinements:
    return {name: type_ for name, type_ in a.items() if b.get(name) == type_}


def refine(fc: FunctionCompiler, refinements: Refinements) -> None:
    """Give variables the types that a test has told."""
    for name, type_ in refinements.items():
        current = fc.frame.find(name)
        if isinstance(current, Simple):
            value = Value(type_, parameter=current.value.parameter, source=current.value.source)
            fc.frame.variables[name] = value


def _comparison(fc: FunctionCompiler, node: ast.Compare) -> Condition:
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return _identity(fc, node.left, node.ops[0], node.comparators[0])
    if compares_with_none(node):
        return _equality_with_none(fc, node)
    if len(node.ops) == 1:
        value = fc.expression(node)
        return Condition(to_bool(fc, value, node), types=(value.type,))
    operands = [node.left, *node.comparators]
    parts: list[ast.expr] = [
        ast.copy_location(ast.Compare(left, [op], [right]), node)
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False)
    ]
    return emit(fc, ast.copy_location(ast.BoolOp(ast.And(), parts), node))


def compares_with_none(node: ast.Compare) -> bool:
    """Whether it is ``x == None`` or ``x != None``."""
    sides = [node.left, *node.comparators]
    return (
        len(sides) == 2 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and any(map(_is_none_literal, sides))
    )


def _equality_with_none(fc: FunctionCompiler, node: ast.Compare) -> Condition:
    """``x == None``: refused, then read as ``x is None``, lest one cause be reported twice."""
    right = node.comparators[0]
    subject = node.left if _is_none_literal(right) else right
    is_equal = isinstance(node.ops[0], ast.Eq)
    if fc.expression(subject).type is not t.UNKNOWN:
        instead = f"{text_of(subject)} is {'' if is_equal else 'not '}None"
        fc.report(Refusal("operator-types/none", node, expression=text_of(node), instead=instead))
    return _identity(fc, node.left, ast.Is() if is_equal else ast.IsNot(), right)


def _identity(fc: FunctionCompiler, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Condition:
    """``is`` and ``is not``: static when torch knows which sides are None."""
    a = fc.expression(left)
    b = fc.expression(right)
    is_is = isinstance(op, ast.Is)
    nones = (_none_status(a), _none_status(b))
    if nones.count("always") == 1 and "maybe" not in nones:
        asked = _is_argument_none(fc, right if nones[0] == "always" else left)
        if "unknown" in nones:
            return Condition() if asked is None else Condition(asked is is_is)
    if nones == ("always", "always"):
        return Condition(is_is)
    if set(nones) == {"always", "never"}:
        none_defaults.test(fc, left if nones[1] == "always" else right, a if nones[1] == "always" else b)
        return Condition(not is_is)
    if identities.are_members(a, b):
        identities.of_members(fc, left, op, right, a, b)
        return Condition()
    identities.of_member_and_value(fc, left, op, right, a, b)
    if _is_none_literal(left) and not _is_none_literal(right):
        left, right, a, b = right, left, b, a
    if not (_is_none_literal(right) and isinstance(left, ast.Name) and _none_status(a) == "maybe"):
        return Condition()
    present = {left.id: _without_none(a.type)}
    return Condition(None, {}, present) if is_is else Condition(None, present, {})


def _is_argument_none(fc: FunctionCompiler, node: ast.expr) -> bool | None:
    """Whether an attribute that is an argument of the constructor is None, in this world; None for anything else."""
    owner = fc.sugared(node.value) if isinstance(node, ast.Attribute) else None
    if not (isinstance(node, ast.Attribute) and isinstance(owner, SugaredModule)):
        return None
    held = owner.instance.attributes.get(node.attr)
    if not isinstance(held, py.Unknown) or held.term is None:
        return None
    return fc.compiler.interp.world.decide(Is(held.term, NONE), False, guess=held.default is None)


def _is_none_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _without_none(type_: t.Type) -> t.Type:
    if isinstance(type_, t.UnionType):
        return union(member for member in type_.members if member is not t.NONE)
    return type_.element if isinstance(type_, t.OptionalType) else type_


def _none_status(value: Value) -> str:
    if value.type is t.NONE:
        return "always"
    if value.type is t.UNKNOWN:
        return "unknown"
    if isinstance(value.type, t.OptionalType) or (
        isinstance(value.type, t.UnionType) and t.NONE in value.type.members
    ):
        return "maybe"
    return "never"


def is_instance(fc: FunctionCompiler, subject: ast.expr, classes: ast.expr) -> Condition:
    """``isinstance(subject, classes)``: static where the type decides it."""
    sugared = fc.sugared(subject)
    if isinstance(sugared, SugaredUnknown):
        return Condition(is_open=True)
    if isinstance(sugared, SugaredModule):
        return Condition(fc.compiler.module_is_instance(fc, sugared, classes))
    value = as_value(fc, sugared, subject)
    try:
        wanted = isinstance_types(fc.compiler, classes, fc.scope)
    except Refusal as refusal:
        raise Refusal("isinstance-class", classes, part=refusal.facts.get("part", text_of(classes))) from None
    if value.type is t.UNKNOWN:
        return Condition(is_open=True)
    if t.UNKNOWN in wanted:
        # What was not read may be a class of tensors, but mostly is one of another kind: it is told as a gap.
        _read_classes(fc, classes)
        return _instance_condition(value.type, [one for one in wanted if one is not t.UNKNOWN], subject)
    instance_tests.tell_difference(fc, subject, value, wanted, classes)
    return _instance_condition(value.type, wanted, subject)


def _read_classes(fc: FunctionCompiler, classes: ast.expr) -> None:
    """Note which of the classes that are asked for were not read."""
    for node in classes.elts if isinstance(classes, ast.Tuple) else [classes]:
        source = source_of(fc.sugared(node)) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if source is not None and source.unread is not None:
            fc.compiler.reporter.add_gap(source.unread)
        elif isinstance(source, py.Unknown):
            fc.unread(node)


def _instance_condition(given: t.Type, wanted: list[t.Type], subject: ast.expr) -> Condition:
    yes: list[t.Type] = []
    no: list[t.Type] = []
    always = True
    classes = merged(wanted)
    for type_ in merged([given]):
        if type_ is t.ANY:
            yes.extend(classes)
            no.append(t.ANY)
            always = classes == [t.ANY]
            break
        found = _narrowed(type_, classes)
        if found is None:
            no.append(type_)
            always = False
        else:
            yes.append(found)
            always = always and same(found, type_)
    when_true: Refinements = {}
    when_false: Refinements = {}
    if isinstance(subject, ast.Name):
        for target, types in ((when_true, yes), (when_false, no)):
            joint = unify_all(types, default_to_union=True)
            if joint is not None:
                target[subject.id] = joint
    static = True if always else False if not yes else None
    return Condition(static, when_true, when_false)


def _narrowed(type_: t.Type, classes: list[t.Type]) -> t.Type | None:
    """The narrowest type that a member of a union has when it is one of the classes."""
    found: list[t.Type] = []
    for wanted in classes:
        if is_subtype(type_, wanted):
            return type_
        if is_subtype(wanted, type_):
            found.append(wanted)
    return unify_all(found, default_to_union=True) if found else None
