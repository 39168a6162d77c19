"""Definitions: functions with their decorators, classes with bases, bodies and MRO."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from tsguard.analysis import unread
from tsguard.analysis.budgets import DEFINITION_STEPS
from tsguard.analysis.events import Gap
from tsguard.analysis.python import enumerations
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    FunctionValue,
    PropertyValue,
    Scope,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.project.targets import MODULE_BASES
from tsguard.source.walking import walked

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
_CLASS_MARKS = {
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
    value: Value = FunctionValue(node, scope, node.name, owner)
    for decorator in reversed(node.decorator_list):
        value = _decorated(interp, decorator, value, scope)
    return value


def _decorated(interp: Interpreter, decorator: ast.expr, value: Value, scope: Scope) -> Value:
    if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "getter", "deleter"):
        return _accessor(interp, decorator, value, scope)
    applied = decorator.func if isinstance(decorator, ast.Call) else decorator
    target = interp.evaluate(applied, scope)
    name = target.name if isinstance(target, External) else ""
    if name == "builtins.staticmethod":
        return StaticMethod(value)
    if name == "builtins.classmethod":
        return ClassMethod(value)
    if name in ("builtins.property", "functools.cached_property", "torch.jit.property"):
        return PropertyValue(value)
    home = _HOMES.get(name) or ("contextlib" if _decorates(interp, decorator, target) else "")
    if home:
        _put_behind(value, home)
    mark = _MARKS.get(name)
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
    """What a decorator of the project makes of a function."""

    def wrap() -> Value:
        wrapper = interp.evaluate(decorator, scope) if isinstance(decorator, ast.Call) else target
        return interp.call(wrapper, [value], {}, decorator)

    return bounded(interp, wrap, target)


def bounded(interp: Interpreter, run: Callable[[], Value], function: Value) -> Value:
    """What a function makes of a definition; Unknown if that takes very long.

    Such a one writes documentation or registers, which it is found out to do once.
    """
    endless = interp.program.memory.setdefault("endless", set())
    assert isinstance(endless, set)
    if function in endless:
        return Unknown()
    try:
        with interp.limited(DEFINITION_STEPS):
            return run()
    except BudgetExceeded:
        if interp.is_exhausted:
            raise
        endless.add(function)
        return Unknown()


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
        return PropertyValue(owner.getter, value)
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


def define_class(interp: Interpreter, node: ast.ClassDef, scope: Scope) -> Value:
    """The value that a ``class`` statement binds."""
    bases = tuple(interp.settled(interp.evaluate(base, scope)) for base in node.bases)
    cls = ClassValue(node, scope, node.name, bases)
    body = Scope(scope.module, cls.members, scope, cls=cls)
    _decorate(interp, cls)
    for statement in node.body:
        _class_statement(interp, statement, body, cls)
    cls.members.setdefault("__doc__", NONE)
    _tell_bases(interp, node, cls, scope)
    if derives_from(interp, cls, "enum.Enum"):
        enumerations.make_members(interp, cls, mro(interp, cls))
    cls.is_whole = True
    return cls


def filled_dicts(interp: Interpreter, cls: Value) -> set[str]:
    """The attributes to which methods of a class add items: ``self.known[name] = value``."""
    return {
        target.value.attr
        for base in mro(interp, cls)
        if isinstance(base, ClassValue)
        for name, member in base.members.items()
        for function in [member.function if isinstance(member, (ClassMethod, StaticMethod)) else member]
        if isinstance(function, FunctionValue) and name != "__init__"
        for node in walked(function.node)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute)
    }


def _tell_bases(interp: Interpreter, node: ast.ClassDef, cls: ClassValue, scope: Scope) -> None:
    """Run the ``__init_subclass__`` of a base, which may make a dataclass of the class; what fails is left out."""
    found = class_member(interp, cls, "__init_subclass__", after=cls)
    if found is None:
        return
    function = found[0].function if isinstance(found[0], ClassMethod) else found[0]
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None and k.arg != "metaclass"}
    try:
        kwargs = {name: interp.evaluate(value, scope) for name, value in keywords.items()}
        bounded(interp, lambda: interp.call(BoundMethod(function, cls), [], kwargs, node), function)
    except Raised:
        return


def _decorate(interp: Interpreter, cls: ClassValue) -> None:
    """Mark a class by its decorators."""
    for decorator in cls.node.decorator_list:
        applied = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = interp.evaluate(applied, cls.scope)
        mark = _CLASS_MARKS.get(target.name) if isinstance(target, External) else None
        cls.marks = cls.marks | {mark or "decorated"}
        if isinstance(target, Unknown):
            cls.unread = cls.unread or target.unread


def _class_statement(interp: Interpreter, node: ast.stmt, body: Scope, cls: ClassValue) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        value = define_function(interp, node, body, cls)
        if isinstance(value, FunctionValue) and "overload" in value.marks:
            cls.overloads.setdefault(node.name, []).append(value)
        else:
            body.names[node.name] = value
    elif isinstance(node, ast.AnnAssign):
        if isinstance(node.target, ast.Name):
            cls.annotations[node.target.id] = node.annotation
            if node.value is not None:
                body.names[node.target.id] = interp.evaluate(node.value, body)
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) and not annotate(
        cls, node, body
    ):
        interp.execute([node], body)


def annotate(cls: ClassValue, node: ast.stmt, scope: Scope) -> bool:
    """Heed ``__annotations__ = {...}``, in a class body or on the class; whether it was that."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Dict):
        return False
    target = node.targets[0]
    if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) != "__annotations__":
        return False
    for key, annotation in zip(node.value.keys, node.value.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            cls.annotations[key.value] = annotation
    cls.marks = cls.marks | {"evaluated annotations"}
    if "collections.namedtuple" in cls.marks:
        cls.marks = cls.marks | {"annotated"}
        cls.scope = scope
    return True


def mro(interp: Interpreter, cls: Value) -> tuple[Value, ...]:
    """The method resolution order; classes of torch.nn bring their own bases."""
    if isinstance(cls, ClassValue):
        if cls.cached_mro is None:
            cls.cached_mro = (cls,)
            cls.cached_mro = (cls, *_merged(interp, cls.bases))
        return cls.cached_mro
    if isinstance(cls, External):
        known = interp.program.ancestries.get(cls.name)
        if known is None:
            known = interp.program.ancestries[cls.name] = _ancestry(interp, cls)
        return known
    return (cls,)


def _ancestry(interp: Interpreter, cls: External) -> tuple[Value, ...]:
    entry = interp.tables.modules.get(cls.name)
    if entry is not None:
        return (cls, *(External(interp.tables.canonical(base)) for base in entry["bases"]))
    if cls.name == "torch.nn.Module":
        return (cls,)
    described = interp.tables.entry(cls.name)
    if cls.name in MODULE_BASES or (isinstance(described, dict) and described.get("class") == "module"):
        return (cls, External("torch.nn.Module"))
    return (cls,)


def _merged(interp: Interpreter, bases: tuple[Value, ...]) -> Iterable[Value]:
    """The orders of the bases in one: of a single base, its own."""
    if len(bases) == 1:
        return mro(interp, bases[0])
    return _merge([[*mro(interp, base)] for base in bases] + [list(bases)])


def _merge(sequences: list[list[Value]]) -> list[Value]:
    result: list[Value] = []
    sequences = [list(s) for s in sequences if s]
    while sequences:
        for sequence in sequences:
            head = sequence[0]
            if not any(_contains(other[1:], head) for other in sequences):
                break
        else:
            head = sequences[0][0]
        result.append(head)
        for sequence in sequences:
            if _same_class(sequence[0], head):
                del sequence[0]
        sequences = [s for s in sequences if s]
    return result


def _contains(classes: list[Value], cls: Value) -> bool:
    return any(_same_class(other, cls) for other in classes)


def _same_class(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, External) and a == b)


