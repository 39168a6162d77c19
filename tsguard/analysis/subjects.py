"""A target as the object that torch.jit would be handed: built by evaluating its constructor.

Constructor arguments that the target does not give are unknowns that carry their
parameter's name, annotation and default.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Gap
from tsguard.analysis.exploration import first_made
from tsguard.analysis.python import PythonInterpreter, ancestry, classes, decorators, library, metaclasses
from tsguard.analysis.python.binding import arguments
from tsguard.analysis.python.calls import made_otherwise, make_module
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.python.structural_keys import StructuralKeys
from tsguard.analysis.python.unread_mappings import REST, STARS
from tsguard.analysis.terms import Is, Named, Parameter
from tsguard.analysis.values import Scope
from tsguard.analysis.worlds import BudgetExceeded, Impossible, World
from tsguard.project.project import Definition
from tsguard.project.targets import may_be_module
from tsguard.report.records import dataclass
from tsguard.source.functions import positional_parameters
from tsguard.source.unparsing import unparsed

if TYPE_CHECKING:
    from tsguard.analysis.python.program import Program
    from tsguard.project import Target

_HINTS = frozenset({"int", "float", "bool", "str"})
# What an attempt offers to a target's arguments too.
_KNOWN = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "math": "math",
    "SimpleNamespace": "types.SimpleNamespace",
}


# What of all that a call may return torch.jit may take.
_TAKEN = (py.BoundMethod, py.FunctionValue, py.ModuleValue, py.ObjectValue, py.Partial, py.Unknown)


@dataclass(frozen=True, slots=True)
class Built:
    """A target as its constructor's defaults make it, and the world in which they do."""

    world: World
    value: py.Value


@dataclass(frozen=True, slots=True)
class _Construction:
    """What one world makes of a target: a value or the exception, and the world afterwards."""

    outcome: py.Value | Impossible | BudgetExceeded
    world: World

    def is_made_in(self, world: World) -> bool:
        """Whether another world makes the same: nothing that is given there and not here was asked.

        What was too large for one is not for a world that has more steps.
        """
        if isinstance(self.outcome, BudgetExceeded) and world.limit > self.world.limit:
            return False
        asked, given = self.world.answers, self.world.given
        return self.world.manner == world.manner and all(
            given.get(question) is world.given.get(question)
            for question in (*given, *world.given)
            if question in asked
        )


_BUILT: Kept[int, tuple[Target, list[_Construction]]] = Kept(lasting=False)
"""The target that was built last, by identity, with what each world makes of it."""


def first_built(program: Program, target: Target) -> Built | None:
    """The target in the first world in which its constructor does not raise; None if it always does.

    Raises:
        BudgetExceeded: the constructor is too large to be followed.
    """

    def run(world: World) -> py.Value:
        return built(PythonInterpreter(program, world), target)

    first = first_made(run)
    return Built(*first) if first is not None else None


def built(interp: Interpreter, target: Target) -> py.Value:
    """What ``build`` gives, made once for all judges of a target in worlds that its constructor cannot tell apart.

    Who follows the value and changes it says so with ``used_up``.

    Raises:
        Impossible: the constructor raises in this world.
        BudgetExceeded: the constructor is too large to be followed.
    """
    world, last = interp.world, _BUILT.of(interp.program)
    if id(target) not in last:
        last.clear()
        last[id(target)] = (target, [])
        interp.program.structural_keys = StructuralKeys()
    constructions = last[id(target)][1]
    known = next((one for one in constructions if one.is_made_in(world)), None)
    if known is None:
        interp.program.put_back()
        known = _construction(interp, target)
        constructions.append(known)
    else:
        world.resume(known.world)
    if isinstance(known.outcome, Exception):
        raise known.outcome.with_traceback(None)
    return known.outcome


def used_up(program: Program, value: py.Value) -> None:
    """Make a target anew for who comes next: one has followed this value and changed it."""
    for _, constructions in _BUILT.of(program).values():
        constructions[:] = [one for one in constructions if one.outcome is not value]


def _construction(interp: Interpreter, target: Target) -> _Construction:
    outcome: py.Value | Impossible | BudgetExceeded
    try:
        outcome = build(interp, target)
    except (Impossible, BudgetExceeded) as raised:
        outcome = type(raised)(*raised.args)  # without the frames that led to it, for it is kept
    return _Construction(outcome, interp.world.copy())


