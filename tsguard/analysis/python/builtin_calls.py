"""Python's builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from tsguard.analysis.python import (
    assignments,
    decorators,
    iterator_calls,
    iterator_tools,
    made_classes,
    metaclasses,
    operations,
    scalar_calls,
    sorting,
    spelled_calls,
    standard_calls,
    type_tests,
)
from tsguard.analysis.python.computed_calls import (
    Args,
    Handler,
    Kwargs,
    always,
    extreme,
    open_table,
)
from tsguard.analysis.python.containers import merge, put
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.iteration import consume, iterate, range_of
from tsguard.analysis.python.unread_mappings import (
    REST,
    STARS,
    keyed_by,
    likely,
    override,
    perhaps_absent,
    unread_rest,
)
from tsguard.analysis.terms import IsInstance, Parameter, placed, root
from tsguard.analysis.values import (
    FALSE,
    NONE,
    ClassValue,
    Const,
    DictValue,
    External,
    ListValue,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    RangeValue,
    SetValue,
    SliceValue,
    TupleValue,
    Unknown,
    Value,
    by_name,
    constant,
    is_none,
    mapped,
    plain,
)


def _len(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    value = plain(interp.settled(args[0])) if args else NONE
    if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
        return Const(len(value.value))
    if isinstance(value, ClassValue) and (members := iterate(interp, value)[0]):
        return Const(len(members))
    if isinstance(value, ModuleValue) and not value.open:
        return Const(len(value.children) or len(value.parameters))
    if isinstance(value, (ListValue, TupleValue, DictValue, SetValue)) and not value.open:
        return Const(len(value.items))
    if isinstance(value, RangeValue) and (numbers := range_of(value)) is not None:
        return Const(len(numbers))
    if isinstance(value, Unknown):
        default = _len(interp, [value.default], {}, None) if value.default is not None else None
        known = default if isinstance(default, Const) else None
        return Unknown(operations.called("len", [value], node), "int", known)
    if isinstance(value, ObjectValue) and not isinstance(value, ModuleValue):
        method = interp.attribute(value, "__len__")
        if method is not None and not isinstance(method, Unknown):
            return interp.call(method, [], {}, node)
    return Unknown(placed(node), "int")


def _range(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    settled = [plain(interp.settled(a)) for a in args]
    if len(settled) == 1:
        return RangeValue(Const(0), settled[0], Const(1))
    return RangeValue(*settled, *([Const(1)] * (3 - len(settled)))) if len(settled) in (2, 3) else Unknown()


def _sequence(kind: type[ListValue] | type[SetValue]) -> Handler:
    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        if not args:
            return kind([])
        value = interp.settled(args[0])
        if isinstance(value, Unknown) and value.default is None:
            return Unknown(operations.called(kind.__name__[:-5].lower(), [value], node), "list")
        items, is_open = consume(interp, value)
        return kind(items, is_open)

    return run


def _tuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if not args:
        return TupleValue(())
    value = interp.settled(args[0])
    if isinstance(value, Unknown) and value.default is None:
        return Unknown(operations.called("tuple", [value], node), "tuple")
    items, is_open = consume(interp, value)
    return TupleValue(tuple(items), is_open)


def _dict(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    result = DictValue({})
    if args:
        value = mapped(interp.settled(args[0]))
        if isinstance(value, DictValue):
            merge(result, value)
        else:
            items, result.open = consume(interp, value)
            result.rest = unread_rest(value)
            for item in items:
                if isinstance(item, (TupleValue, ListValue)) and len(item.items) == 2:
                    put(result, item.items[0], item.items[1])
                else:
                    result.open = True
    rest = unread_rest(kwargs.get(REST, NONE))
    named: dict[object, Value] = {name: value for name, value in kwargs.items() if name not in (REST, STARS)}
    merge(result, DictValue(named, rest is not None, rest=rest))
    return result


def _sorted(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], False)
    return ListValue(sorting.ordered(interp, items, kwargs) or sorting.unordered(items), is_open)


def _sum(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = consume(interp, args[0]) if args else ([], True)
    total: Value = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    if is_open:
        return Unknown(placed(node), operations.hint_of(items[0]) if items else "")
    for item in items:
        total = operations.binary(interp, ast.Add(), total, item, node)
    return total


def _quantified(is_all: bool) -> Handler:
    """``all`` and ``any``: decided by what is certain, else as ``and`` and ``or`` of what defaults decide."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        items, is_open = iterate(interp, args[0]) if args else ([], False)
        settled = [interp.settled(item) for item in items]
        pending = [item for item in settled if isinstance(item, Unknown)]
        certain = (operations.known_truth(item) for item in settled if not isinstance(item, Unknown))
        if any(answer is not is_all for answer in certain):
            return Const(not is_all)
        if is_open or any(item.default is None for item in pending):
            return Unknown(placed(node), "bool")
        return Const(is_all if all(interp.truth(item, node) is is_all for item in pending) else not is_all)

    return run


