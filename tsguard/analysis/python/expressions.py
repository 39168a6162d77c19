"""Expressions, with a handler for each node class."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import unread
from tsguard.analysis.python import (
    assignments,
    classes,
    comparisons,
    containers,
    decorators,
    operations,
    records,
    sizes,
    texts,
)
from tsguard.analysis.python.binding import arguments, may_be_none_at_all
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.iteration import consume, iterate
from tsguard.analysis.python.made_of_unread import as_unread
from tsguard.analysis.python.private_names import attribute_name
from tsguard.analysis.python.suspended import Suspended
from tsguard.analysis.python.unread_mappings import REST, STARS, unread_rest
from tsguard.analysis.terms import member_of, placed
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    IteratorValue,
    ListValue,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    Scope,
    SetValue,
    SliceValue,
    TupleValue,
    Unknown,
    Value,
    by_name,
    constant,
    mapped,
)
from tsguard.project.project import Missing
from tsguard.report.records import replace
from tsguard.source.remembering import remembered

Handler = Callable[..., Value]

_FIND_SPEC = "importlib.util.find_spec"


def _constant(interp: Interpreter, node: ast.Constant, scope: Scope) -> Value:
    return _const(node)


@remembered(1 << 14)
def _const(node: ast.Constant) -> Const:
    return Const(node.value)


def _name(interp: Interpreter, node: ast.Name, scope: Scope) -> Value:
    value = interp.lookup(node.id, scope)
    return value if value is not None else Unknown(placed(node))


def _attribute(interp: Interpreter, node: ast.Attribute, scope: Scope) -> Value:
    return attribute_of(interp, interp.evaluate(node.value, scope), node, scope)


def attribute_of(interp: Interpreter, owner: Value, node: ast.Attribute, scope: Scope) -> Value:
    """``node``, an attribute of an owner that is evaluated already."""
    value = interp.attribute(owner, attribute_name(node.attr, scope))
    if isinstance(value, Unknown):
        value = as_unread([owner], value, node, scope)
    if value is not None:
        return _placed(interp, owner, node, value, scope) if isinstance(owner, ModuleReference) else value
    if interp.tries:
        raise Raised("AttributeError", node)
    return Unknown(placed(node))


def _placed(
    interp: Interpreter, owner: ModuleReference, node: ast.Attribute, value: Value, scope: Scope
) -> Value:
    """A member of a Python module; one that its source does not show is unread from here on."""
    if (
        type(value) is Unknown
        and value.unread is None
        and value.term == member_of(owner.module.name, node.attr)
    ):
        missing = Missing(f"{owner.module.name}.{node.attr}")
        value = replace(value, unread=unread.source(interp.program.project, missing, scope.module, node))
    return value


def _call(interp: Interpreter, node: ast.Call, scope: Scope) -> Value:
    return call_of(interp, interp.evaluate(node.func, scope), node, scope)


def call_of(interp: Interpreter, function: Value, node: ast.Call, scope: Scope) -> Value:
    """A call of what has been evaluated."""
    args, kwargs, exact = arguments(interp, node, scope)
    if (REST in kwargs or STARS in kwargs) and not (interp.is_plain and _takes_by_name(interp, function)):
        kwargs = {name: value for name, value in kwargs.items() if name not in (REST, STARS)}
    elif STARS in kwargs and may_be_none_at_all(kwargs[STARS]):
        args = args[:-1]  # its first item, which need not be there: a parameter has its default then
    if not exact and not kwargs and not args:
        return interp.call(function, [Unknown()], {}, node)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name == "super":
        return classes.super_value(args, scope)
    if name in ("locals", "vars") and not args:
        return by_name(scope.names, is_open=True)
    if name == "globals" and not args:
        return DictValue({}, open=True, names_of=scope.module)
    if isinstance(function, External) and function.name == _FIND_SPEC:
        return _found_spec(interp, args, scope)
    result = interp.call(function, args, kwargs, node)
    if isinstance(result, ModuleValue) and not _is_placed(result, scope):
        result.place = (node, scope.module)
    return result


def _takes_by_name(interp: Interpreter, function: Value) -> bool:
    """Whether a call binds its arguments to the parameters of a function that was read, or makes a dict of them."""
    if isinstance(function, ClassValue):
        found = classes.class_member(interp, function, "__init__")
        is_read = found is not None and isinstance(found[0], FunctionValue)
        return is_read or records.made_constructor(interp, function) is not None
    if isinstance(function, External):
        return function.name == "builtins.dict"
    return isinstance(function.function if isinstance(function, BoundMethod) else function, FunctionValue)


def _is_placed(module: ModuleValue, scope: Scope) -> bool:
    """Whether a module is known by a call in the project that the scope is of."""
    if module.place is None:
        return False
    made, here = module.place[1].root, scope.module.root
    return made is here or made == here


def _found_spec(interp: Interpreter, args: list[Value], scope: Scope) -> Value:
    """``importlib.util.find_spec``: None where no such package is installed."""
    name = constant(args[0]) if args else None
    if not isinstance(name, str):
        return Unknown()
    finder = interp.program.project.finder
    if finder.is_absent(name, scope.module):
        return NONE
    if finder.is_described(name) or finder.find(name, scope.module) is not None:
        return ObjectValue(External("importlib.machinery.ModuleSpec"), open=True)
    return Unknown(operations.called("importlib.util.find_spec", args, None))


def _binary(interp: Interpreter, node: ast.BinOp, scope: Scope) -> Value:
    left = interp.evaluate(node.left, scope)
    right = interp.evaluate(node.right, scope)
    value = operations.binary(interp, node.op, left, right, node)
    return as_unread([left, right], value, node, scope) if isinstance(value, Unknown) else value


def _unary(interp: Interpreter, node: ast.UnaryOp, scope: Scope) -> Value:
    operand = interp.evaluate(node.operand, scope)
    value = operations.unary(interp, node.op, operand, node)
    return as_unread([operand], value, node, scope) if isinstance(value, Unknown) else value


def _boolean(interp: Interpreter, node: ast.BoolOp, scope: Scope) -> Value:
    return operations.boolean(interp, node, lambda operand: interp.evaluate(operand, scope))


def _compare(interp: Interpreter, node: ast.Compare, scope: Scope) -> Value:
    left = interp.evaluate(node.left, scope)
    result: Value = Const(True)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = interp.evaluate(comparator, scope)
        result = comparisons.compare(interp, op, left, right, node)
        if len(node.ops) > 1 and not interp.truth(result, node):
            return result
        left = right
    return result


def _conditional(interp: Interpreter, node: ast.IfExp, scope: Scope) -> Value:
    if isinstance(node.test, ast.BoolOp):
        with interp.world.test():
            holds = interp.truth(interp.evaluate(node.test, scope), node.test)
    else:
        holds = interp.truth(interp.evaluate(node.test, scope), node.test)
    return interp.evaluate(node.body if holds else node.orelse, scope)


def _subscript(interp: Interpreter, node: ast.Subscript, scope: Scope) -> Value:
    owner = interp.evaluate(node.value, scope)
    return containers.item(interp, owner, interp.evaluate(node.slice, scope), node)


def _slice(interp: Interpreter, node: ast.Slice, scope: Scope) -> Value:
    parts = [
        NONE if part is None else interp.evaluate(part, scope) for part in (node.lower, node.upper, node.step)
    ]
    return SliceValue(*parts)


def _elements(interp: Interpreter, nodes: list[ast.expr], scope: Scope) -> tuple[list[Value], bool]:
    items: list[Value] = []
    is_open = False
    for node in nodes:
        if isinstance(node, ast.Starred):
            more, more_open = iterate(interp, interp.evaluate(node.value, scope))
            items.extend(more)
            is_open = is_open or more_open
        else:
            items.append(interp.evaluate(node, scope))
    return items, is_open


def _tuple(interp: Interpreter, node: ast.Tuple, scope: Scope) -> Value:
    items, is_open = _elements(interp, node.elts, scope)
    return TupleValue(tuple(items), is_open)


def _list(interp: Interpreter, node: ast.List, scope: Scope) -> Value:
    return ListValue(*_elements(interp, node.elts, scope))


def _set(interp: Interpreter, node: ast.Set, scope: Scope) -> Value:
    return SetValue(*_elements(interp, node.elts, scope))


def _dict(interp: Interpreter, node: ast.Dict, scope: Scope) -> Value:
    result = DictValue({})
    for key, value_node in zip(node.keys, node.values, strict=True):
        value = interp.evaluate(value_node, scope)
        if key is None:
            value = mapped(value)
            if isinstance(value, DictValue):
                sizes.charge(interp, len(value.items))
                containers.merge(result, value)
            else:
                containers.merge(result, DictValue({}, True, rest=unread_rest(value)))
            continue
        containers.put(result, interp.evaluate(key, scope), value)
    return result


def _lambda(interp: Interpreter, node: ast.Lambda, scope: Scope) -> Value:
    defaults = decorators.defaults_of(interp, node, scope)
    return FunctionValue(node, scope, "<lambda>", marks=frozenset({"lambda"}), defaults=defaults)


def _joined(interp: Interpreter, node: ast.JoinedStr, scope: Scope) -> Value:
    parts: list[str] = []
    known = True
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
            continue
        assert isinstance(value, ast.FormattedValue)
        text = constant(texts.formatted(interp, value, scope))
        if isinstance(text, Value):
            known = False
        else:
            parts.append(str(text))
    if known:
        return operations.joined_text("", parts)
    return Unknown(placed(node), "str")


# What each kind of comprehension makes of its items.
MADE: dict[type[ast.expr], type[ListValue] | type[SetValue]] = {
    ast.ListComp: ListValue,
    ast.SetComp: SetValue,
    ast.GeneratorExp: IteratorValue,
}


def _comprehension(interp: Interpreter, node: ast.expr, scope: Scope) -> Value:
    assert isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
    items: list[Value] = []
    inner = Scope(scope.module, {}, scope, scope.function)
    is_open = _generate(
        interp, node.generators, inner, lambda: items.append(interp.evaluate(node.elt, inner))
    )
    return MADE[type(node)](items, is_open)


def _dict_comprehension(interp: Interpreter, node: ast.DictComp, scope: Scope) -> Value:
    result = DictValue({})
    inner = Scope(scope.module, {}, scope, scope.function)

    def add() -> None:
        containers.put(result, interp.evaluate(node.key, inner), interp.evaluate(node.value, inner))

    result.open = _generate(interp, node.generators, inner, add) or result.open
    return result


def _generate(
    interp: Interpreter, generators: list[ast.comprehension], scope: Scope, add: Callable[[], None]
) -> bool:
    """Run a comprehension's loops; True when the number of its items is open."""
    first, rest = generators[0], generators[1:]
    items, is_open = consume(interp, interp.evaluate(first.iter, scope))
    with interp.looping(len(items), is_open=is_open):
        for item in items:
            assignments.assign(interp, first.target, item, scope)
            verdicts = [_filter(interp, test, scope) for test in first.ifs]
            is_open = is_open or None in verdicts
            if False in verdicts:
                continue
            if rest:
                is_open = _generate(interp, rest, scope, add) or is_open
            else:
                add()
    return is_open


