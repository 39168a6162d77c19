"""Calls of what is not read: Python's builtins, the standard library, torch."""

from __future__ import annotations

import ast
import builtins

from tsguard.analysis.python import (
    builtin_calls,
    computed_calls,
    introspection,
    mappings,
    methods,
    numpy_arrays,
    pytrees,
    regular_expressions,
    torch_calls,
)
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import NONE, ClassValue, External, ObjectValue, Unknown, Value

_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)


def call(
    interp: Interpreter, function: External, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The result of calling something by its qualified name."""
    handler = builtin_calls.HANDLERS.get(function.name)
    if handler is not None:
        return handler(interp, args, kwargs, node)
    head, _, short = function.name.partition(".")
    if function.name == "builtins.object.__setattr__" and args:
        return call_inherited(interp, function.name, args[0], args[1:], kwargs)
    if head == "builtins" and "." in short and args:
        return call_method(interp, short.rpartition(".")[2], args[0], args[1:], kwargs, node)
    if head == "builtins" and short in _EXCEPTIONS:
        return ObjectValue(function, {}, open=True)
    of_trees = pytrees.call(interp, function.name, args, kwargs, node)
    if of_trees is not None:
        return of_trees
    if head == "torch":
        return torch_calls.call(interp, function, args, kwargs, node)
    if head == "math":
        return computed_calls.math_call(interp, short, args, kwargs, node)
    if head == "inspect":
        return introspection.call(interp, short, args)
    if head == "re":
        return regular_expressions.call(interp, short, args, kwargs)
    if head == "numpy":
        return numpy_arrays.call(function, args, kwargs)
    made = _MAKERS.get(function.name, function.name)
    if made in _CLASSES or made.rpartition(".")[2][:1].isupper():
        return ObjectValue(External(made), {}, open=True)
    return Unknown(None, _SIMPLE.get(function.name, ""))


# Functions of the standard library that return a number or a text, whatever they are given.
_SIMPLE = {
    "builtins.hash": "int",
    "builtins.id": "int",
    "os.cpu_count": "int",
    "os.getcwd": "str",
    "os.getpid": "int",
    "time.monotonic": "float",
    "time.perf_counter": "float",
    "time.process_time": "float",
    "time.time": "float",
}
# Functions of the standard library that return an object of a class.
_MAKERS = {"logging.getLogger": "logging.Logger"}
# Classes of the standard library whose names are not those of classes.
_CLASSES = frozenset(
    f"{module}.{name}"
    for module, names in {
        "array": "array",
        "builtins": "bytearray memoryview object property",
        "collections": "deque",
        "contextlib": "aclosing closing nullcontext redirect_stderr redirect_stdout suppress",
        "datetime": "date datetime time timedelta timezone",
        "functools": "cached_property partialmethod singledispatchmethod",
        "itertools": "accumulate combinations combinations_with_replacement compress count cycle dropwhile"
        " filterfalse groupby islice pairwise permutations product starmap takewhile zip_longest",
        "mmap": "mmap",
        "operator": "attrgetter itemgetter methodcaller",
        "socket": "socket",
        "threading": "local",
        "warnings": "catch_warnings",
        "weakref": "finalize ref",
    }.items()
    for name in names.split()
)


def call_method(
    interp: Interpreter,
    name: str,
    receiver: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """The result of a method of a plain value: a list's, a string's, a tensor's."""
    result = methods.call(interp, name, receiver, args, kwargs, node)
    interp.program.shared_state.used(receiver, interp.is_defining)
    return result


def call_inherited(
    interp: Interpreter, name: str, receiver: Value, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A method that an object has from a class that is not read: ``object.__init__``."""
    held = mappings.call(interp, name, receiver, args, kwargs)
    if held is not None:
        return held
    computed = regular_expressions.call_method(interp, name, receiver, args) if not kwargs else None
    if computed is not None:
        return computed
    if name == "builtins.type.__call__":
        return call(interp, External(name), [receiver, *args], kwargs, None)
    if name == "builtins.type.__subclasses__" and isinstance(receiver, ClassValue):
        return introspection.subclasses(interp, receiver)
    if name.endswith((".__init__", ".__init_subclass__")):
        if isinstance(receiver, ObjectValue) and not name.startswith("builtins.object"):
            receiver.open = True
        return NONE
    key = getattr(args[0], "value", None) if args and isinstance(receiver, ObjectValue) else None
    if name.endswith(".__setattr__") and len(args) == 2 and isinstance(receiver, ObjectValue):
        if isinstance(key, str):
            interp.keep(receiver, key, args[1])
            return NONE
        return builtin_calls.HANDLERS["builtins.setattr"](interp, [receiver, *args], {}, None)
    if name.endswith(".__getattribute__") and isinstance(key, str):
        found = interp.attribute(receiver, key)
        if found is not None:
            return found
    return Unknown()