def _isinstance(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) != 2:
        return Unknown(placed(node), "bool")
    return type_tests.is_instance_call(interp, args[0], args[1], operations.combined(IsInstance, args, node))


def _issubclass(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    wanted = list(args[1].items) if len(args) > 1 and isinstance(args[1], TupleValue) else args[1:]
    answers = [type_tests.is_subclass(interp, interp.settled(args[0]), cls) for cls in wanted]
    if not answers or (None in answers and True not in answers):
        return Unknown(operations.called("issubclass", args, node), "bool")
    return Const(True in answers)


def _hasattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(interp.settled(args[1])) if len(args) > 1 else None
    if not isinstance(name, str):
        return Unknown(placed(node), "bool")
    found = _attribute_or_none(interp, args[0], name)
    if isinstance(found, Unknown) and not (found.hint or found.default):
        return Unknown(operations.called("hasattr", args, node), "bool")
    return Const(found is not None)


def _attribute_or_none(interp: Interpreter, owner: Value, name: str) -> Value | None:
    if isinstance(owner, External) and (owner.name, name) in interp.program.patches:
        return interp.program.patches[owner.name, name]
    if isinstance(owner, External) and _is_absent(interp, owner.name, name):
        return None
    is_plain = isinstance(owner, _PLAIN) or (type(owner) is TupleValue and owner.cls is None)
    kind = type_tests.type_of(interp, owner) if is_plain else None
    if isinstance(kind, External) and not hasattr(_builtin(kind.name.rpartition(".")[2]), name):
        return None
    try:
        return interp.attribute(owner, name)
    except Raised:
        return None


# Values that have the attributes of their types and no others.
_PLAIN = (Const, DictValue, ListValue, SetValue)


def _builtin(name: str) -> object:
    return getattr(builtins, name, None)  # of NoneType None itself


def _is_absent(interp: Interpreter, module: str, name: str) -> bool:
    """Whether the tables, which list all public names of a module of torch and those of nn.Module, have none of this name."""
    if module == "torch.nn.Module":
        return name not in interp.tables.module_members and not name.startswith("__")
    is_listed = module in interp.tables.listed_modules and not name.startswith("_")
    return is_listed and interp.tables.entry(f"{module}.{name}") is None


def _getattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(interp.settled(args[1])) if len(args) > 1 else None
    if not isinstance(name, str):
        hinted = args[1].default if len(args) > 1 and isinstance(args[1], Unknown) else None
        name = constant(hinted) if hinted is not None else None
        if not isinstance(name, str):
            return Unknown(operations.called("getattr", args[:2], node))
    found = _attribute_or_none(interp, args[0], name)
    if found is not None:
        is_given = isinstance(found, Unknown) and isinstance(root(found.term), Parameter)
        if not is_given or len(args) < 3:
            return found
        return perhaps_absent(found) if is_none(args[2]) else likely(interp, found, args[2])
    if len(args) > 2:
        return args[2]
    raise Raised("AttributeError", node)


def _setattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) == 3:
        name = constant(interp.settled(args[1]))
        owner = interp.settled(args[0])
        if isinstance(name, str):
            interp.set_attribute(owner, name, args[2])
        elif isinstance(owner, ObjectValue):
            owner.open = True
            override(owner.attributes, keyed_by(args[1]))
            if isinstance(owner, ModuleValue) and isinstance(args[2], ModuleValue):
                owner.children[f"?{len(owner.children)}"] = args[2]
    return NONE


