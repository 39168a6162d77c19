"""The ``inspect`` module: what constructors ask of classes and functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from types import CodeType

from tsguard.analysis.python import classes, operations
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    FALSE,
    NONE,
    TRUE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Partial,
    TupleValue,
    Unknown,
    Value,
    by_name,
)
from tsguard.language import schemas
from tsguard.source.functions import positional_parameters

# What stands for an annotation or default that is not there.
EMPTY = External("inspect.Parameter.empty")
_OPENING = {"inspect._empty": EMPTY, "inspect.Signature.empty": EMPTY}


def constant(name: str) -> Value | None:
    """A name of the module that is another name's value."""
    return _OPENING.get(name)


def call(interp: Interpreter, name: str, args: list[Value]) -> Value:
    """A function of the module."""
    handler = _HANDLERS.get(name)
    subject = interp.settled(args[0]) if args else Unknown()
    return handler(interp, subject) if handler is not None else Unknown()


def _isclass(interp: Interpreter, value: Value) -> Value:
    if isinstance(value, External):
        return TRUE if _is_outer_class(interp, value) else _open("isclass", value)
    if isinstance(value, Unknown):
        return _open("isclass", value)
    return TRUE if isinstance(value, ClassValue) else FALSE


def _isfunction(interp: Interpreter, value: Value) -> Value:
    if isinstance(value, (External, Unknown)) and not _is_outer_class(interp, value):
        return _open("isfunction", value)
    return TRUE if isinstance(value, FunctionValue) else FALSE


def _ismethod(interp: Interpreter, value: Value) -> Value:
    if isinstance(value, (External, Unknown)) and not _is_outer_class(interp, value):
        return _open("ismethod", value)
    return TRUE if isinstance(value, BoundMethod) else FALSE


def _is_outer_class(interp: Interpreter, value: Value) -> bool:
    """Whether a value is known to be a class that the tables describe."""
    entry = interp.tables.entry(value.name) if isinstance(value, External) else None
    return isinstance(entry, dict) and bool(entry.get("class"))


def _open(question: str, value: Value) -> Unknown:
    return Unknown(operations.called(f"inspect.{question}", [value], None), "bool")


def subclasses(interp: Interpreter, cls: ClassValue) -> Value:
    """``cls.__subclasses__()``: those of its module; of a class without any, which is no heir there either, no one knows."""
    scope = interp.program.scope(cls.module)
    names = [node.name for node in cls.module.file.tree.body if isinstance(node, ast.ClassDef)]
    defined = [v for v in (interp.lookup(name, scope) for name in names) if isinstance(v, ClassValue)]
    found: list[Value] = [v for v in defined if cls in v.bases]
    return ListValue(found) if found or any(base in defined for base in cls.bases) else Unknown()


def _signature(interp: Interpreter, value: Value) -> Value:
    parameters = _parameters(interp, value)
    if parameters is None:
        return Unknown()
    function, _ = _source(interp, value)
    node = function.node if function is not None else None
    returns = node.returns if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    facts = {
        "parameters": by_name({p.name: p.described() for p in parameters}),
        "return_annotation": _annotation(interp, function, returns),
    }
    return ObjectValue(External("inspect.Signature"), facts, open=True)


def _getfullargspec(interp: Interpreter, value: Value) -> Value:
    function, _ = _source(interp, value)
    if function is None:
        return Unknown()
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = TupleValue(tuple(interp.evaluate(d, function.scope) for d in spec.defaults))
    facts: dict[str, Value] = {
        "args": ListValue([Const(p.arg) for p in positional]),
        "varargs": Const(spec.vararg.arg) if spec.vararg is not None else NONE,
        "varkw": Const(spec.kwarg.arg) if spec.kwarg is not None else NONE,
        "defaults": defaults if spec.defaults else NONE,
        "kwonlyargs": ListValue([Const(p.arg) for p in spec.kwonlyargs]),
        "kwonlydefaults": Unknown(),
        "annotations": DictValue({}, open=True),
    }
    return ObjectValue(External("inspect.FullArgSpec"), facts, open=True)


