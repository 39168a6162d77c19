"""Python's builtins and the parts of the standard library that models use."""

from __future__ import annotations

import ast
import keyword
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tsguard.analysis.python import (
    classes,
    enumerations,
    metaclasses,
    operations,
    records,
    sizes,
    surroundings,
    texts,
    type_tests,
)
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.copies import Copying
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.terms import IsInstance, placed
from tsguard.analysis.values import (
    FALSE,
    NONE,
    SOURCELESS,
    Atom,
    ClassMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    Partial,
    RangeValue,
    Scope,
    SetValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    by_name,
    constant,
    is_none,
    plain,
)

Args = list[Value]
Kwargs = dict[str, Value]
Handler = Callable[["Interpreter", Args, Kwargs, "ast.AST | None"], Value]


def _computed(name: str, function: Callable[..., Any], hint: str) -> Handler:
    """A builtin that is computed on constants and named on unknowns."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        settled = [plain(interp.settled(a)) for a in args]
        if settled and not kwargs and all(isinstance(a, Const) for a in settled):
            return _result(interp, function, [constant(a) for a in settled], node)
        if any(isinstance(a, TensorValue) for a in settled):
            return TensorValue() if hint == "" else Unknown(placed(node), hint)
        defaults = [operations.default_of(a) for a in settled]
        default = None
        if defaults and all(isinstance(d, Const) for d in defaults):
            try:
                default = Const(sizes.checked(function(*[constant(d) for d in defaults if d is not None])))
            except Exception:
                default = None
        result_hint = hint or next((operations.hint_of(a) for a in settled if operations.hint_of(a)), "")
        return Unknown(operations.called(name, settled, node), result_hint, default)

    return run


def _str(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    shown = [texts.shown(interp, interp.settled(a)) for a in args]
    return _computed("str", str, "str")(interp, shown, kwargs, node)


def _round(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    to_digits = len(args) > 1 or bool(kwargs)
    return _computed("round", round, "float" if to_digits else "int")(interp, args, kwargs, node)


def _result(
    interp: Interpreter, function: Callable[..., Any], values: list[Any], node: ast.AST | None
) -> Value:
    try:
        result = sizes.checked(function(*values))
    except sizes.Huge:
        return Unknown()
    except Exception as error:
        raise interp.raise_(type(error).__name__, node) from None
    return TupleValue(tuple(Const(r) for r in result)) if isinstance(result, tuple) else Const(result)


def _extreme(name: str, function: Callable[..., Any]) -> Handler:
    of_several = _computed(name, function, "")

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        if len(args) == 1:
            items, is_open = iterate(interp, args[0])
            items = [plain(i) for i in items]
            if items and not is_open and all(isinstance(i, Const) for i in items) and not kwargs:
                return _result(interp, function, [[constant(i) for i in items]], node)
            return items[0] if len(items) == 1 and not is_open else Unknown(placed(node))
        return of_several(interp, args, kwargs, node)

    return run


def _len(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    value = plain(interp.settled(args[0])) if args else NONE
    if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
        return Const(len(value.value))
    if isinstance(value, ClassValue):
        return Const(len(iterate(interp, value)[0]))
    if isinstance(value, ModuleValue) and not value.open:
        return Const(len(value.children) or len(value.parameters))
    if isinstance(value, (ListValue, TupleValue, DictValue, SetValue)) and not value.open:
        return Const(len(value.items))
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
        items, is_open = iterate(interp, value)
        return kind(items, is_open)

    return run


def _tuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if not args:
        return TupleValue(())
    value = interp.settled(args[0])
    if isinstance(value, Unknown) and value.default is None:
        return Unknown(operations.called("tuple", [value], node), "tuple")
    items, is_open = iterate(interp, value)
    return TupleValue(tuple(items), is_open)


def _dict(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    result = DictValue({})
    if args:
        value = interp.settled(args[0])
        if isinstance(value, DictValue):
            result.items.update(value.items)
            result.open = value.open
        else:
            items, result.open = iterate(interp, value)
            for item in items:
                if isinstance(item, (TupleValue, ListValue)) and len(item.items) == 2:
                    key = constant(item.items[0])
                    result.items[key] = item.items[1]
                else:
                    result.open = True
    result.items.update(kwargs)
    return result


def _zip(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    columns = [iterate(interp, a) for a in args]
    closed = [len(items) for items, is_open in columns if not is_open]
    count = min(closed) if closed else max((len(items) for items, _ in columns), default=0)
    rows: list[Value] = []
    for i in range(count):
        rows.append(
            TupleValue(tuple(items[min(i, len(items) - 1)] if items else Unknown() for items, _ in columns))
        )
    return ListValue(rows, not closed and bool(columns))


def _enumerate(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[0]) if args else ([], False)
    start = constant(args[1] if len(args) > 1 else kwargs.get("start", Const(0)))
    first = start if isinstance(start, int) else 0
    rows: list[Value] = [TupleValue((Const(first + i), item)) for i, item in enumerate(items)]
    return ListValue(rows, is_open)


def _reordered(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[0]) if args else ([], False)
    return ListValue(items[::-1], is_open)


def _sorted(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[0]) if args else ([], False)
    if all(isinstance(plain(i), Const) for i in items) and not kwargs:
        try:
            return ListValue(sorted(items, key=constant), is_open)  # type: ignore[arg-type]
        except TypeError:
            pass
    return ListValue(items, is_open)


def _map(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) < 2:
        return Unknown()
    rows = _zip(interp, args[1:], {}, node)
    assert isinstance(rows, ListValue)
    results = [
        interp.call(args[0], list(row.items), {}, node) for row in rows.items if isinstance(row, TupleValue)
    ]
    return ListValue(results, rows.open)


def _filter(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[1]) if len(args) > 1 else ([], True)
    if is_none(args[0]):
        return ListValue([i for i in items if not is_none(i)], is_open)
    return ListValue(items, True)


def _sum(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items, is_open = iterate(interp, args[0]) if args else ([], True)
    total: Value = args[1] if len(args) > 1 else Const(0)
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
    try:
        return interp.attribute(owner, name)
    except Raised:
        return None


def _getattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(interp.settled(args[1])) if len(args) > 1 else None
    if not isinstance(name, str):
        hinted = args[1].default if len(args) > 1 and isinstance(args[1], Unknown) else None
        name = constant(hinted) if hinted is not None else None
        if not isinstance(name, str):
            return Unknown(operations.called("getattr", args[:2], node))
    found = _attribute_or_none(interp, args[0], name)
    if found is not None:
        return found
    if len(args) > 2:
        return args[2]
    raise interp.raise_("AttributeError", node)


def _setattr(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) == 3:
        name = constant(interp.settled(args[1]))
        owner = interp.settled(args[0])
        if isinstance(name, str):
            interp.set_attribute(owner, name, args[2])
        elif isinstance(owner, ObjectValue):
            owner.open = True
            if isinstance(owner, ModuleValue) and isinstance(args[2], ModuleValue):
                owner.children[f"?{len(owner.children)}"] = args[2]
    return NONE


def _type(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
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


def _partial(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return Partial(args[0], tuple(args[1:]), dict(kwargs)) if args else Unknown()


def _wraps(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return Partial(External("functools.update_wrapper"), (), {"wrapped": args[0]}) if args else Unknown()


def _update_wrapper(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    wrapper = args[0] if args else Unknown()
    wrapped = kwargs.get("wrapped", args[1] if len(args) > 1 else None)
    if isinstance(wrapper, FunctionValue) and isinstance(wrapped, FunctionValue):
        if not _wraps_already(wrapped, wrapper):
            wrapper.wrapped = wrapped
        wrapper.marks = wrapper.marks | wrapped.marks
    return wrapper


def _wraps_already(outer: FunctionValue | None, inner: FunctionValue) -> bool:
    """Whether one function is the other or wraps it: the other way round would be a circle.

    A function that torch.compile was given stands for its result too, and is wrapped in itself.
    """
    while outer is not None and outer is not inner:
        outer = outer.wrapped
    return outer is not None


def _cached(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``lru_cache(function)``; of a size alone, what does this to a function."""
    if not args or not isinstance(args[0], FunctionValue):
        return External("functools.cache")
    return replace(args[0], marks=args[0].marks | {"cached"})