def _delattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(interp.settled(args[1])) if len(args) == 2 else None
    if isinstance(name, str):
        assignments.delete_attribute(interp, interp.settled(args[0]), name)
    return NONE


def _type(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) > 1:
        return Unknown(placed(node))
    value = interp.settled(args[0]) if args else NONE
    found = type_tests.type_of(interp, value)
    return Unknown(operations.called("type", args[:1], node)) if found is None else found


def _callable(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    value = interp.settled(args[0]) if args else NONE
    if isinstance(value, Unknown):
        return Unknown(
            operations.called("callable", [value], node), "bool", FALSE if value.default is None else None
        )
    return Const(isinstance(value, operations.CALLABLES))


def _slice(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    padded = [NONE, *args, NONE] if len(args) == 1 else [*args, *[NONE] * (3 - len(args))]
    return SliceValue(*padded[:3])


def _vars(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``vars(x)``: what an object holds, the names of a module that is read, the public ones of one of torch's."""
    owner = interp.settled(args[0]) if args else Unknown()
    if isinstance(owner, ModuleReference):
        module = owner.module
        held = {name: interp.attribute(owner, name) for name in module.bindings}
        is_open = bool(module.star_imports) or module.lazy is not None
        table = by_name({name: value for name, value in held.items() if value is not None}, is_open)
        table.names_of = module if is_open else None
        return table
    if isinstance(owner, (ObjectValue, ClassValue)):
        found = interp.attribute(owner, "__dict__")
        return found if found is not None else DictValue({}, open=True)
    name = interp.tables.canonical(owner.name) if isinstance(owner, External) else ""
    if name not in interp.tables.listed_modules:
        return DictValue({}, open=True)
    members = [full.rpartition(".") for full in interp.tables.names if full.startswith(f"{name}.")]
    named = {short: interp.attribute(owner, short) for module, _, short in members if module == name}
    return by_name({short: value for short, value in named.items() if value is not None})


def _object(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return ObjectValue(External("builtins.object"))


def _made_by_type(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if not args or not isinstance(args[0], ClassValue):
        return Unknown(placed(node))
    return interp.instantiate(args[0], args[1:], kwargs, node)


def _bare(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return metaclasses.bare(interp, args[0]) if args else NONE


def _descriptor(make: Callable[[Value], Value]) -> Handler:
    """A decorator of the language that is called: ``build = staticmethod(build)``."""

    def handler(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        return make(args[0]) if len(args) == 1 and not kwargs else Unknown()

    return handler


HANDLERS: dict[str, Handler] = {
    **scalar_calls.HANDLERS,
    **made_classes.HANDLERS,
    **standard_calls.HANDLERS,
    **iterator_calls.HANDLERS,
    **iterator_tools.HANDLERS,
    **spelled_calls.HANDLERS,
    **{name: _descriptor(make) for name, make in decorators.DESCRIPTORS.items()},
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.list": _sequence(ListValue),
    "builtins.set": _sequence(SetValue),
    "builtins.frozenset": _sequence(SetValue),
    "builtins.tuple": _tuple,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "typing.OrderedDict": _dict,
    "builtins.sorted": _sorted,
    "builtins.sum": _sum,
    "builtins.all": _quantified(True),
    "builtins.any": _quantified(False),
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _issubclass,
    "builtins.hasattr": _hasattr,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.delattr": _delattr,
    "builtins.type": _type,
    "builtins.type.__call__": _made_by_type,
    "builtins.object.__new__": _bare,
    "builtins.callable": _callable,
    "builtins.slice": _slice,
    "builtins.print": always(NONE),
    "builtins.globals": open_table,
    "builtins.locals": open_table,
    "builtins.vars": _vars,
    "builtins.min": extreme("min", min),
    "builtins.max": extreme("max", max),
    "builtins.object": _object,
}
