"""Calls: functions run with bound arguments, classes construct, the rest by table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from tsguard.analysis import unread as unread_gaps
from tsguard.analysis.budgets import RECURSIONS
from tsguard.analysis.events import Gap
from tsguard.analysis.python import (
    ancestry,
    classes,
    constructions,
    enumerations,
    kept_calls,
    mappings,
    metaclasses,
    module_methods,
    natives,
    operations,
    package_calls,
    records,
    remembered_calls,
    silent_functions,
    usual_texts,
)
from tsguard.analysis.python.binding import bind
from tsguard.analysis.python.context import Interpreter, Raised, Return
from tsguard.analysis.python.endless import endless
from tsguard.analysis.python.unread_mappings import likely, perhaps_absent
from tsguard.analysis.terms import Attribute, Call, placed
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassValue,
    DictValue,
    External,
    FunctionValue,
    IteratorValue,
    ModuleValue,
    ObjectValue,
    Partial,
    Scope,
    StaticMethod,
    Unknown,
    Value,
    is_none,
)


def call(
    interp: Interpreter, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The result of calling a value."""
    if isinstance(function, Unknown):
        function = interp.settled(function)
    if isinstance(function, FunctionValue):
        return call_function(interp, function, args, kwargs, node)
    if isinstance(function, BoundMethod):
        return _call_bound(interp, function, args, kwargs, node)
    if isinstance(function, ClassValue):
        return construct(interp, function, args, kwargs, node)
    if isinstance(function, External):
        return natives.call(interp, function, args, kwargs, node)
    if isinstance(function, Partial):
        return interp.call(function.function, [*function.args, *args], {**function.kwargs, **kwargs}, node)
    if isinstance(function, StaticMethod):
        return interp.call(function.function, args, kwargs, node)
    if isinstance(function, ModuleValue):
        return interp.forward(function, args, kwargs, node)
    if isinstance(function, ObjectValue):
        method = interp.attribute(function, "__call__")
        if method is not None and not isinstance(method, Unknown):
            return interp.call(method, args, kwargs, node)
    if is_none(function):
        raise Raised("TypeError", node)
    result = _call_unknown(function, args, kwargs, node)
    return _looked_up(interp, function, args, result)


def _looked_up(interp: Interpreter, function: Value, args: list[Value], result: Value) -> Value:
    """What a call gives that is ``get`` or ``pop`` of what may be a mapping: mostly what it names itself."""
    term = function.term if isinstance(function, Unknown) else None
    if not isinstance(term, Attribute) or term.name not in ("get", "pop"):
        return result
    if (len(args) == 1 and term.name == "get") or (len(args) == 2 and is_none(args[1])):
        return perhaps_absent(result)
    return likely(interp, result, args[1]) if len(args) == 2 else result


