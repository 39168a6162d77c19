"""Class definitions: their bases and bodies, and the members found in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tsguard.analysis import unread
from tsguard.analysis.python import enumerations, transforms
from tsguard.analysis.python.ancestry import derives_from, is_same_class, mro
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.decorators import CLASS_MARKS, bounded, define_function
from tsguard.analysis.values import (
    NONE,
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    FunctionValue,
    ModuleValue,
    Scope,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
)
from tsguard.source.changing import filled_in, makes_over
from tsguard.source.private_names import is_private, mangled
from tsguard.source.unparsing import unparsed


def define_class(interp: Interpreter, node: ast.ClassDef, scope: Scope) -> Value:
    """The value that a ``class`` statement binds."""
    bases = tuple(interp.settled(interp.evaluate(base, scope)) for base in node.bases)
    cls = ClassValue(node, scope, node.name, bases)
    body = Scope(scope.module, cls.members, scope, cls=cls)
    _decorate(interp, cls)
    for statement in node.body:
        _class_statement(interp, statement, body, cls)
    _keep_private(cls)
    cls.members.setdefault("__doc__", NONE)
    _tell_bases(interp, node, cls, scope)
    if derives_from(interp, cls, "enum.Enum"):
        enumerations.make_members(interp, cls, mro(interp, cls))
    _put_on(interp, cls)
    cls.is_whole = True
    return cls


def _keep_private(cls: ClassValue) -> None:
    """Keep members and annotations under the names that Python keeps them under."""
    if any(map(is_private, (*cls.members, *cls.annotations))):
        members = {mangled(name, cls.name): member for name, member in cls.members.items()}
        annotations = {mangled(name, cls.name): node for name, node in cls.annotations.items()}
        cls.members.clear()
        cls.members.update(members)
        cls.annotations.clear()
        cls.annotations.update(annotations)


def _put_on(interp: Interpreter, cls: ClassValue) -> None:
    """Run the decorators that put methods on a class in place of its own, or make another class of it.

    What they put there is judged; the class counts as unread where that is not told, or where another is made.
    """
    for decorator in reversed(cls.node.decorator_list if "record" not in cls.marks else []):
        applied = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = interp.evaluate(applied, cls.scope)
        if isinstance(target, FunctionValue) and makes_over(target.node):
            written = dict(cls.members)
            made = _applied(interp, decorator, cls)
            put = [member for n, member in cls.members.items() if member is not written.get(n)]
            if made is not cls or any(isinstance(member, Unknown) for member in put):
                cls.members.clear()
                cls.members.update(written)
                gap = made.unread if isinstance(made, Unknown) else None
                cls.unread = (
                    cls.unread
                    or gap
                    or unread.guesses(f"the decorator {unparsed(applied)}", cls.module, decorator)
                )


def _applied(interp: Interpreter, decorator: ast.expr, cls: ClassValue) -> Value | None:
    """What a decorator makes of a class; None where it raises or takes very long."""
    try:
        return bounded(
            interp, lambda: interp.call(interp.evaluate(decorator, cls.scope), [cls], {}, decorator)
        )
    except Raised:
        return None


def filled_dicts(interp: Interpreter, cls: Value) -> set[str]:
    """The attributes to which methods of a class add items: ``self.known[name] = value``."""
    return {
        attribute
        for base in mro(interp, cls)
        if isinstance(base, ClassValue)
        for name, member in base.members.items()
        for function in [member.function if isinstance(member, (ClassMethod, StaticMethod)) else member]
        if isinstance(function, FunctionValue) and name != "__init__"
        for attribute in filled_in(function.node)
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
        bounded(interp, lambda: interp.call(BoundMethod(function, cls), [], kwargs, node))
    except Raised:
        return


def _decorate(interp: Interpreter, cls: ClassValue) -> None:
    """Mark a class by its decorators."""
    for decorator in cls.node.decorator_list:
        applied = decorator.func if isinstance(decorator, ast.Call) else decorator
        target = interp.evaluate(applied, cls.scope)
        mark = CLASS_MARKS.get(target.name) if isinstance(target, External) else None
        cls.marks = cls.marks | {mark or ("record" if transforms.decorates(interp, target) else "decorated")}
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
        index = next((i for i, c in enumerate(order) if is_same_class(c, after)), -1)
        order = order[index + 1 :]
    return _found(order, name)


def _own_or_inherited(interp: Interpreter, cls: ClassValue, name: str) -> tuple[Value, Value] | None:
    if len(cls.bases) != 1:
        return _found(mro(interp, cls), name)
    member = cls.members.get(name)
    return class_member(interp, cls.bases[0], name) if member is None else (member, cls)


def _found(order: Sequence[Value], name: str) -> tuple[Value, Value] | None:
    for base in order:
        if name == "__call__" and isinstance(base, External) and base.name == "torch.nn.Module":
            return None  # its own comes before that of the classes behind it
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


def super_value(args: list[Value], scope: Scope) -> Value:
    """``super()`` in a method's scope, or ``super(Class, self)``."""
    if len(args) >= 2 and isinstance(args[0], ClassValue):
        return SuperValue(args[0], args[1])
    runner: Scope | None = scope
    while runner is not None:
        function = runner.function
        if function is not None and function.owner is not None:
            parameters = function.node.args
            first = [*parameters.posonlyargs, *parameters.args][:1]
            receiver = runner.names.get(first[0].arg) if first else None
            if receiver is not None:  # a comprehension in the method has names of its own
                return SuperValue(function.owner, receiver)
        runner = runner.parent
    return Unknown()


def own_hook(interp: Interpreter, owner: ModuleValue, name: str) -> FunctionValue | None:
    """The ``__setattr__`` or the like that a module's class defines itself, which may call that of torch."""
    found = class_member(interp, owner.cls, name)
    return found[0] if found is not None and isinstance(found[0], FunctionValue) else None
