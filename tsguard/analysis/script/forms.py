"""Special forms: calls with their own evaluation rules.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``emitApplySpecialForm``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis.events import text_of
from tsguard.analysis.script import conditions, iteration, literals, spelled_out
from tsguard.analysis.script.annotations import annotation_type
from tsguard.analysis.script.attributes import get_attribute, has_attribute
from tsguard.analysis.script.calls import call, call_builtin
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.sugared import (
    ABSENT,
    Iterables,
    Simple,
    Sugared,
    SugaredRange,
    SugaredUnknown,
    Tuple,
    Value,
    simple,
    source_of,
)
from tsguard.language import types as t
from tsguard.language.matching import converted
from tsguard.language.relations import is_subtype

Form = Callable[["FunctionCompiler", ast.Call, "t.Type | None"], Sugared]


def emit(fc: FunctionCompiler, form: str, node: ast.Call, hint: t.Type | None) -> Sugared:
    """Emit the call of a special form."""
    return FORMS[form](fc, node, hint)


def super_call(node: ast.Call) -> Sugared:
    """``super()``: torch compiles the bare name into an opaque call, then finds no method."""
    raise Refusal("super-call", node, method="")


def _count(node: ast.Call, name: str, low: int, high: int) -> None:
    if not low <= len(node.args) <= high:
        expected = str(low) if low == high else f"{low} to {high}"
        raise Refusal("argument-count", node, function=name, expected=expected, given=str(len(node.args)))
    if node.keywords:
        raise Refusal("unknown-keyword/positional", node, function=name, keyword=str(node.keywords[0].arg))


def _isinstance(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "isinstance", 2, 2)
    condition = conditions.is_instance(fc, node.args[0], node.args[1])
    return Simple(Value(t.BOOL, ABSENT if condition.static is None else condition.static, node=node))


def _hasattr(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "hasattr", 2, 2)
    static = conditions.has_attribute_of(fc, node.args[0], node.args[1])
    return Simple(Value(t.BOOL, ABSENT if static is None else static, node=node))


def _getattr(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "getattr", 2, 3)
    owner = fc.sugared(node.args[0])
    name = node.args[1]
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        raise Refusal("dynamic-attribute/name", node, function="getattr", argument=text_of(name))
    if len(node.args) == 2:
        return get_attribute(fc, owner, name.value, node)
    found = has_attribute(fc, owner, name.value, node.args[0])
    if found is None:
        return SugaredUnknown()
    return get_attribute(fc, owner, name.value, node) if found else fc.sugared(node.args[2])


def _annotate(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "torch.jit.annotate", 2, 2)
    type_ = annotation_type(fc.compiler, node.args[0], fc.scope)
    value = fc.expression(node.args[1], type_)
    result = converted(
        value.type, type_, empty_list=value.empty_list, bools=fc.compiler.ways.bools_are_numbers
    )
    if not is_subtype(result, type_):
        raise Refusal(
            "reassigned-type/annotated", node, name=text_of(node.args[1]), annotated=type_, type=value.type
        )
    if value.type is t.NONE:
        result = type_
    return Simple(Value(result if value.type is not t.UNKNOWN else type_, node=node))


def _cast(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "unchecked_cast", 2, 2)
    fc.expression(node.args[1])
    return simple(annotation_type(fc.compiler, node.args[0], fc.scope))


def _tuple(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "tuple", 1, 1)
    parts = iteration.as_tuple(fc.sugared(node.args[0]), node, None, "starred-list/tuple")
    if parts is None:
        return SugaredUnknown()
    return simple(t.TupleType(tuple(as_value(fc, part, node).type for part in parts)))


def _tolist(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    assert isinstance(node.func, ast.Attribute)
    fc.expression(node.func.value)
    if hint is None:
        raise Refusal("untyped-tolist", node, value=text_of(node.func.value))
    element = hint
    while isinstance(element, t.ListType):
        element = element.element
    if element not in (t.INT, t.FLOAT, t.COMPLEX, t.BOOL, t.UNKNOWN):
        raise Refusal("untyped-tolist/element", node, value=text_of(node.func.value), type=hint)
    return simple(hint)


def _getitem(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    _count(node, "__getitem__", 1, 1)
    fc.expression(node.args[0])
    return simple(t.TENSOR)


def _range(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    values = [fc.attempt(arg) for arg in node.args]
    if not 1 <= len(values) <= 3:
        raise Refusal("argument-count", node, function="range", expected="1 to 3", given=str(len(values)))
    for arg, value in zip(node.args, values, strict=True):
        if value.type not in (t.INT, t.UNKNOWN):
            if value.parameter and value.type is t.TENSOR:
                facts = {"use": "range takes int", "needed": "int", "place": text_of(node)}
                raise Refusal("untyped-parameter", node, parameter=value.parameter, **facts)
            raise _no_count(fc, node, arg, value.type)
    return SugaredRange()


_CONVERTIBLE = frozenset({t.INT, t.FLOAT, t.BOOL, t.NUMBER, t.STR, t.TENSOR})


def _no_count(fc: FunctionCompiler, node: ast.Call, arg: ast.expr, type_: t.Type) -> Refusal:
    """The refusal of what ``range`` is given: most of it can be converted to an int."""
    if isinstance(type_, t.OptionalType) or (isinstance(type_, t.UnionType) and t.NONE in type_.members):
        return not_refined(node, text_of(arg), type_)
    members = type_.members if isinstance(type_, t.UnionType) else (type_,)
    if all(member in _CONVERTIBLE for member in members):
        facts = {"value": text_of(arg), "type": str(type_), "repair": f"convert it: int({text_of(arg)})"}
        if isinstance(arg, ast.BoolOp):  # whose bool is none of the operands that Python counts with
            read = [fc.attempt(value).type for value in arg.values]
            facts["repair"] = f"write a conditional expression: {spelled_out.choice(arg, read)}"
        return Refusal("argument-type/range", node, **facts)
    names = ("start", "stop", "step") if len(node.args) > 1 else ("stop",)
    facts = {"argument": names[node.args.index(arg)], "value": text_of(arg), "given": str(type_)}
    return Refusal("argument-type", node, function="range", wanted="int", **facts)


def _enumerate(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if not 1 <= len(node.args) <= 2:
        raise Refusal(
            "argument-count", node, function="enumerate", expected="1 to 2", given=str(len(node.args))
        )
    for keyword in node.keywords:
        if keyword.arg != "start":
            raise Refusal(
                "unknown-keyword", node, function="enumerate", keyword=str(keyword.arg), known="start"
            )
    for start in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
        given = fc.expression(start).type
        if given not in (t.INT, t.UNKNOWN):
            facts = {"function": "enumerate", "argument": "start", "value": text_of(start)}
            raise Refusal("argument-type", node, **facts, wanted="int", given=given)
    iterable = iteration.iterate(fc, fc.sugared(node.args[0]), node.args[0])
    if isinstance(iterable, SugaredUnknown):
        return iterable
    items = iteration.unrolled_items(fc, iterable, node)
    return Iterables([SugaredRange(None if items is None else len(items)), iterable])


def _zip(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if not node.args:
        raise Refusal("argument-count", node, function="zip", expected="at least 1", given="0")
    children = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            raise Refusal("starred-list/zip", arg, value=text_of(arg.value))
        children.append(iteration.iterate(fc, fc.sugared(arg), arg))
    iterables = Iterables(children)
    if any(isinstance(child, SugaredUnknown) for child in children):
        known = [c for c in children if not isinstance(c, SugaredUnknown)]
        source = next((source for child in children if (source := source_of(child)) is not None), None)
        return iterables if any(isinstance(c, Tuple) for c in known) else SugaredUnknown(source)
    iteration.unrolled_items(fc, iterables, node)
    return iterables


def _list(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if not node.args:
        return (
            simple(hint)
            if isinstance(hint, t.ListType)
            else Simple(Value(t.ListType(t.TENSOR), untyped="[]"))
        )
    _count(node, "list", 1, 1)
    source = fc.sugared(node.args[0])
    if isinstance(source, Simple) and (
        isinstance(source.value.type, t.ListType) or source.value.type is t.STR
    ):
        element = source.value.type.element if isinstance(source.value.type, t.ListType) else t.STR
        return simple(t.ListType(element))
    if isinstance(source, SugaredUnknown) or (isinstance(source, Simple) and source.value.type is t.UNKNOWN):
        return SugaredUnknown()
    name = fc.temporary_name()
    fc.frame.sugared[name] = source
    variable = ast.copy_location(ast.Name("$element"), node)
    iterable = ast.copy_location(ast.Name(name), node)
    generator = ast.comprehension(ast.copy_location(ast.Name("$element"), node), iterable, [], 0)
    comprehension = ast.copy_location(ast.ListComp(variable, [generator]), node)
    try:
        made = literals.list_comprehension(fc, comprehension, hint)
    except Refusal as refusal:
        raise Refusal(refusal.rule, refusal.node, **{**refusal.facts, "literal": text_of(node)}) from None
    return Simple(made)


def _dict(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if not node.args and not node.keywords:
        return Simple(literals.dict_literal(fc, ast.copy_location(ast.Dict([], []), node), hint))
    expected = literals.candidates(hint, t.DictType)
    if len(expected) > 1:
        raise Refusal("literal-type/choice", node, literal=text_of(node), union=hint)
    if not node.args:
        keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(k.arg), node) for k in node.keywords]
        literal = ast.copy_location(ast.Dict(keys, [k.value for k in node.keywords]), node)
        return Simple(literals.dict_literal(fc, literal, hint))
    sugared = fc.sugared(node.args[0], hint if isinstance(node.args[0], (ast.Dict, ast.DictComp)) else None)
    if isinstance(sugared, Iterables):
        sugared = _pairs(fc, sugared, node.args[0])
    source = as_value(fc, sugared, node.args[0])
    if source.type is t.UNKNOWN:
        return SugaredUnknown()
    type_ = source.type
    if source.empty_list:
        type_ = expected[0] if expected else t.DictType(t.STR, t.TENSOR)
    elif isinstance(type_, t.ListType) and isinstance(type_.element, t.TupleType):
        type_ = _of_pairs(type_.element, expected, node)
    if not isinstance(type_, t.DictType):
        raise Refusal("not-iterable", node, value=text_of(node.args[0]), type=source.type)
    for keyword in node.keywords:
        given = t.DictType(t.STR, fc.attempt(keyword.value).type)
        if not is_subtype(given.value, type_.value) or not is_subtype(given.key, type_.key):
            raise Refusal("literal-type", node, literal=text_of(node), given=given, expected=type_)
    return simple(type_)


def _of_pairs(pair: t.TupleType, expected: list[t.Type], node: ast.Call) -> t.Type:
    """The dict that a list of pairs makes.

    Raises:
        Refusal: its keys are of several types, or it is another than is expected.
    """
    if len(pair.elements) != 2:
        return t.ListType(pair)
    key, value = pair.elements
    if isinstance(key, t.UnionType):
        raise Refusal("literal-type/keys", node, first=key.members[0], second=key.members[1])
    wanted = expected[0] if expected else t.DictType(key, value)
    assert isinstance(wanted, t.DictType)
    if not is_subtype(key, wanted.key) or not is_subtype(value, wanted.value):
        given = t.DictType(key, value)
        raise Refusal("literal-type", node, literal=text_of(node), given=given, expected=wanted)
    return wanted


def _pairs(fc: FunctionCompiler, rows: Iterables, node: ast.expr) -> Sugared:
    """The rows of ``zip`` or ``enumerate`` as the list that a dict is made of."""
    unrolled = iteration.unrolled_items(fc, rows, node) or [iteration.element(fc, rows, node)]
    types = [as_value(fc, row, node).type for row in unrolled]
    pairs = [type_.elements for type_ in types if isinstance(type_, t.TupleType) and len(type_.elements) == 2]
    if pairs:
        literals.check_dict_values(node, pairs[0][0], [value for _, value in pairs])
    return simple(t.ListType(types[-1]))


def _fork(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    if not node.args:
        raise Refusal("argument-count", node, function="torch.jit.fork", expected="at least 1", given="0")
    callee = fc.sugared(node.args[0])
    args = [fc.attempt(arg) for arg in node.args[1:]]
    kwargs = {k.arg: fc.attempt(k.value) for k in node.keywords if k.arg is not None}
    result = as_value(fc, call(fc, callee, args, kwargs, node), node)
    return simple(t.UNKNOWN if result.type is t.UNKNOWN else t.FutureType(result.type))


def _awaitable(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    """``torch.jit._awaitable(f, x)``: like fork, and taken for the result wherever that is wanted."""
    _fork(fc, node, hint)
    return simple(t.UNKNOWN)


def _legacy_tensor(fc: FunctionCompiler, node: ast.Call, hint: t.Type | None) -> Sugared:
    """``torch.FloatTensor(2, 3)``, ``torch.LongTensor([1, 2])``."""
    values = [fc.attempt(arg) for arg in node.args]
    for keyword in node.keywords:
        if keyword.arg != "device":
            raise Refusal(
                "unknown-keyword", node, function=text_of(node.func), keyword=str(keyword.arg), known="device"
            )
    if len(values) > 1 and any(value.type not in (t.INT, t.UNKNOWN) for value in values):
        raise Refusal(
            "argument-type",
            node,
            function=text_of(node.func),
            argument="size",
            wanted="int",
            given=values[0].type,
            value=text_of(node.args[0]),
        )
    if len(values) == 1 and values[0].type not in (t.INT, t.UNKNOWN):
        call_builtin(fc, "aten::tensor", values, {}, node)
        if node.args and _is_size(node.args[0]):
            fc.note(
                Refusal("tensor-of-values/size", node, expression=text_of(node), size=text_of(node.args[0]))
            )
    return simple(t.TENSOR)


def _is_size(node: ast.expr) -> bool:
    """Whether an expression gives a torch.Size in Python: ``x.shape``, ``x.size()``, a slice of it, or a sum of two."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_size(node.value)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_size(node.left) or _is_size(node.right))
    if isinstance(node, ast.Call):
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "size"
        return is_method and not node.args and not node.keywords
    return isinstance(node, ast.Attribute) and node.attr == "shape"


FORMS: dict[str, Form] = {
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "annotate": _annotate,
    "unchecked_cast": _cast,
    "tuple": _tuple,
    "tolist": _tolist,
    "__getitem__": _getitem,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "list": _list,
    "dict": _dict,
    "fork": _fork,
    "awaitable": _awaitable,
    "legacy_tensor": _legacy_tensor,
}