def abstract(interp: Interpreter, target: Target) -> Gap | None:
    """Why nothing is to be said of a class of which only derived classes can be run; None for any other."""
    try:
        value = definition(interp, target) if target.kind == "module" else None
    except Raised:
        return None
    if not isinstance(value, py.ClassValue):
        return None
    unmade = metaclasses.abstract_method(interp, value)
    return unread.unmade(target.module, target.node, unmade) if unmade else _abstract_forward(interp, value)


def _abstract_forward(interp: Interpreter, cls: py.ClassValue) -> Gap | None:
    found = classes.class_member(interp, cls, "forward")
    function = found[0] if found is not None else None
    if not isinstance(function, py.FunctionValue) or isinstance(function.node, ast.Lambda):
        return None
    if "abstract" not in function.marks and not all(map(_says_nothing, function.node.body)):
        return None
    return unread.abstract(function.module, function.node)


def _says_nothing(node: ast.stmt) -> bool:
    """A docstring, ``...`` or ``raise NotImplementedError``."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and (isinstance(node.value.value, str) or node.value.value is ...)
    )


def unread_classes(interp: Interpreter, subject: py.Value) -> Iterator[Gap]:
    """What was not read of the classes of a module and of all below it: a base may change anything."""
    if isinstance(subject, py.ModuleValue):
        for _, module in library.descendants(subject):
            gap = ancestry.not_read(interp, module.cls) if isinstance(module.cls, py.ClassValue) else None
            if gap is not None:
                yield gap


def build(interp: Interpreter, target: Target) -> py.Value:
    """The module instance or function that a target is, in the interpreter's world.

    Raises:
        Impossible: the constructor raises in this world.
    """
    try:
        value = definition(interp, target)
    except Raised as raised:  # in a class body
        raise Impossible(str(raised), raised.node) from None
    if isinstance(value, py.StaticMethod):
        value = value.function
    if not isinstance(value, py.ClassValue):
        return value if target.call is None else _result(interp, target, target.call)
    if not ancestry.is_module_class(interp, value) and not ancestry.has_unknown_base(interp, value):
        # A module, had an import not failed that has something to fall back on.
        is_other = may_be_module(interp.program.project, Definition(value.module, value.node))
        return py.Unknown(unread=unread.base(value.module, value.node)) if is_other else value
    try:
        args, kwargs = constructor_arguments(interp, target, value)
        other = made_otherwise(interp, value, args, kwargs, target.call) if target.call is not None else None
        return make_module(interp, value, args, kwargs, target.call) if other is None else other
    except Raised as raised:
        raise Impossible(str(raised), raised.node) from None


def _result(interp: Interpreter, target: Target, call: ast.Call) -> py.Value:
    """What a call of the function that a target names returns: that is what torch.jit gets.

    Raises:
        Impossible: the function raises in this world.
    """
    try:
        scope = _naming_torch(interp, interp.program.scope(target.module))
        made = interp.settled(interp.evaluate(call, scope))
    except Raised as raised:
        raise Impossible(str(raised), raised.node) from None
    if interp.world.manner == "lenient" and not isinstance(made, py.ModuleValue):
        return py.Unknown(unread=unread.never_made(target))
    return made if isinstance(made, _TAKEN) else py.Unknown(unread=unread.no_module(target))


def definition(interp: Interpreter, target: Target) -> py.Value:
    """The class or function that a target names."""
    scope = interp.program.scope(target.module)
    parts = target.qualname.split(".")
    value = interp.lookup(parts[0], scope)
    for part in parts[1:]:
        if isinstance(value, py.ClassValue):
            value = value.members.get(part)
    if isinstance(value, (py.FunctionValue, py.ClassValue, py.StaticMethod)) and _node(value) is target.node:
        return value
    if isinstance(target.node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return _redefined(interp, target.node, scope)
    return value if value is not None else py.Unknown()


def _node(value: py.Value) -> ast.AST | None:
    if isinstance(value, py.StaticMethod):
        return _node(value.function)
    if isinstance(value, py.FunctionValue) and value.wrapped is not None:
        return value.wrapped.node
    return getattr(value, "node", None)


def _redefined(
    interp: Interpreter, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
) -> py.Value:
    """The definition itself, where its name is bound to something else later."""
    if isinstance(node, ast.ClassDef):
        return classes.define_class(interp, node, scope)
    return decorators.define_function(interp, node, scope)


def constructor_arguments(
    interp: Interpreter, target: Target, cls: py.ClassValue
) -> tuple[list[py.Value], dict[str, py.Value]]:
    """The arguments that the target gives, and unknowns for the parameters it does not."""
    args: list[py.Value] = []
    kwargs: dict[str, py.Value] = {}
    scope = interp.program.scope(target.module)
    if target.call is not None:
        args, kwargs, _ = arguments(interp, target.call, _naming_torch(interp, scope))
        return args, kwargs
    found = classes.class_member(interp, cls, "__init__")
    if found is not None and isinstance(found[0], py.FunctionValue):
        for parameter, default in _open_parameters(found[0]):
            kwargs[parameter.arg] = unknown_parameter(interp, found[0], parameter, default)
        stars, others = found[0].node.args.vararg, found[0].node.args.kwarg
        if stars is not None:
            kwargs[STARS] = py.Unknown(Parameter(stars.arg, found[0].node, found[0].module))
        if others is not None:
            unread = Parameter(others.arg, found[0].node, found[0].module)
            kwargs[REST] = py.Unknown(unread, default=py.DictValue({}))
        return args, kwargs
    for base in ancestry.mro(interp, cls):
        entry = interp.tables.modules.get(base.name) if isinstance(base, py.External) else None
        if entry is not None and isinstance(base, py.External):
            for name, default in entry["init"]:
                known = library.default_value(default) if default is not None else None
                kwargs[name] = py.Unknown(Parameter(name, base.name), "", known)
            break
    return args, kwargs


def _naming_torch(interp: Interpreter, scope: Scope) -> Scope:
    """The file's names, and those that a target may use though its file does not import them."""
    known: dict[str, py.Value] = {name: py.External(meaning) for name, meaning in _KNOWN.items()}
    package = scope.module.name.partition(".")[0]
    found = interp.program.project.finder.find(package, scope.module)
    if found is not None:
        known[package] = py.ModuleReference(found)
    missing = {name: value for name, value in known.items() if interp.lookup(name, scope) is None}
    return Scope(scope.module, missing, scope)