def is_module_class(interp: Interpreter, cls: Value) -> bool:
    """Whether a class derives from ``nn.Module``."""
    return "torch.nn.Module" in kin(interp, cls)


_UNKNOWN = "?"
_KINDS = {
    "enum.Enum": frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}),
}


def derives_from(interp: Interpreter, cls: Value, name: str) -> bool:
    """Whether a class is, or derives from, the External of this name."""
    kinds = _KINDS.get(name)
    return name in kin(interp, cls) if kinds is None else not kinds.isdisjoint(kin(interp, cls))


def has_unknown_base(interp: Interpreter, cls: Value) -> bool:
    return _UNKNOWN in kin(interp, cls)


def kin(interp: Interpreter, cls: Value) -> tuple[str, ...]:
    """The names of all External classes that a class derives from, ``?`` for one that is not known."""
    known = interp.program.kin.get(cls)
    if known is None:
        bases = (base for base in mro(interp, cls) if isinstance(base, (External, Unknown)))
        known = tuple([base.name if isinstance(base, External) else _UNKNOWN for base in bases])
        interp.program.kin[cls] = known
    return known


def unread_base(interp: Interpreter, cls: ClassValue) -> Gap:
    """Why a base of a class that has an unknown one is not read."""
    gaps = (base.unread for base in mro(interp, cls) if isinstance(base, Unknown))
    return next(filter(None, gaps), None) or unread.base(cls.module, cls.node)