def _call_unknown(
    function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Unknown:
    """The result of calling what is not known; what was not read may have set attributes of a module."""
    unread = function.unread if isinstance(function, Unknown) else None
    for given in (*args, *kwargs.values()):
        if unread is not None and isinstance(given, ModuleValue):
            given.open = True
    if kwargs:
        return Unknown(placed(node), unread=unread)
    term = operations.combined(lambda *terms: Call(terms[0], terms[1:]), [function, *args], node)
    return Unknown(term, default=usual_texts.result(operations.default_of(function), args), unread=unread)


def _call_bound(
    interp: Interpreter, bound: BoundMethod, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    function = bound.function
    if isinstance(function, External):
        if function.name.startswith("method."):
            return natives.call_method(interp, function.name[7:], bound.receiver, args, kwargs, node)
        if isinstance(bound.receiver, ModuleValue):
            return interp.module_method(function.name, bound.receiver, args, kwargs, node)
        return natives.call_inherited(interp, function.name, bound.receiver, args, kwargs)
    return interp.call(function, [bound.receiver, *args], kwargs, node)


def call_function(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """Run a function's body with its parameters bound."""
    if interp.program.is_generator(function) and not _is_run_through(function):
        return Partial(MANAGER, (function, *args), kwargs) if interp.is_plain else Unknown(placed(node))
    if silent_functions.is_silent(interp, function) and silent_functions.takes(function, args, kwargs):
        return NONE

    def run() -> Value:
        made = partial(run_body, interp, function, args, kwargs, node)
        if not (interp.is_plain and function.module.is_beside_torch):
            return made()
        return package_calls.followed(interp, function, [*args, *kwargs.values()], made)

    if "cached" in function.marks:
        return kept_calls.cached(interp, function, args, kwargs, run)
    return remembered_calls.remembered(interp, function, args, kwargs, run) if interp.is_plain else run()


def _is_run_through(function: FunctionValue) -> bool:
    """Whether a generator function stands for the list of what it yields."""
    return isinstance(function.node, ast.FunctionDef) and "contextmanager" not in function.marks


def _is_open(value: Value) -> bool:
    """Whether nothing tells when a recursion on a value ends: it has no default that the code counts down."""
    return isinstance(value, Unknown) and value.default is None


# What calling a generator function gives that is a context manager.
MANAGER = External("contextlib._GeneratorContextManager")


def run_body(
    interp: Interpreter,
    function: FunctionValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    yielded: IteratorValue | None = None,
) -> Value:
    """Run a function's body with its parameters bound; what a generator function yields goes to ``yielded``."""
    running = (
        function.node,
        function.scope,
    )  # what a decorator puts around several functions is none that calls itself
    active = interp.active.get(running, 0)
    if active >= RECURSIONS and any(map(_is_open, (*args, *kwargs.values()))):
        return Unknown(placed(node), unread=unread_gaps.depth(function.scope.module, node or function.node))
    frame = Scope(function.scope.module, {}, _enclosing(function.scope), function)
    bind(interp, function, args, kwargs, frame, node)
    if interp.program.is_generator(function):
        items = endless(
            function, lambda body: interp.execute(body, frame), lambda node: interp.evaluate(node, frame)
        )
        if items is not None and yielded is None:
            return items
        frame.yielded = IteratorValue([]) if yielded is None else yielded
    interp.active[running] = active + 1
    try:
        if isinstance(function.node, ast.Lambda):
            return interp.evaluate(function.node.body, frame)
        signal = interp.execute(function.node.body, frame)
    finally:
        if active:
            interp.active[running] = active
        else:
            del interp.active[running]
    if frame.yielded is not None:
        return frame.yielded
    if isinstance(signal, Return):
        return signal.value
    # Only where what raises is passed over does anything come after a raise.
    return Unknown() if isinstance(function.node.body[-1], ast.Raise) else NONE


def _enclosing(scope: Scope) -> Scope:
    """Class bodies are not visible from the functions in them."""
    while scope.cls is not None and scope.parent is not None:
        scope = scope.parent
    return scope


def construct(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """An instance of a class of the project."""
    made = made_otherwise(interp, cls, args, kwargs, node)
    if made is not None:
        return made
    if _is_made_as_module(interp, cls):
        return _run_or_unread(
            lambda: constructions.made(
                interp, cls, args, kwargs, lambda: make_module(interp, cls, args, kwargs, node)
            )
        )
    maker = metaclasses.maker(interp, cls)
    if maker is not None:
        return interp.call(BoundMethod(maker, cls), args, kwargs, node)
    return instantiate(interp, cls, args, kwargs, node)


def _is_made_as_module(interp: Interpreter, cls: ClassValue) -> bool:
    """Whether a class derives from ``nn.Module``, or from what could not be read and defines a forward."""
    if ancestry.is_module_class(interp, cls):
        return True
    forward = classes.class_member(interp, cls, "forward") if ancestry.has_unknown_base(interp, cls) else None
    return forward is not None and isinstance(forward[0], FunctionValue)


class _NotRun(Exception):
    """A constructor that is not followed, and why."""

    def __init__(self, gap: Gap) -> None:
        self.gap = gap


def _run_or_unread(make: Callable[[], ModuleValue]) -> Value:
    """What is made; nothing is known of it where its constructor was not run."""
    try:
        return make()
    except _NotRun as stop:
        return Unknown(unread=stop.gap)


def make_module(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> ModuleValue:
    """A new module, made by its class's metaclass if that has a way of its own."""
    maker = metaclasses.maker(interp, cls)
    if maker is not None:
        read = interp.frames_read
        try:
            made = interp.call(BoundMethod(maker, cls), args, kwargs, node)
        finally:
            is_read = interp.frames_read > read
            interp.frames_read = read
        if isinstance(made, ModuleValue):
            made.open = made.open or is_read
            return made
    return _new_module(interp, cls, args, kwargs, node)


def _new_module(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> ModuleValue:
    module = ModuleValue(cls)
    initialize(interp, module, args, kwargs, node)
    return module


def instantiate(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """``type.__call__``: an instance on which the class's own constructor has run."""
    if _is_made_as_module(interp, cls):
        return _run_or_unread(lambda: _new_module(interp, cls, args, kwargs, node))
    special = _special(interp, cls, args, kwargs)
    if special is not None:
        return special
    instance = ObjectValue(cls)
    instance.open = ancestry.has_unknown_base(interp, cls)
    found = classes.class_member(interp, cls, "__init__")
    if ancestry.is_mapping(interp, cls):
        instance.contents = DictValue({})
        if found is None:
            mappings.method(interp, "__init__", instance.contents, args, kwargs, node)
    if found is not None:
        interp.call(BoundMethod(found[0], instance), args, kwargs, node)
    else:
        instance.open = instance.open or any(isinstance(b, External) for b in ancestry.mro(interp, cls)[1:])
    return instance


def made_otherwise(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What a class's own ``__new__`` returns, where that is no instance of the class."""
    found = classes.class_member(interp, cls, "__new__")
    function = found[0].function if found is not None and isinstance(found[0], StaticMethod) else None
    function = function or (found[0] if found is not None else None)
    if not isinstance(function, FunctionValue):
        return None
    made = interp.call(function, [cls, *args], kwargs, node)
    is_other = isinstance(made, ObjectValue) and cls not in ancestry.mro(interp, made.cls)
    return made if is_other or is_none(made) else None


def initialize(
    interp: Interpreter,
    module: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> None:
    """Run the constructor of a module's class."""
    read = interp.frames_read
    try:
        with interp.apart([*args, *kwargs.values()]):
            _initialize(interp, module, args, kwargs, node)
    finally:
        # What has looked into the constructor's frame may have left there what is not seen.
        module.open = module.open or interp.frames_read > read
        interp.frames_read = read


def _initialize(
    interp: Interpreter,
    module: ModuleValue,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> None:
    """Run the constructor wherever in the ancestry of the module's class it is."""
    if records.made_constructor(interp, module.cls) is not None:
        records.fill(interp, module, args, kwargs)
        return
    found = classes.class_member(interp, module.cls, "__init__")
    if found is not None and _before_library(interp, module.cls, found[1]):
        result = interp.call(BoundMethod(found[0], module), args, kwargs, node)
        if isinstance(found[0], FunctionValue) and isinstance(result, Unknown) and result.unread is not None:
            raise _NotRun(result.unread)
        return
    for base in ancestry.mro(interp, module.cls):
        if isinstance(base, External):
            module_methods.method(interp, f"{base.name}.__init__", module, args, kwargs)
            return
        if isinstance(base, Unknown):
            module.initialized = True
            module.open = True
            return


def _before_library(interp: Interpreter, cls: Value, holder: Value) -> bool:
    """Whether a project class comes before any class of torch.nn in the MRO."""
    for base in ancestry.mro(interp, cls):
        if base is holder:
            return True
        if isinstance(base, External) and base.name in interp.tables.modules:
            return False
    return True


def _special(
    interp: Interpreter, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """Enums look up, named tuples and dataclasses bind their fields."""
    if ancestry.derives_from(interp, cls, "enum.Enum"):
        return _member_of(interp, cls, args)
    return records.construct(interp, cls, args, kwargs)


def _member_of(interp: Interpreter, cls: ClassValue, args: list[Value]) -> Value:
    """What a call of an enumeration gives, for an open value with what its default gives."""
    given = interp.settled(args[0]) if args else NONE
    default = given.default if isinstance(given, Unknown) else None
    usual = enumerations.looked_up(cls, default)
    return enumerations.looked_up(cls, given) or Unknown(
        operations.called(cls.name, args[:1], None), default=usual
    )