def _filter(interp: Interpreter, test: ast.expr, scope: Scope) -> bool | None:
    value = interp.settled(interp.evaluate(test, scope))
    if isinstance(value, Unknown) and value.default is None:
        return None
    return interp.truth(value, test)


def _named(interp: Interpreter, node: ast.NamedExpr, scope: Scope) -> Value:
    value = interp.evaluate(node.value, scope)
    assignments.assign(interp, node.target, value, scope)
    return value


def _starred(interp: Interpreter, node: ast.Starred, scope: Scope) -> Value:
    return interp.evaluate(node.value, scope)


def _yield(interp: Interpreter, node: ast.expr, scope: Scope) -> Value:
    assert isinstance(node, (ast.Yield, ast.YieldFrom))
    value = NONE if node.value is None else interp.evaluate(node.value, scope)
    if isinstance(scope.yielded, Suspended):
        scope.yielded.enter(value)
    elif scope.yielded is not None:
        items, is_open = iterate(interp, value) if isinstance(node, ast.YieldFrom) else ([value], False)
        scope.yielded.items.extend(items)
        scope.yielded.open = scope.yielded.open or is_open or interp.open_loops > 0 or interp.branches > 0
    return Unknown()


def _await(interp: Interpreter, node: ast.Await, scope: Scope) -> Value:
    interp.evaluate(node.value, scope)
    return Unknown()


HANDLERS: dict[type[ast.expr], Handler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Await: _await,
}
