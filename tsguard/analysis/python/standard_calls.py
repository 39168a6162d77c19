"""The parts of the standard library that models use."""

from __future__ import annotations

import ast
import keyword
import posixpath
import urllib.parse
from collections.abc import Callable
from typing import Any

from tsguard.analysis.python import (
    operations,
    records,
    surroundings,
)
from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs, always, computed
from tsguard.analysis.python.containers import put
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.copies import Copying, shallow
from tsguard.analysis.python.iteration import consume, iterate
from tsguard.analysis.python.written_out import evaluated
from tsguard.analysis.terms import Attribute, placed
from tsguard.analysis.values import (
    NONE,
    Atom,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleReference,
    ObjectValue,
    Partial,
    TupleValue,
    Unknown,
    Value,
    constant,
    is_none,
    mapped,
)
from tsguard.report.records import replace


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


def _copied_as_it_is(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    return shallow(interp.settled(args[0])) if args else Unknown()


def _chain(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    items: list[Value] = []
    is_open = False
    for arg in args:
        more, more_open = iterate(interp, arg)
        items.extend(more)
        is_open = is_open or more_open
    return ListValue(items, is_open)


def _from_keys(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``dict.fromkeys(keys, value)``."""
    items, is_open = iterate(interp, args[0]) if args else ([], True)
    result, value = DictValue({}, is_open), args[1] if len(args) > 1 else kwargs.get("value", NONE)
    for item in items:
        put(result, item, value)
    return result


def _repeat(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    count = constant(args[1]) if len(args) > 1 else None
    if isinstance(count, int) and 0 <= count <= 256:
        return ListValue([args[0]] * count)
    return ListValue(args[:1], True)


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


def _frame(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """A frame gives its variables, ``self`` among them, to who asks for it."""
    interp.frames_read += 1
    return Unknown()


def _imported(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``__import__``, which returns the package that a dotted name begins with."""
    name = constant(interp.settled(args[0])) if len(args) == 1 and not kwargs else None
    if not isinstance(name, str):
        return Unknown()
    return _import_module(interp, [Const(name.partition(".")[0])], {}, node)


# The functions of ``operator`` that are written as signs.
OPERATORS: dict[str, type[ast.operator]] = {
    f"operator.{name}": op
    for name, op in {
        "add": ast.Add,
        "floordiv": ast.FloorDiv,
        "matmul": ast.MatMult,
        "mod": ast.Mod,
        "mul": ast.Mult,
        "pow": ast.Pow,
        "sub": ast.Sub,
        "truediv": ast.Div,
    }.items()
}


def _getter(name: str) -> Handler:
    """``itemgetter(key)``, ``attrgetter(name)``: a function of what it is asked of."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        return Partial(External(f"{name}.__call__"), tuple(args), {})

    return run


def _method_caller(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``methodcaller(name, ...)``: a function that calls a method of what it is given."""
    return Partial(External("operator.methodcaller.__call__"), tuple(args), kwargs)


def _called_method(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``methodcaller(name, ...)(owner)``."""
    named, *given, owner = args
    name = constant(named)
    if not isinstance(name, str) or not name.isidentifier():
        return Unknown(placed(node))
    method = evaluated(interp, f"owner.{name}", {"owner": owner}, node)
    return interp.call(method, given, kwargs, node)


def _got_item(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``itemgetter(*keys)(owner)``."""
    *keys, owner = args
    found = [evaluated(interp, "owner[key]", {"owner": owner, "key": key}, node) for key in keys]
    return found[0] if len(found) == 1 else TupleValue(tuple(found))


def _got_attribute(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``attrgetter(*names)(owner)``."""
    *names, owner = args
    found = []
    for name in map(constant, names):
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            return Unknown(placed(node))
        found.append(evaluated(interp, f"owner.{name}", {"owner": owner}, node))
    return found[0] if len(found) == 1 else TupleValue(tuple(found))


def _table_with_default(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``defaultdict(factory)``: what it lacks is made when it is asked for."""
    filled = interp.call(External("builtins.dict"), args[1:], kwargs, node)
    assert isinstance(filled, DictValue)
    filled.factory = args[0] if args and not is_none(args[0]) else None
    return filled


def _counted(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
    """``Counter(items)``: a dict of numbers, 0 for what it lacks."""
    given = mapped(interp.settled(args[0])) if args else NONE
    if isinstance(given, DictValue) or is_none(given):
        counts = interp.call(External("builtins.dict"), [given] * isinstance(given, DictValue), kwargs, node)
        assert isinstance(counts, DictValue)
    else:
        items, is_open = consume(interp, given)
        told = [constant(item) for item in items]
        counts = DictValue({}, is_open or any(isinstance(item, Value) for item in told))
        for item in [] if counts.open else told:
            counts.items[item] = Const(told.count(item))
    counts.factory = External("builtins.int")
    return counts


# What the functions of os.path give that only look at a text.
_OF_PATHS = {
    **dict.fromkeys(("basename", "dirname", "join", "normpath"), "str"),
    **dict.fromkeys(("split", "splitext"), "tuple"),
}


def _split_address(function: Callable[[str], Any]) -> Handler:
    """``urlsplit(text)``: an object with the parts of an address, or of what is a plain name."""

    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        given = interp.settled(args[0]) if len(args) == 1 and not kwargs else NONE
        called = operations.called(function.__name__, args, node)
        text = constant(operations.default_of(given) or NONE)
        if not isinstance(text, str):
            return Unknown(called)
        try:
            found = function(text)
        except ValueError:
            raise Raised("ValueError", node) from None
        parts: dict[str, Value] = {name: Const(part) for name, part in found._asdict().items()}
        if not isinstance(given, Const) and called is not None:
            parts = {name: Unknown(Attribute(called, name), "str", part) for name, part in parts.items()}
        return ObjectValue(External(f"urllib.parse.{type(found).__name__}"), parts)

    return run


def _operator(op: type[ast.operator]) -> Handler:
    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        is_of_two = len(args) == 2
        return operations.binary(interp, op(), args[0], args[1], node) if is_of_two else Unknown(placed(node))

    return run


HANDLERS: dict[str, Handler] = {
    **{name: _operator(op) for name, op in OPERATORS.items()},
    "builtins.dict.fromkeys": _from_keys,
    "collections.OrderedDict.fromkeys": _from_keys,
    "collections.Counter": _counted,
    "collections.defaultdict": _table_with_default,
    **{f"os.path.{name}": computed(name, getattr(posixpath, name), hint) for name, hint in _OF_PATHS.items()},
    "urllib.parse.urlsplit": _split_address(urllib.parse.urlsplit),
    "urllib.parse.urlparse": _split_address(urllib.parse.urlparse),
    "keyword.iskeyword": computed("iskeyword", keyword.iskeyword, "bool"),
    "functools.partial": _partial,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "functools.reduce": _reduce,
    "functools.lru_cache": _cached,
    "functools.cache": _cached,
    "copy.deepcopy": _copied,
    "copy.copy": _copied_as_it_is,
    "operator.attrgetter": _getter("operator.attrgetter"),
    "operator.attrgetter.__call__": _got_attribute,
    "operator.itemgetter": _getter("operator.itemgetter"),
    "operator.itemgetter.__call__": _got_item,
    "operator.methodcaller": _method_caller,
    "operator.methodcaller.__call__": _called_method,
    "itertools.chain": _chain,
    "itertools.repeat": _repeat,
    "importlib.import_module": _import_module,
    "importlib.metadata.version": surroundings.version,
    "builtins.__import__": _imported,
    "types.FunctionType": _copied_function,
    "types.SimpleNamespace": _namespace("types.SimpleNamespace"),
    "argparse.Namespace": _namespace("argparse.Namespace"),
    "typing.cast": _cast,
    "dataclasses.dataclass": records.make,
    records.INITIALIZE: records.initialize,
    "dataclasses.field": _field,
    "dataclasses.asdict": records.as_dict,
    "dataclasses.fields": records.fields,
    "dataclasses.replace": records.replaced,
    "warnings.warn": always(NONE),
    "torch.device": _device,
    "os.getenv": surroundings.variable,
    "os.environ.get": surroundings.variable,
    "sys._getframe": _frame,
    "inspect.currentframe": _frame,
    "inspect.stack": _frame,
}
