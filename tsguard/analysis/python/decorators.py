"""Functions as they are after their decorators, and what a decorator marks them as."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from tsguard.analysis import optimized
from tsguard.analysis.budgets import DEFINITION_STEPS
from tsguard.analysis.python.ancestry import derives_from
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import (
    ClassMethod,
    ClassValue,
    External,
    FunctionValue,
    PropertyValue,
    Scope,
    StaticMethod,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import Asked, BudgetExceeded
from tsguard.source.functions import positional_parameters

# What these decorators make of a function, above its definition or called with it.
DESCRIPTORS: dict[str, Callable[[Value], Value]] = {
    "builtins.staticmethod": StaticMethod,
    "builtins.classmethod": ClassMethod,
    "builtins.property": PropertyValue,
    "functools.cached_property": lambda getter: PropertyValue(getter, is_cached=True),
    "torch.jit.property": PropertyValue,
}
# Decorators that torch.jit heeds, or that wrap a function in one of torch's own.
_MARKS = {
    "torch.jit.ignore": "ignore",
    "torch.jit.unused": "unused",
    "torch.jit.export": "export",
    "torch.jit.script": "script",
    "torch.jit.script_method": "script_method",
    "torch.jit.script_if_tracing": "script_if_tracing",
    "torch.jit.interface": "interface",
    "torch.jit._overload": "overload",
    "torch.jit._overload_method": "overload",
    "torch.jit._drop": "unused",
    "torch._jit_internal._drop": "unused",
    "torch._jit_internal._overload": "overload",
    "torch._jit_internal._overload_method": "overload",
    "torch._jit_internal._copy_to_script_wrapper": "copied",
    "torch.no_grad": "grad_wrapper",
    "torch.inference_mode": "grad_wrapper",
    "torch.enable_grad": "grad_wrapper",
    "torch.set_grad_enabled": "grad_wrapper",
    "functools.lru_cache": "cached",
    "functools.cache": "cached",
    "contextlib.contextmanager": "contextmanager",
    "typing.overload": "typing_overload",
    "abc.abstractmethod": "abstract",
    "torch.autocast": "autocast",
    "torch.cuda.amp.autocast": "autocast",
    "torch.cuda.amp.autocast_mode.autocast": "autocast",
    "torch.cpu.amp.autocast": "autocast",
    "torch.cpu.amp.autocast_mode.autocast": "autocast",
    "torch.jit.trace": "trace",
}
# Where what a decorator puts in a function's place is defined: torch looks the function's names up there.
_HOMES = {
    "torch.no_grad": "torch.utils._contextlib",
    "torch.inference_mode": "torch.utils._contextlib",
    "torch.enable_grad": "torch.utils._contextlib",
    "torch.set_grad_enabled": "torch.utils._contextlib",
    "torch.autocast": "torch.amp.autocast_mode",
    "torch.cuda.amp.autocast": "torch.amp.autocast_mode",
    "torch.cuda.amp.autocast_mode.autocast": "torch.amp.autocast_mode",
    "torch.cpu.amp.autocast": "torch.amp.autocast_mode",
    "torch.cpu.amp.autocast_mode.autocast": "torch.amp.autocast_mode",
    "torch.amp.custom_fwd": "torch.amp.autocast_mode",
    "torch.amp.custom_bwd": "torch.amp.autocast_mode",
    "torch.amp.autocast_mode.custom_fwd": "torch.amp.autocast_mode",
    "torch.amp.autocast_mode.custom_bwd": "torch.amp.autocast_mode",
    "torch.cuda.amp.custom_fwd": "torch.amp.autocast_mode",
    "torch.cuda.amp.custom_bwd": "torch.amp.autocast_mode",
    "torch.cuda.amp.autocast_mode.custom_fwd": "torch.amp.autocast_mode",
    "torch.cuda.amp.autocast_mode.custom_bwd": "torch.amp.autocast_mode",
    "torch.compile": "torch._dynamo.eval_frame",
    "torch.compiler.disable": "torch._dynamo.eval_frame",
    "torch._dynamo.disable": "torch._dynamo.eval_frame",
    "torch._dynamo.eval_frame.disable": "torch._dynamo.eval_frame",
    "torch.profiler.record_function": "contextlib",
    "torch.nn.attention.sdpa_kernel": "contextlib",
    "torch.random.fork_rng": "contextlib",
    "typing_extensions.deprecated": "typing_extensions",
    "warnings.deprecated": "warnings",
}
CLASS_MARKS = {
    "dataclasses.dataclass": "dataclass",
    "torch.jit.script": "script",
    "torch.jit.interface": "interface",
    "enum.unique": "unique",
}


def define_function(
    interp: Interpreter,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    scope: Scope,
    owner: ClassValue | None = None,
) -> Value:
    """The value that a ``def`` binds, its decorators applied."""
    value: Value = FunctionValue(node, scope, node.name, owner, defaults=defaults_of(interp, node, scope))
    for decorator in reversed(node.decorator_list):
        value = _decorated(interp, decorator, value, scope)
    return value


def defaults_of(
    interp: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope
) -> dict[str, Value]:
    """The defaults of a function that is defined as another runs: names in them are read there and then."""
    if scope.function is None:
        return {}
    spec = node.args
    pairs = list(zip(spec.kwonlyargs, spec.kw_defaults, strict=True))
    pairs += positional_parameters(node)
    return {
        parameter.arg: interp.evaluate(default, scope)
        for parameter, default in pairs
        if default is not None and not isinstance(default, ast.Constant)
    }


def _decorated(interp: Interpreter, decorator: ast.expr, value: Value, scope: Scope) -> Value:
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return _accessor(interp, decorator, value, scope)
    applied = decorator.func if isinstance(decorator, ast.Call) else decorator
    target = interp.evaluate(applied, scope)
    name = target.name if isinstance(target, External) else ""
    if name == "functools.singledispatch":
        return Unknown()  # what is registered with it runs in its place
    if name in DESCRIPTORS:
        return DESCRIPTORS[name](value)
    home = _HOMES.get(name) or ("contextlib" if _decorates(interp, decorator, target) else "")
    if home:
        _put_behind(value, home)
    mark = _MARKS.get(name)
    if name in ("torch.compile", "functools.partial"):
        mark = _optimizing(interp, decorator, name, scope)
    if mark == "ignore" and _drops(decorator):
        mark = "unused"
    if mark is not None:
        return marked(value, mark)
    if isinstance(target, Unknown) and isinstance(value, FunctionValue):
        value.unread = value.unread or target.unread
    if name not in ("", "functools.wraps") or isinstance(target, Unknown):
        return marked(value, "decorated") if not name else value
    result = _wrapped(interp, decorator, target, value, scope)
    return value if isinstance(result, Unknown) else _as_compiled(result)


def _optimizing(interp: Interpreter, decorator: ast.expr, name: str, scope: Scope) -> str | None:
    """The mark that ``torch.compile`` makes as a decorator, or a ``partial`` of it."""
    call = decorator if isinstance(decorator, ast.Call) else None
    if name == "functools.partial":
        first = interp.evaluate(call.args[0], scope) if call is not None and call.args else None
        if not (isinstance(first, External) and first.name == "torch.compile"):
            return None
    keywords = call.keywords if call is not None else []
    given = {k.arg: interp.evaluate(k.value, scope) for k in keywords if k.arg is not None}
    return optimized.mark(given)


def _as_compiled(value: Value) -> Value:
    """The function that torch.jit compiles for a wrapper that names it, as ``script_if_tracing`` makes them."""
    if isinstance(value, FunctionValue) and "__script_if_tracing_wrapper" in value.attributes:
        original = value.attributes.get("__original_fn")
        if isinstance(original, FunctionValue):
            return marked(original, "script_if_tracing")
    return value


def overloads(interp: Interpreter, function: FunctionValue) -> list[ast.FunctionDef]:
    """The declarations under ``@torch.jit._overload`` that stand before a module-level function."""
    if not function.scope.is_global:
        return []
    nodes = [b.node for b in function.module.bindings.get(function.name, ()) if b.node is not function.node]
    return [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and any(
            _mark_of(interp, decorator, function.scope) == "overload" for decorator in node.decorator_list
        )
    ]


def _mark_of(interp: Interpreter, decorator: ast.expr, scope: Scope) -> str:
    target = interp.evaluate(decorator, scope)
    return _MARKS.get(target.name, "") if isinstance(target, External) else ""


def _wrapped(interp: Interpreter, decorator: ast.expr, target: Value, value: Value, scope: Scope) -> Value:
    """What a decorator that was read makes of a function; unknown where it raises by what is not told."""

    def wrap() -> Value:
        wrapper = interp.evaluate(decorator, scope) if isinstance(decorator, ast.Call) else target
        return interp.call(wrapper, [value], {}, decorator)

    conversation: list[Asked] = []
    try:
        with interp.world.heard() as conversation:
            return bounded(interp, wrap) or Unknown()
    except Raised:
        if not any(asked.is_decided for asked in conversation):
            raise
        return Unknown()


def bounded(interp: Interpreter, run: Callable[[], Value], steps: int = DEFINITION_STEPS) -> Value | None:
    """What ``run`` makes; None if that takes very long, as to write documentation or to fill in a template does."""
    try:
        with interp.limited(steps):
            return run()
    except BudgetExceeded:
        if interp.is_exhausted:
            raise
        return None


def _decorates(interp: Interpreter, decorator: ast.expr, target: Value) -> bool:
    """Whether a decorator is a context manager that contextlib makes one."""
    if not isinstance(decorator, ast.Call):
        return False
    if isinstance(target, ClassValue):
        return derives_from(interp, target, "contextlib.ContextDecorator")
    return isinstance(target, FunctionValue) and "contextmanager" in target.marks


def _put_behind(value: Value, home: str) -> None:
    """Note for a function, or a property's getter, that a wrapper stands in its place."""
    if isinstance(value, FunctionValue):
        value.behind = home
    elif isinstance(value, PropertyValue):
        _put_behind(value.getter, home)
    elif isinstance(value, (StaticMethod, ClassMethod)):
        _put_behind(value.function, home)


def _drops(decorator: ast.expr) -> bool:
    """``@torch.jit.ignore(drop=True)`` is ``unused`` under an older name."""
    if not isinstance(decorator, ast.Call):
        return False
    flags = [*decorator.args, *(k.value for k in decorator.keywords if k.arg in ("drop", "drop_on_export"))]
    return any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def _accessor(interp: Interpreter, decorator: ast.Attribute, value: Value, scope: Scope) -> Value:
    owner = interp.evaluate(decorator.value, scope)
    if isinstance(owner, PropertyValue) and decorator.attr == "setter":
        return replace(owner, setter=value)
    return owner


def marked(value: Value, mark: str) -> Value:
    """A function, or a property's functions, with one more mark."""
    if isinstance(value, FunctionValue):
        value.marks = value.marks | {mark}
    elif isinstance(value, PropertyValue):
        marked(value.getter, mark)
        if value.setter is not None:
            marked(value.setter, mark)
    elif isinstance(value, (StaticMethod, ClassMethod)):
        marked(value.function, mark)
    return value
