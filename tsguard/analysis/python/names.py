"""Names: locals, closures, module globals through their bindings, builtins."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis.python import (
    ancestry,
    classes,
    decorators,
    introspection,
    metaclasses,
    operations,
    regular_expressions,
    standard_library,
)
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.terms import Attribute, Named, Term
from tsguard.analysis.values import (
    NONE,
    Atom,
    ClassValue,
    Const,
    DictValue,
    External,
    ListValue,
    ModuleReference,
    ModuleValue,
    ObjectValue,
    Scope,
    SetValue,
    Unknown,
    Value,
    VersionText,
)
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.project.bindings import assigned_names
from tsguard.project.modules import Module
from tsguard.project.project import Definition, Missing
from tsguard.project.project import External as ExternalMeaning
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.project.bindings import Binding

_BUILTINS = frozenset(dir(builtins))
# A module-level name that is defined by itself.
_PENDING = Unknown()


def lookup(interp: Interpreter, name: str, scope: Scope) -> Value | None:
    """The value of a name, or None where it is unbound."""
    runner: Scope | None = scope
    while runner is not None:
        value = runner.names.get(name)
        if value is not None and not (runner.cls is not None and runner is not scope):
            return value
        if runner.parent is None:
            found = global_name(interp, name, runner)
            if found is not None:
                return found
        runner = runner.parent
    if name == "Ellipsis":
        return Const(...)
    if name == "__name__":
        return Const(scope.module.name)
    if name == "__file__":
        return Unknown(None, "str")
    if name == "__doc__":
        return NONE
    return External(f"builtins.{name}") if name in _BUILTINS else None


def global_name(interp: Interpreter, name: str, scope: Scope) -> Value | None:
    """A module-level name, evaluated from the statement that binds it."""
    value = scope.names.get(name)
    if value is not None:
        return value
    module = scope.module
    if name not in module.bindings and module.binds_only_seen:
        return None
    bindings = interp.program.project.bindings(module, name)
    if module.lazy is None:
        if not bindings and module.binds_only_seen:
            return None
        if bindings and all(binding.guard == "typing" for binding in bindings) and not module.binds_unseen:
            return None  # only type checkers see it
    scope.names[name] = _PENDING
    # Whoever asks first: what a module defines, and the steps it takes, hang on nobody's world.
    alone = interp.alone()
    try:
        return _defined(alone, name, scope, bindings)
    except BudgetExceeded:
        value = scope.names[name] = Unknown(
            _global(scope, name), unread=unread.size(name, module, bindings[-1].node if bindings else None)
        )
        return value


def _defined(interp: Interpreter, name: str, scope: Scope, bindings: list[Binding]) -> Value | None:
    """What binds a name, with what the module does to it afterwards."""
    value = _evaluated(interp, name, scope, bindings)
    if value is None:
        del scope.names[name]
        return None
    scope.names[name] = value
    interp.program.shared_state.define(value)
    if bindings and isinstance(value, (ListValue, DictValue, SetValue, ClassValue)):
        _apply_changes(interp, name, value, scope)
        if not isinstance(value, ClassValue) and name in scope.module.changes.nested:
            interp.program.shared_state.hold(value)
    if isinstance(value, ObjectValue) and not isinstance(value, ModuleValue):
        _apply_registrations(interp, name, value, scope)
        interp.program.shared_state.hold(value)
    if isinstance(value, ClassValue):
        _open_tables(interp, value, scope)
        _hold_tables(interp, value)
    interp.program.shared_state.keep(value)
    return value


def _evaluated(interp: Interpreter, name: str, scope: Scope, bindings: list[Binding]) -> Value | None:
    """What binds a name; a module that is imported raises nothing, whatever it looks like from here."""
    try:
        chosen = _on_the_side_that_runs(interp, bindings, scope)
        return _from_meaning(interp, name, scope) if chosen is None else _bound(interp, name, scope, chosen)
    except Raised:
        return Unknown(_global(scope, name))


def _on_the_side_that_runs(interp: Interpreter, bindings: list[Binding], scope: Scope) -> ast.stmt | None:
    """Of definitions on both sides of one ``if``, that on the side taken, where its test is known."""
    tests = {id(binding.test): binding.test for binding in bindings}
    test = next(iter(tests.values()), None)
    if test is None or len(tests) > 1 or len({binding.holds for binding in bindings}) < 2:
        return None
    try:
        value = interp.settled(interp.evaluate(test, scope))
    except Raised:
        return None
    if isinstance(value, Unknown):
        return None
    holds = operations.known_truth(value)
    chosen = [binding.node for binding in bindings if binding.holds is holds][-1]
    return chosen if isinstance(chosen, (ast.Assign, ast.FunctionDef, ast.ClassDef)) else None


def _apply_changes(
    interp: Interpreter, name: str, value: ListValue | DictValue | SetValue | ClassValue, scope: Scope
) -> None:
    """Run what the module does to a container or class after it is made; what nested code does is open."""
    changes = scope.module.changes
    if not isinstance(value, ClassValue):
        value.open = value.open or name in changes.nested
        if isinstance(value, DictValue) and name in changes.nested:
            value.filled_by = value.filled_by or (scope.module, changes.nested[name] | {name})
    for statement in changes.statements.get(name, ()):
        if isinstance(value, ClassValue) and classes.annotate(value, statement, scope):
            continue
        try:
            interp.execute([statement], scope)
        except Raised:
            if not isinstance(value, ClassValue):
                value.open = True


def _apply_registrations(interp: Interpreter, name: str, value: ObjectValue, scope: Scope) -> None:
    """Run what the module registers with an object; what other modules may register is open."""
    for statement in scope.module.changes.registrations.get(name, ()):
        decorators.bounded(interp, partial(_registered, interp, statement, scope))
    for attribute in classes.filled_dicts(interp, value.cls):
        filled = value.attributes.get(attribute)
        if isinstance(filled, DictValue):
            filled.open = True
            filled.filled_by = filled.filled_by or (scope.module, frozenset([name]))
            interp.program.shared_state.hold(filled)


def _open_tables(interp: Interpreter, cls: ClassValue, scope: Scope) -> None:
    """A table in a class to which its methods add is filled by who is handed to the class."""
    tables = {key: member for key, member in cls.members.items() if isinstance(member, DictValue)}
    for key in classes.filled_dicts(interp, cls) & tables.keys() if tables else ():
        tables[key].open = True
        tables[key].filled_by = tables[key].filled_by or (scope.module, frozenset([cls.name]))


def _hold_tables(interp: Interpreter, cls: ClassValue) -> None:
    """Remember what a class holds in containers, which the code of any target may change."""
    for member in cls.members.values():
        if isinstance(member, (ListValue, DictValue, SetValue)):
            interp.program.shared_state.hold(member)
            interp.program.shared_state.keep(member)


def _registered(interp: Interpreter, node: ast.stmt, scope: Scope) -> Value:
    try:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return interp.lookup(node.name, scope) or NONE
        interp.execute([node], scope)
    except Raised:
        pass
    return NONE


def _from_meaning(interp: Interpreter, name: str, scope: Scope) -> Value | None:
    meaning = interp.program.project.meaning(scope.module, name)
    if meaning is None:
        return None
    if isinstance(meaning, Definition) and meaning.module is scope.module:
        return _bound(interp, name, scope, meaning.node)
    bindings = scope.module.bindings.get(name)
    return of_meaning(interp, meaning, name, scope.module, bindings[-1].node if bindings else None)


def of_meaning(
    interp: Interpreter, meaning: object, name: str, importer: Module, node: ast.AST | None
) -> Value:
    """The value that an imported name has where it is defined; ``node`` is what imports it."""
    if isinstance(meaning, Definition) and meaning.module.is_stub:
        return Unknown(
            Named((meaning.module.name, name), name), unread=unread.stub(meaning.module.name, importer, node)
        )
    if isinstance(meaning, Definition):
        own = getattr(meaning.node, "name", name)
        home = interp.program.scope(meaning.module)
        defined = own if isinstance(own, str) and own in meaning.module.bindings else _original(meaning, name)
        found = global_name(interp, defined, home)
        return found if found is not None else Unknown(_global(home, name))
    if isinstance(meaning, Module):
        return ModuleReference(meaning)
    if isinstance(meaning, ExternalMeaning):
        return external(interp, meaning.name)
    assert isinstance(meaning, Missing)
    return Unknown(
        Named(meaning.name, name), unread=unread.source(interp.program.project, meaning, importer, node)
    )


def _original(meaning: Definition, name: str) -> str:
    """The name that the defining statement binds, where an import renamed it."""
    targets = getattr(meaning.node, "targets", None) or [getattr(meaning.node, "target", None)]
    bound = [n for target in targets if isinstance(target, ast.expr) for n in assigned_names(target)]
    return name if name in bound or not bound else bound[0]


_CONSTANTS = {
    "typing.TYPE_CHECKING": False,
    "numpy.pi": math.pi,
    "numpy.e": math.e,
    "numpy.inf": math.inf,
    "numpy.nan": math.nan,
    "numpy.euler_gamma": 0.5772156649015329,
    "numpy.newaxis": None,
}


def external(interp: Interpreter, name: str) -> Value:
    """A name of a described package, as a constant where the tables tell its value."""
    known = interp.program.externals.get(name)
    if known is None:
        known = interp.program.externals[name] = _external(interp, name)
    return known


def _external(interp: Interpreter, name: str) -> Value:
    if name in _CONSTANTS:
        return Const(_CONSTANTS[name])
    if name in ("torch.__version__", "torch.torch_version.__version__"):
        return VersionText(f"{interp.tables.release}.0")
    if name == "torch.version.__version__":
        return Const(f"{interp.tables.release}.0")
    known = (
        introspection.constant(name)
        or regular_expressions.constant_of(name)
        or standard_library.value_of(name)
    )
    if known is not None:
        return known
    canonical = interp.tables.canonical(name)
    entry = interp.tables.names.get(canonical)
    if isinstance(entry, dict):
        if "const" in entry:
            return Const(_literal(entry["const"]))
        if "atom" in entry:
            return Atom(entry["atom"], entry["value"])
    owner, _, attribute = name.rpartition(".")
    if attribute in ("__name__", "__qualname__") and _is_class(interp, owner):
        return Const(owner.rpartition(".")[2])
    if attribute in _TEXTS:
        return Unknown(Attribute(Named(owner, owner), attribute), "str")
    return External(canonical)


# What the name of a module, class or function holds as a text.
_TEXTS = frozenset({"__doc__", "__file__", "__module__", "__name__", "__qualname__", "__version__"})


def _is_class(interp: Interpreter, name: str) -> bool:
    """Whether a name of a described package is that of a class, which is called the same."""
    package, _, short = name.rpartition(".")
    if package == "builtins":
        return isinstance(getattr(builtins, short, None), type)
    return ancestry.is_module_class(interp, External(interp.tables.canonical(name)))


def _literal(text: str) -> object:
    if text in ("inf", "nan", "-inf"):
        return float(text)
    return ast.literal_eval(text)


def _bound(interp: Interpreter, name: str, scope: Scope, node: ast.stmt) -> Value | None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return decorators.define_function(interp, node, scope)
    if isinstance(node, ast.ClassDef):
        return metaclasses.define_class(interp, node, scope)
    if isinstance(node, ast.Assign):
        return _assigned(interp, name, node, scope)
    if isinstance(node, ast.AnnAssign):
        if node.value is None:
            return None
        return interp.evaluate(node.value, scope)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return dict(imported(interp, node, scope)).get(name)
    return Unknown(_global(scope, name))


def _global(scope: Scope, name: str) -> Term:
    """What stands for a name of a module whose value is not followed."""
    return Named((scope.module.name, name), name)


def _assigned(interp: Interpreter, name: str, node: ast.Assign, scope: Scope) -> Value | None:
    own = {n.id for n in walked(node.value) if isinstance(n, ast.Name)}
    if name in own:
        earlier = _earlier_binding(interp.program.project.bindings(scope.module, name), node)
        if earlier is not None:
            before = _bound(interp, name, scope, earlier.node)
            if before is not None:
                scope.names[name] = before
    value = interp.evaluate(node.value, scope)
    for target in node.targets:
        if isinstance(target, ast.Name) and target.id == name:
            return value
        if isinstance(target, (ast.Tuple, ast.List)):
            for i, element in enumerate(target.elts):
                if isinstance(element, ast.Name) and element.id == name:
                    items = getattr(value, "items", None)
                    if isinstance(items, (tuple, list)) and i < len(items):
                        item: Value = items[i]
                        return item
                    return Unknown(_global(scope, name))
    return value


def _earlier_binding(bindings: list[Binding], node: ast.stmt) -> Binding | None:
    before = [b for b in bindings if b.node.lineno < node.lineno]
    return before[-1] if before else None


def imported(
    interp: Interpreter, node: ast.Import | ast.ImportFrom, scope: Scope
) -> Iterator[tuple[str, Value]]:
    """The names that an import inside a function binds, and their values."""
    project, module = interp.program.project, scope.module

    def value(meaning: object, name: str) -> Value:
        return of_meaning(interp, meaning, name, module, node)

    for alias in node.names:
        if isinstance(node, ast.Import):
            wanted = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or wanted, value(project.imported(module, wanted), wanted)
        elif alias.name != "*":
            meaning = project.member(module, module.absolute(node), alias.name)
            yield alias.asname or alias.name, value(meaning, alias.name)