def code(function: FunctionValue) -> Value:
    """``function.__code__``: what Python's own compiler tells of the source, which is not run.

    Source: the Python language reference on code objects.
    """
    facts: dict[str, Value] = {"function": function}
    made = _compiled(function) if isinstance(function.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    if made is not None:
        facts |= {name: Const(getattr(made, name)) for name in ("co_name", *_COUNTS)}
        facts["co_varnames"] = TupleValue(tuple(map(Const, made.co_varnames)))
    return ObjectValue(External("types.CodeType"), facts, open=True)


def _compiled(function: FunctionValue) -> CodeType | None:
    """The code of a function; None where its source does not stand alone, as with ``nonlocal``."""
    bare = copy.copy(function.node)
    assert isinstance(bare, (ast.FunctionDef, ast.AsyncFunctionDef))
    bare.decorator_list = []
    try:
        compiled = compile(ast.Module([bare], []), function.module.name, "exec").co_consts
    except (SyntaxError, ValueError, RecursionError):
        return None
    parts = (part for part in compiled if isinstance(part, CodeType) and part.co_name == bare.name)
    return next(parts, None)


_COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount")
_KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")


class _Parameter:
    def __init__(self, name: str, kind: str, annotation: Value, default: Value) -> None:
        self.name = name
        self._facts: dict[str, Value] = {
            "name": Const(name),
            "kind": External(f"inspect.Parameter.{kind}"),
            "annotation": annotation,
            "default": default,
            **{other: External(f"inspect.Parameter.{other}") for other in _KINDS},
        }

    def described(self) -> Value:
        return ObjectValue(External("inspect.Parameter"), self._facts, open=True)


def _source(interp: Interpreter, value: Value) -> tuple[FunctionValue | None, bool]:
    """The function that a value runs when it is called, and whether it is given a receiver."""
    if isinstance(value, ClassValue):
        found = classes.class_member(interp, value, "__init__")
        value = found[0] if found is not None else Unknown()
        return (value, True) if isinstance(value, FunctionValue) else (None, True)
    if isinstance(value, ModuleValue):
        found = classes.class_member(interp, value.cls, "__call__")
        found = found or classes.class_member(interp, value.cls, "forward")
        value = found[0] if found is not None else Unknown()
        return (value, True) if isinstance(value, FunctionValue) else (None, True)
    if isinstance(value, BoundMethod) and isinstance(value.function, FunctionValue):
        return _unwrapped(value.function), True
    return (_unwrapped(value), False) if isinstance(value, FunctionValue) else (None, False)


def _unwrapped(function: FunctionValue) -> FunctionValue:
    return function.wrapped if function.wrapped is not None else function


def _parameters(interp: Interpreter, value: Value) -> list[_Parameter] | None:
    if isinstance(value, Partial):
        return None
    function, is_bound = _source(interp, value)
    if function is None:
        return _of_library(interp, value)
    spec = function.node.args
    positional = positional_parameters(function.node)[is_bound:]
    found = [_described(interp, function, p, "POSITIONAL_OR_KEYWORD", d) for p, d in positional]
    if spec.vararg is not None:
        found.append(_described(interp, function, spec.vararg, "VAR_POSITIONAL", None))
    for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        found.append(_described(interp, function, parameter, "KEYWORD_ONLY", default))
    if spec.kwarg is not None:
        found.append(_described(interp, function, spec.kwarg, "VAR_KEYWORD", None))
    return found


def _described(
    interp: Interpreter, function: FunctionValue, parameter: ast.arg, kind: str, default: ast.expr | None
) -> _Parameter:
    given = interp.evaluate(default, function.scope) if default is not None else EMPTY
    annotation = _annotation(interp, function, parameter.annotation)
    return _Parameter(parameter.arg, kind, annotation, given)


def _annotation(interp: Interpreter, function: FunctionValue | None, node: ast.expr | None) -> Value:
    if node is None or function is None:
        return EMPTY
    return interp.evaluate(node, function.scope)


def _of_library(interp: Interpreter, value: Value) -> list[_Parameter] | None:
    """The parameters of a layer's constructor or forward, by the tables."""
    if isinstance(value, External):
        entry = interp.tables.modules.get(value.name)
        names = [name for name, _ in entry["init"]] if entry is not None else None
    else:
        names = _forward_names(interp, value)
    if names is None:
        return None
    return [_Parameter(name, "POSITIONAL_OR_KEYWORD", Unknown(), Unknown()) for name in names]


def _forward_names(interp: Interpreter, value: Value) -> list[str] | None:
    if not isinstance(value, BoundMethod) or not isinstance(value.receiver, ModuleValue):
        return None
    cls = value.receiver.cls
    entry = interp.tables.modules.get(cls.name) if isinstance(cls, External) else None
    found = entry["forward"].get("schemas") if entry is not None else None
    if not found or getattr(value.function, "name", "").rpartition(".")[2] != "forward":
        return None
    return [a.name for a in schemas.parse(found[0]).arguments if a.name != "self"]


_HANDLERS: dict[str, Callable[[Interpreter, Value], Value]] = {
    "isclass": _isclass,
    "isfunction": _isfunction,
    "ismethod": _ismethod,
    "signature": _signature,
    "getfullargspec": _getfullargspec,
}