def not_read(interp: Interpreter, cls: ClassValue) -> Gap | None:
    """What was not read of a class and may change anything: a base, a decorator; None for nothing."""
    if has_unknown_base(interp, cls):
        return unread_base(interp, cls)
    return next(
        (base.unread for base in mro(interp, cls) if isinstance(base, ClassValue) and base.unread), None
    )


def class_member(
    interp: Interpreter, cls: Value, name: str, after: Value | None = None
) -> tuple[Value, Value] | None:
    """A member found along the MRO and the class that holds it; ``after`` for super()."""
    if after is None and isinstance(cls, ClassValue) and cls.is_whole:
        known = interp.program.members.setdefault(cls, {})
        if name not in known:
            known[name] = _own_or_inherited(interp, cls, name)
        return known[name]
    order = mro(interp, cls)
    if after is not None:
        index = next((i for i, c in enumerate(order) if _same_class(c, after)), -1)
        order = order[index + 1 :]
    return _found(order, name)


def _own_or_inherited(interp: Interpreter, cls: ClassValue, name: str) -> tuple[Value, Value] | None:
    if len(cls.bases) != 1:
        return _found(mro(interp, cls), name)
    member = cls.members.get(name)
    return class_member(interp, cls.bases[0], name) if member is None else (member, cls)


def _found(order: Sequence[Value], name: str) -> tuple[Value, Value] | None:
    for base in order:
        if isinstance(base, ClassValue):
            member = base.members.get(name)
            if member is not None:
                return member, base
    return None


def bind(value: Value, receiver: Value, cls: Value) -> Value:
    """What a class member becomes when read through an instance."""
    if isinstance(value, FunctionValue):
        return BoundMethod(value, receiver)
    if isinstance(value, StaticMethod):
        return value.function
    if isinstance(value, ClassMethod):
        return BoundMethod(value.function, cls)
    return value


def super_value(interp: Interpreter, args: list[Value], scope: Scope) -> Value:
    """``super()`` in a method's scope, or ``super(Class, self)``."""
    if len(args) >= 2 and isinstance(args[0], ClassValue):
        return SuperValue(args[0], args[1])
    runner: Scope | None = scope
    while runner is not None and (runner.function is None or runner.function.owner is None):
        runner = runner.parent
    if runner is None or runner.function is None or runner.function.owner is None:
        return Unknown()
    parameters = runner.function.node.args
    first = [*parameters.posonlyargs, *parameters.args][:1]
    receiver = runner.names.get(first[0].arg) if first else None
    return SuperValue(runner.function.owner, receiver) if receiver is not None else Unknown()