def _reduce(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if len(args) < 2:
        return Unknown()
    items, is_open = iterate(interp, args[1])
    if is_open or not items:
        return args[2] if len(args) > 2 and not items else Unknown(placed(node))
    result = args[2] if len(args) > 2 else items.pop(0)
    for item in items:
        result = interp.call(args[0], [result, item], {}, node)
    return result


def _copied(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if not args:
        return Unknown()
    copying = Copying()
    twin = copying.copy(args[0])
    interp.spend(copying.values)
    return twin


def _namedtuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    name = constant(args[0]) if args else None
    names = list(_named_values(args[1:2]))
    if not isinstance(name, str) or not names:
        return Unknown()
    cls = _called_class(name, "builtins.tuple", frozenset({"collections.namedtuple"}))
    cls.annotations = {field: ast.Name("Tensor") for field in names}
    return cls


def _typed_namedtuple(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``NamedTuple("Pair", [("left", int), ("right", Tensor)])``."""
    name = constant(args[0]) if args else None
    rows = args[1].items if len(args) == 2 and isinstance(args[1], ListValue) else []
    fields = [row.items for row in rows if isinstance(row, TupleValue) and len(row.items) == 2]
    if not isinstance(name, str) or not fields or len(fields) != len(rows) or kwargs:
        return Unknown()
    cls = _called_class(name, "typing.NamedTuple", frozenset({"evaluated annotations"}))
    cls.scope = Scope(SOURCELESS.module)
    written = node.args[1].elts if isinstance(node, ast.Call) and isinstance(node.args[1], ast.List) else []
    for index, (field, type_) in enumerate(fields):
        row = written[index] if index < len(written) else None
        is_plain = isinstance(row, ast.Tuple) and isinstance(row.elts[1], (ast.Name, ast.Attribute))
        cls.annotations[str(constant(field))] = ast.Name(f"type of {constant(field)}")
        cls.scope.names[f"type of {constant(field)}"] = type_ if is_plain else Unknown()
    return cls


def _enumeration(base: str) -> Handler:
    """``Enum("Kind", "first second")``; with one argument, as for a member's value, nothing is told."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        name = constant(args[0]) if args else None
        values = _named_values([*args[1:2], *(kwargs[k] for k in kwargs if k == "names")])
        if not isinstance(name, str) or not values or len(args) > 2 or set(kwargs) - {"names", "module"}:
            return Unknown()
        cls = _called_class(name, base, frozenset())
        is_text = base == "enum.StrEnum"
        for label, value in values.items():
            cls.members[label] = Const(label.lower()) if is_text and isinstance(value.value, int) else value
        enumerations.make_members(interp, cls, classes.mro(interp, cls))
        return cls

    return run


def _named_values(given: list[Value]) -> dict[str, Const]:
    """The names in a text, a list or a dict, numbered from one where they come without values."""
    if not given:
        return {}
    names = constant(given[0])
    if isinstance(names, str):
        return {name: Const(i) for i, name in enumerate(names.replace(",", " ").split(), 1)}
    if isinstance(given[0], (ListValue, TupleValue)):
        return {str(constant(item)): Const(i) for i, item in enumerate(given[0].items, 1)}
    if isinstance(given[0], DictValue):
        return {str(k): v for k, v in given[0].items.items() if isinstance(v, Const)}
    return {}


def _called_class(name: str, base: str, marks: frozenset[str]) -> ClassValue:
    """A class that a call makes, so that it stands in no module."""
    return ClassValue(ast.ClassDef(name, [], [], [], []), SOURCELESS, name, (External(base),), marks=marks)


def _chain(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items: list[Value] = []
    is_open = False
    for arg in args:
        more, more_open = iterate(interp, arg)
        items.extend(more)
        is_open = is_open or more_open
    return ListValue(items, is_open)


def _repeat(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    count = constant(args[1]) if len(args) > 1 else None
    if isinstance(count, int) and 0 <= count <= 256:
        return ListValue([args[0]] * count)
    return ListValue(args[:1], True)


def _slice(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    padded = [NONE, *args, NONE] if len(args) == 1 else [*args, *[NONE] * (3 - len(args))]
    return SliceValue(*padded[:3])


def _constant(value: Value) -> Handler:
    return lambda interp, args, kwargs, node: value


def _globals(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return DictValue({}, open=True)


def _vars(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``vars(x)``: what an object holds, the names of a module that is read, the public ones of one of torch's."""
    owner = interp.settled(args[0]) if args else Unknown()
    if isinstance(owner, ModuleReference):
        module = owner.module
        held = {name: interp.attribute(owner, name) for name in module.bindings}
        is_open = bool(module.star_imports) or module.lazy is not None
        return by_name({name: value for name, value in held.items() if value is not None}, is_open)
    if isinstance(owner, (ObjectValue, ClassValue)):
        found = interp.attribute(owner, "__dict__")
        return found if found is not None else DictValue({}, open=True)
    name = interp.tables.canonical(owner.name) if isinstance(owner, External) else ""
    if name not in interp.tables.listed_modules:
        return DictValue({}, open=True)
    members = [full.rpartition(".") for full in interp.tables.names if full.startswith(f"{name}.")]
    named = {short: interp.attribute(owner, short) for module, _, short in members if module == name}
    return by_name({short: value for short, value in named.items() if value is not None})


def _import_module(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """A module by its name, as far as it is told; one that is not found is not said to be absent."""
    name = constant(interp.settled(args[0])) if args else None
    package = constant(interp.settled(args[1] if len(args) > 1 else kwargs.get("package", NONE)))
    if not isinstance(name, str):
        return Unknown()
    if name.startswith("."):
        kept = package.split(".") if isinstance(package, str) else []
        ups = len(name) - len(name.lstrip(".")) - 1
        name = ".".join([*kept[: len(kept) - ups], *filter(None, [name.lstrip(".")])]) if kept else ""
    finder = interp.program.project.finder
    if finder.is_described(name):
        return External(name)
    found = finder.named(name)
    return ModuleReference(found) if found is not None else Unknown()


def _imported(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``__import__``, which returns the package that a dotted name begins with."""
    name = constant(interp.settled(args[0])) if len(args) == 1 and not kwargs else None
    if not isinstance(name, str):
        return Unknown()
    return _import_module(interp, [Const(name.partition(".")[0])], {}, node)


def _next(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """The first item of a generator expression, which nobody else takes items from; of none the default."""
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if not args or not isinstance(args[0], ListValue) or args[0].open:
        return Unknown()
    if not isinstance(first, ast.GeneratorExp) and (args[0].items or len(args) == 1):
        return Unknown()
    if args[0].items:
        return args[0].items[0]
    if len(args) > 1:
        return args[1]
    raise interp.raise_("StopIteration", node)


def _copied_function(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``types.FunctionType(function.__code__, ...)``: a function that does the same."""
    code = args[0].attributes.get("function") if args and isinstance(args[0], ObjectValue) else None
    if not isinstance(code, FunctionValue):
        return Unknown()
    return FunctionValue(code.node, code.scope, code.name, code.owner, code.marks, code.wrapped, code.behind)


def _namespace(name: str) -> Handler:
    def namespace(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        """An object whose attributes are the arguments; what a mapping gives it is open."""
        return ObjectValue(External(name), dict(kwargs), open=bool(args))

    return namespace


def _object(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return ObjectValue(External("builtins.object"))


def _cast(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return args[1] if len(args) > 1 else Unknown()


def _field(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if "default" in kwargs:
        return kwargs["default"]
    if "default_factory" in kwargs:
        return interp.call(kwargs["default_factory"], [], {}, node)
    return Unknown()


def _device(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return Atom("device", str(constant(args[0])) if args and isinstance(args[0], Const) else "")


_MATH_HINTS = {
    "floor": "int",
    "ceil": "int",
    "gcd": "int",
    "factorial": "int",
    "isqrt": "int",
    "comb": "int",
    "prod": "",
}
_GROWING = frozenset({"factorial", "comb", "perm"})


def math_call(interp: Interpreter, name: str, args: Args, node: ast.AST | None) -> Value:
    """A function of the math module."""
    function = getattr(math, name, None)
    if function is None:
        return Unknown()
    if name in _GROWING:
        function = sizes.combined(function)
    if name == "prod" and args:
        items, is_open = iterate(interp, args[0])
        if is_open or not all(isinstance(i, Const) for i in items):
            return Unknown(placed(node), "int")
        return _result(interp, math.prod, [[constant(i) for i in items]], node)
    return _computed(f"math.{name}", function, _MATH_HINTS.get(name, "float"))(interp, args, {}, node)


def _made_by_type(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    if not args or not isinstance(args[0], ClassValue):
        return Unknown(placed(node))
    return interp.instantiate(args[0], args[1:], kwargs, node)


def _bare(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return metaclasses.bare(interp, args[0]) if args else NONE


def _frame(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """A frame gives its variables, ``self`` among them, to who asks for it."""
    interp.frames_read += 1
    return Unknown()


HANDLERS: dict[str, Handler] = {
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.list": _sequence(ListValue),
    "builtins.set": _sequence(SetValue),
    "builtins.frozenset": _sequence(SetValue),
    "builtins.iter": _sequence(ListValue),
    "builtins.tuple": _tuple,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _globals,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.reversed": _reordered,
    "builtins.sorted": _sorted,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.sum": _sum,
    "builtins.all": _quantified(True),
    "builtins.any": _quantified(False),
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _issubclass,
    "builtins.hasattr": _hasattr,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.type": _type,
    "builtins.type.__call__": _made_by_type,
    "builtins.object.__new__": _bare,
    "builtins.callable": _callable,
    "builtins.slice": _slice,
    "builtins.print": _constant(NONE),
    "builtins.globals": _globals,
    "builtins.locals": _globals,
    "builtins.vars": _vars,
    "builtins.int": _computed("int", int, "int"),
    "builtins.float": _computed("float", float, "float"),
    "builtins.bool": _computed("bool", bool, "bool"),
    "builtins.str": _str,
    "keyword.iskeyword": _computed("iskeyword", keyword.iskeyword, "bool"),
    "builtins.abs": _computed("abs", abs, ""),
    "builtins.round": _round,
    "builtins.pow": _computed("pow", sizes.power, ""),
    "builtins.divmod": _computed("divmod", divmod, ""),
    "builtins.min": _extreme("min", min),
    "builtins.max": _extreme("max", max),
    "functools.partial": _partial,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "functools.reduce": _reduce,
    "functools.lru_cache": _cached,
    "functools.cache": _cached,
    "copy.deepcopy": _copied,
    "copy.copy": _copied,
    "collections.namedtuple": _namedtuple,
    "typing.NamedTuple": _typed_namedtuple,
    "enum.Enum": _enumeration("enum.Enum"),
    "enum.IntEnum": _enumeration("enum.IntEnum"),
    "enum.StrEnum": _enumeration("enum.StrEnum"),
    "itertools.chain": _chain,
    "itertools.repeat": _repeat,
    "importlib.import_module": _import_module,
    "builtins.__import__": _imported,
    "builtins.next": _next,
    "builtins.object": _object,
    "builtins.classmethod": lambda interp, args, kwargs, node: ClassMethod(args[0]) if args else Unknown(),
    "types.FunctionType": _copied_function,
    "types.SimpleNamespace": _namespace("types.SimpleNamespace"),
    "argparse.Namespace": _namespace("argparse.Namespace"),
    "typing.cast": _cast,
    "dataclasses.dataclass": records.make,
    "dataclasses.field": _field,
    "dataclasses.fields": records.fields,
    "warnings.warn": _constant(NONE),
    "torch.device": _device,
    "os.getenv": surroundings.variable,
    "os.environ.get": surroundings.variable,
    "sys._getframe": _frame,
    "inspect.currentframe": _frame,
    "inspect.stack": _frame,
}