def _open_parameters(function: py.FunctionValue) -> list[tuple[ast.arg, ast.expr | None]]:
    spec = function.node.args
    return [
        *positional_parameters(function.node)[1:],
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]


def unknown_parameter(
    interp: Interpreter, function: py.FunctionValue, parameter: ast.arg, default: ast.expr | None
) -> py.Value:
    """A constructor parameter that nothing fixes."""
    known: py.Value | None = None
    if default is not None:
        try:
            known = interp.evaluate(default, function.scope)
        except Raised:
            known = None
    if isinstance(known, py.Unknown):
        known = known.default
    hint = _hint(parameter.annotation)
    chosen = _declared_class(interp, function, parameter) if known is None else None
    if chosen is not None:
        return chosen
    if known is not None and not isinstance(known, (py.Const, py.EnumMember)):
        return known
    if hint == "float" and isinstance(known, py.Const) and type(known.value) is int:
        hint = "int"  # an int is a float to Python's type checkers, and none to TorchScript
    return py.Unknown(
        Parameter(parameter.arg, function.node, function.module),
        hint,
        known,
        annotation=parameter.annotation,
        scope=function.scope,
    )


def _declared_class(interp: Interpreter, function: py.FunctionValue, parameter: ast.arg) -> py.Value | None:
    """One of the module classes that ``type[Union[A, B]]`` allows, as this world chooses."""
    annotation = parameter.annotation
    if not isinstance(annotation, ast.Subscript) or unparsed(annotation.value) not in _TYPES:
        return None
    part = annotation.slice
    if isinstance(part, ast.Subscript) and unparsed(part.value) in ("Union", "typing.Union"):
        part = part.slice
    options = [interp.evaluate(node, function.scope) for node in _alternatives(part)]
    known = [c for c in options if isinstance(c, py.ClassValue) and ancestry.is_module_class(interp, c)]
    if not known or len(known) < len(options):
        return None
    given = Parameter(parameter.arg, function.node, function.module)
    for i, option in enumerate(known[:-1]):
        if interp.world.decide(Is(given, Named(option.node, option.name)), i == 0, guess=True):
            return option
    return known[-1]


_TYPES = frozenset({"type", "Type", "typing.Type"})


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Tuple):
        return list(node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def _hint(annotation: ast.expr | None) -> str:
    """The simple type that an annotation names."""
    text = unparsed(annotation) if annotation is not None else ""
    for prefix in ("Optional[", "typing.Optional["):
        if text.startswith(prefix):
            text = text[len(prefix) : -1]
    text = text.removesuffix(" | None").strip("'\"")
    if text in _HINTS:
        return text
    head = text.partition("[")[0].rpartition(".")[2]
    return {
        "List": "list",
        "list": "list",
        "Sequence": "list",
        "Tuple": "tuple",
        "tuple": "tuple",
        "Dict": "dict",
    }.get(head, "")
