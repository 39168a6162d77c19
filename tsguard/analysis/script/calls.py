"""Calls: overloaded operators, functions compiled on the way, casts, opaque calls of Python.

Source: torch/csrc/jit/frontend/sugared_value.cpp and
torch/csrc/jit/python/python_sugared_value.cpp (``call``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import (
    arguments,
    classes,
    differences,
    forward_references,
    late_defaults,
    left_in_python,
    look_ups,
    none_defaults,
    notes,
    python_objects,
    saving,
    signatures,
)
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.mismatches import mismatch
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.schema_calls import call_schemas, matched
from tsguard.analysis.script.sugared import (
    Args,
    Builtin,
    Cast,
    Compiled,
    Dispatch,
    Function,
    Kwargs,
    Magic,
    Method,
    ModuleCall,
    Print,
    PythonModule,
    Simple,
    Sugared,
    SugaredClass,
    SugaredException,
    SugaredModule,
    SugaredNamedTuple,
    SugaredNone,
    SugaredPython,
    SugaredSlice,
    SugaredUnknown,
    TensorCast,
    Value,
    simple,
    source_of,
)
from tsguard.language import types as t
from tsguard.language.matching import Mismatch
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Argument, Schema


def call(fc: FunctionCompiler, callee: Sugared, args: Args, kwargs: Kwargs, node: ast.Call) -> Sugared:
    """The result of calling a sugared value.

    Raises:
        Refusal: torch refuses the call.
    """
    if isinstance(callee, SugaredUnknown):
        return _call_unknown(fc, callee.source, node)
    if isinstance(callee, Builtin):
        return Simple(call_builtin(fc, callee.symbol, args, kwargs, node, callee.receiver))
    if isinstance(callee, Function):
        schemas = fc.compiler.function_schemas(fc, callee.function, node)
        return call_schemas(fc, schemas, args, kwargs, node, callee.function.name)
    if isinstance(callee, Compiled):
        look_ups.called(fc, callee, args, kwargs, node)
        return call_schemas(fc, callee.schemas, args, kwargs, node, callee.name)
    if isinstance(callee, (Method, SugaredModule)):
        return _call_member(fc, callee, args, kwargs, node)
    if isinstance(callee, (Cast, Magic)):
        return _call_overloadable(fc, callee, args, kwargs, node)
    if isinstance(callee, TensorCast):
        _check_none_given(args, kwargs, node)
        notes.cast(fc, callee.receiver, node)
        return simple(t.TENSOR)
    return _call_object(fc, callee, args, kwargs, node)


def _check_none_given(args: Args, kwargs: Kwargs, node: ast.Call) -> None:
    """``x.float()`` takes no argument, not even the ``memory_format`` that it takes in Python."""
    name = text_of(node.func)
    if args:
        raise Refusal("argument-count", node, function=name, expected="0", given=str(len(args)))
    if kwargs:
        raise Refusal("unknown-keyword/positional", node, function=name, keyword=next(iter(kwargs)))


def _call_unknown(fc: FunctionCompiler, source: py.Unknown | None, node: ast.Call) -> Sugared:
    """A call of what may be anything: a module or function, which torch would compile.

    Without a ``source`` it comes of what has been noted before, or of torch itself.
    """
    if source is not None:
        arguments.rests_on(fc, source, node.func)
    elif isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "items", "values"):
        return SugaredUnknown(source_of(fc.sugared(node.func.value)))
    return SugaredUnknown()


def _call_object(
    fc: FunctionCompiler, callee: Sugared, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    if isinstance(callee, SugaredClass):
        return classes.construct(fc, callee, args, kwargs, node)
    if isinstance(callee, SugaredNamedTuple):
        return _construct_tuple(fc, callee.type, args, kwargs, node)
    if isinstance(callee, SugaredException):
        return callee
    if isinstance(callee, Print):
        if kwargs:
            raise Refusal("unknown-keyword/positional", node, function="print", keyword=next(iter(kwargs)))
        return SugaredNone()
    if isinstance(callee, Dispatch):
        return _call_dispatch(fc, callee, args, kwargs, node)
    if isinstance(callee, ModuleCall):
        return callee.result
    if isinstance(callee, SugaredSlice):
        return SugaredSlice()
    if isinstance(callee, SugaredPython):
        return _call_python(fc, callee, args, kwargs, node)
    if isinstance(callee, PythonModule):
        raise Refusal("not-callable", node, value=text_of(node.func), type="a Python module")
    return _call_value(fc, callee, args, kwargs, node)


def _call_value(fc: FunctionCompiler, callee: Sugared, args: Args, kwargs: Kwargs, node: ast.Call) -> Sugared:
    if isinstance(callee, Simple):
        type_ = callee.value.type
        if type_ is t.UNKNOWN:
            return _call_unknown(fc, callee.value.source, node)
        if isinstance(type_, t.ClassType):
            result = call_method(fc, callee, "__call__", list(args), node, kwargs)
            if result is not None:
                return result
        kinds = type_.members if isinstance(type_, t.UnionType) else (type_,)
        if all(isinstance(kind, t.ModuleType) for kind in kinds):
            raise Refusal("module-as-value", node, value=text_of(node.func))
        if callee.value.parameter:
            raise Refusal("not-callable/parameter", node, value=text_of(node.func))
        rule: RuleName = "not-callable/none" if type_ is t.NONE else "not-callable"
        raise Refusal(rule, node, value=text_of(node.func), type=type_)
    raise Refusal("not-callable", node, value=text_of(node.func), type=with_article(callee.kind))


def _call_member(
    fc: FunctionCompiler, callee: Method | SugaredModule, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    if isinstance(callee, SugaredModule):
        return fc.compiler.call_module(fc, callee, args, kwargs, node)
    schemas = callee.schemas
    if not schemas and callee.function is not None:
        if isinstance(callee.receiver, SugaredModule):
            schemas = fc.compiler.method_schemas(fc, callee.receiver, callee.name, callee.function, node)
        else:
            assert isinstance(callee.receiver, Simple)
            schemas = (
                classes.method_schema(fc, callee.receiver.value.type, callee.name, callee.function, node),
            )
    return late_defaults.call(fc, callee.receiver, callee.name, schemas, args, kwargs, node)


def call_method(
    fc: FunctionCompiler, receiver: Simple, name: str, args: Args, node: ast.AST, kwargs: Kwargs | None = None
) -> Sugared | None:
    """Call a method of a class object; None where its class has none of this name."""
    found = classes.member(fc, receiver, name, node)
    if not isinstance(found, Method):
        return None
    schemas = found.schemas
    if found.function is not None:
        schemas = (classes.method_schema(fc, receiver.value.type, name, found.function, node),)
    return late_defaults.call(fc, receiver, name, schemas, args, kwargs or {}, node)


def call_builtin(
    fc: FunctionCompiler,
    symbol: str,
    args: Args,
    kwargs: Kwargs,
    node: ast.AST,
    receiver: Value | None = None,
) -> Value:
    """Call an operator.

    Raises:
        Refusal: there is no such operator, or no overload takes the arguments.
    """
    name = symbol.partition("::")[2]
    if not fc.compiler.operators.overloads(symbol):
        raise Refusal(
            "unknown-operator", node, function=text_of(node.func) if isinstance(node, ast.Call) else name
        )
    result = fc.compiler.matcher.match(symbol, args, kwargs, receiver)
    if isinstance(result, Mismatch):
        raise mismatch(
            fc, result, [*([receiver] if receiver else []), *args], kwargs, node, name, python=False
        )
    given = [*([receiver] if receiver else []), *args]
    notes.match(fc, result, given, kwargs, node, name)
    none_defaults.passed(fc, result.schema, given, kwargs, node)
    differences.used(fc, name, [*given, *kwargs.values()], result.returns)
    differences.put(name, given)
    unlike = differences.built(name, given, kwargs, result.returns, node)
    value = Value(result.returns, node=node, unlike=unlike)
    if symbol == "aten::is_scripting":
        value.static = True
    elif symbol == "aten::has_torch_function":
        value.static = False
    return value


# -- the rest ------------------------------------------------------------------------------


def _call_overloadable(
    fc: FunctionCompiler, callee: Cast | Magic, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    if args and isinstance(args[0].type, (t.ClassType, t.ModuleType)):
        name = callee.magic if isinstance(callee, Cast) else callee.name
        return call(fc, _magic_method(fc, args[0], name, node), args[1:], kwargs, node)
    if isinstance(callee, Magic):
        return Simple(call_builtin(fc, callee.base.symbol, args, kwargs, node))
    if len(args) != 1 or kwargs:
        raise Refusal("argument-count", node, function=text_of(node.func), expected="1", given=str(len(args)))
    if args[0].type == callee.type:
        unlike = args[0].unlike if callee.type is t.STR else None
        return Simple(Value(callee.type, args[0].const, node=node, static=args[0].static, unlike=unlike))
    if callee.type is t.BOOL and (
        args[0].type is t.STR or isinstance(args[0].type, (t.ListType, t.DictType))
    ):
        return Simple(Value(t.BOOL, node=node))
    return Simple(call_builtin(fc, callee.symbol, args, kwargs, node))


def _magic_method(fc: FunctionCompiler, receiver: Value, name: str, node: ast.Call) -> Sugared:
    """The method that stands behind ``len``, ``str`` and the like.

    Raises:
        Refusal: the object's class has no such method.
    """
    if isinstance(receiver.type, t.ModuleType):
        return _module_magic(fc, receiver.type, name, node)
    method = classes.member(fc, Simple(receiver), name, node)
    if method is None:
        shown = text_of(node.args[0])
        raise Refusal("unknown-method/attribute", node, name=name, type=receiver.type, value=shown)
    return method


def _module_magic(fc: FunctionCompiler, type_: t.ModuleType, name: str, node: ast.Call) -> Sugared:
    """A module's own method, which torch sees if it is exported, or the length of a container.

    Source: torch/jit/_recursive.py (``init_fn`` defines ``__len__`` after a container is compiled).

    Raises:
        Refusal: the module has no such method.
    """
    compiler = fc.compiler
    instance = compiler.typed.get(type_.key)
    if instance is None or ancestry.has_unknown_base(compiler.interp, instance.cls):
        fc.unread(node)
        return SugaredUnknown()
    found = python_classes.class_member(compiler.interp, instance.cls, name)
    if found is not None and isinstance(found[0], py.FunctionValue) and "export" in found[0].marks:
        return compiler.module_attribute(fc, SugaredModule(instance), name, node)
    own = isinstance(fc.receiver, SugaredModule) and fc.receiver.instance is instance
    if name == "__len__" and not own and compiler.container_kind(instance) in ("list", "dict"):
        return Method(SugaredModule(instance), name, (Schema(name, "", (), t.INT),))
    raise Refusal("module-as-value", node, value=text_of(node.args[0]))


def _call_ignored(
    fc: FunctionCompiler, callee: SugaredPython, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    """A call of what ``@ignore`` leaves in Python or ``@unused`` replaces by a raise."""
    function = callee.value
    assert isinstance(function, py.FunctionValue)
    if not isinstance(function.node, ast.FunctionDef):
        return SugaredUnknown()
    spec = function.node.args
    signature = signatures.read(
        fc.compiler, function.node, function.scope, method=callee.receiver is not None
    )
    _check_countable(callee.name, function.node, node)
    for refusal in signature.refusals:
        if refusal.rule not in ("untyped-default", "mutable-default", "default-type-mismatch"):
            raise Refusal(refusal.rule, node, **refusal.facts)
    forward_references.refuse_left_in_python(function, node)
    if callee.dropped:
        notes.dropped_call(fc, node, callee.name)
    elif isinstance(callee.receiver, SugaredModule):
        left_in_python.check(fc.compiler, callee.receiver, function, is_called=True)
    typed = signature.returns is not None or any(a.annotation is not None for a in spec.args)
    returns = (signature.returns or t.TENSOR) if typed else t.TENSOR
    for argument in signature.arguments[len(args) :]:
        if argument.has_default and argument.name not in kwargs:
            facts = {"function": callee.name, "argument": argument.name}
            raise Refusal("argument-count/ignored", node, **facts)
    arguments = tuple(Argument(a.name, a.type, inferred=a.inferred) for a in signature.arguments)
    schema = Schema(callee.name, "", arguments, returns, spec.vararg is not None)
    result = call_schemas(fc, (schema,), args, kwargs, node, callee.name)
    if isinstance(result, Simple) and not typed:
        result.value.opaque = True
    if not callee.dropped:
        notes.ignored_call(fc, function, node, schema, typed=typed)
    return result


def _check_countable(name: str, function: ast.FunctionDef, node: ast.Call) -> None:
    """Torch asserts that there are as many annotated parameters as positional ones (PythonValue::getSchema)."""
    spec = function.args
    beside = [*spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
    annotated = [p for p in (*spec.posonlyargs, *spec.args, *beside) if p.annotation is not None]
    if not beside or not (annotated or function.returns is not None):
        return
    stars = "*" if beside[0] is spec.vararg else "**" if beside[0] is spec.kwarg else ""
    facts = {"function": name, "parameter": f"{stars}{beside[0].arg}"}
    raise Refusal("parameter-kind/left-in-python", node, **facts)


def _construct_tuple(
    fc: FunctionCompiler, type_: t.TupleType, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    first_default = len(type_.fields) - type_.defaults
    arguments = tuple(
        Argument(name, element, has_default=i >= first_default)
        for i, (name, element) in enumerate(zip(type_.fields, type_.elements, strict=True))
    )
    matched(fc, (Schema(type_.name, "", arguments, type_),), args, kwargs, node, type_.name)
    given = [*args, *(kwargs.get(name, Value(t.UNKNOWN)) for name in type_.fields[len(args) :])]
    return Simple(Value(type_, unlike=differences.of_tuple(given)))


def _call_dispatch(
    fc: FunctionCompiler, callee: Dispatch, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    flag = args[callee.index] if callee.index < len(args) else kwargs.get(callee.flag)
    chosen = callee.default
    if flag is not None:
        if flag.type is t.UNKNOWN:
            return SugaredUnknown()
        if not isinstance(flag.const, bool):
            raise Refusal("flag-not-constant", node, function=text_of(node.func), flag=callee.flag)
        chosen = flag.const
    return call(fc, callee.if_true if chosen else callee.if_false, args, kwargs, node)


def _call_python(
    fc: FunctionCompiler, callee: SugaredPython, args: Args, kwargs: Kwargs, node: ast.Call
) -> Sugared:
    """An opaque call of Python: ``@ignore``d functions, ``autograd.Function.apply``, types."""
    value = callee.value
    if isinstance(value, py.Unknown):
        return SugaredUnknown(value)
    if callee.ignored and isinstance(value, (py.FunctionValue, py.BoundMethod)):
        return _call_ignored(fc, callee, args, kwargs, node)
    if callee.opaque:
        # torch knows of Function.apply that it takes a Tensor first, and nothing of the rest.
        if kwargs:
            raise Refusal(
                "unknown-keyword/positional", node, function=callee.name, keyword=next(iter(kwargs))
            )
        if not args:
            raise Refusal("argument-count/missing", node, function=callee.name, argument="cls", type=t.TENSOR)
        if args[0].type not in (t.TENSOR, t.UNKNOWN):
            raise Refusal("argument-type/applied", node, function=callee.name, type=args[0].type)
        saving.python_call(fc, text_of(node.func), node)
        return Simple(Value(t.TENSOR, node=node, opaque=True))
    if callee.receiver is not None:
        raise Refusal("unscriptable-function/method", node, name=text_of(node.func), why=callee.name)
    python_objects.check_call(fc.compiler, callee, node)
    name = callee.name or text_of(node.func)
    if kwargs:
        raise Refusal("unknown-keyword/positional", node, function=name, keyword=next(iter(kwargs)))
    # Of a module's call, torch sees only the first parameter: the rest are *args.
    for index, given in enumerate(args[:1] if isinstance(value, py.ModuleValue) else args):
        if given.type not in (t.TENSOR, t.UNKNOWN):
            raise Refusal(
                "argument-type/opaque", node, function=name, position=str(index + 1), type=given.type
            )
    if all(given.type is t.TENSOR for given in args):
        notes.opaque_result(fc, value, node)
    saving.python_call(fc, name, node)
    return Simple(Value(t.TENSOR, node=node, opaque=True))
