"""Registries: tables that other modules fill, by decorators or calls, when somebody asks for a name.

Python runs the registrations when it imports those modules.  Here they are run when a table is
asked for a key that it does not hold, and only those that may give it that key.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import ClassValue, DictValue, EnumMember, FunctionValue, ModuleReference
from tsguard.analysis.worlds import BudgetExceeded, Impossible
from tsguard.project.modules import Module
from tsguard.source.statements import module_level
from tsguard.source.walking import walked

_TRIED: Kept[tuple[DictValue, object], bool] = Kept()


def fill(interp: Interpreter, table: DictValue, key: object) -> None:
    """Run the registrations by which a table may come to hold a key that it does not hold."""
    if table.names_of is not None and isinstance(key, str) and key not in table.items:
        named = interp.attribute(ModuleReference(table.names_of), key)
        if named is not None:
            table.items[key] = named
    # What is registered for a function or class may be a table of its own, to which several add.
    has_several = isinstance(key, (FunctionValue, ClassValue))
    word = key.name if isinstance(key, (EnumMember, FunctionValue, ClassValue)) else key
    if table.filled_by is None or not isinstance(word, str) or (key in table.items and not has_several):
        return
    tried = _TRIED.of(interp.program)
    if (table, key) in tried:
        return
    tried[table, key] = True
    home, registrars = table.filled_by
    for module, node in _registrations(interp, home, registrars, word):
        _run(interp, module, node)
        if key in table.items and not has_several:
            return


def _run(interp: Interpreter, module: Module, node: ast.stmt) -> None:
    """Run a registration on its own: what it does hangs on no argument of a target."""
    alone = interp.alone()
    scope = interp.program.scope(module)
    try:
        if isinstance(node, ast.FunctionDef):
            alone.lookup(node.name, scope)
        elif isinstance(node, ast.ClassDef):
            cls = alone.lookup(node.name, scope)
            for decorator in reversed(node.decorator_list):
                if cls is not None:
                    alone.call(alone.evaluate(decorator, scope), [cls], {}, decorator)
        else:
            alone.execute([node], scope)
    except (Raised, Impossible, BudgetExceeded):
        return


def _registrations(
    interp: Interpreter, home: Module, registrars: frozenset[str], word: str
) -> Iterator[tuple[Module, ast.stmt]]:
    """Statements of the home's package that hand something to a registrar, and mention the key."""
    alike = word.lower()
    for module in interp.program.project.finder.filling(home, registrars):
        if alike in _lowered(interp, module):
            for node in _registering(interp, module, registrars):
                if _mentions(node, alike):
                    yield module, node


_LOWERED: Kept[Module, str] = Kept()
_REGISTERING: Kept[tuple[Module, frozenset[str]], tuple[ast.stmt, ...]] = Kept()


def _lowered(interp: Interpreter, module: Module) -> str:
    """The text of a module that is looked through for one key after another."""
    known = _LOWERED.of(interp.program)
    if module not in known:
        known[module] = module.file.text.lower()
    return known[module]


def _registering(interp: Interpreter, module: Module, registrars: frozenset[str]) -> tuple[ast.stmt, ...]:
    """The statements of a module that hand something to a registrar."""
    known = _REGISTERING.of(interp.program)
    key = (module, registrars)
    if key not in known:
        is_likely = may_register(registrars).search(module.file.text)
        body = module_level(module.file.tree.body) if is_likely else ()
        known[key] = tuple([node for node in body if _registers(node, registrars)])
    return known[key]


@functools.cache
def may_register(registrars: frozenset[str]) -> re.Pattern[str]:
    """Where a line may hand something to a registrar: on a decorator or a class, or at its beginning.

    Most modules that name one only use it; only the others are worth parsing.
    """
    names = "|".join(map(re.escape, sorted(registrars)))
    return re.compile(rf"^[ \t]*(?:(?:@|class\b)[^\n]*|[\w.()\[\]'\"]*)\b(?:{names})\b", re.MULTILINE)


def _registers(node: ast.stmt, registrars: frozenset[str]) -> bool:
    handed: list[ast.expr] = []
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        handed = [*node.decorator_list, *getattr(node, "bases", ())]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        handed = [node.value.func]
    elif isinstance(node, ast.Assign):
        handed = [target for target in node.targets if isinstance(target, ast.Subscript)]
    return any(
        getattr(part, "id", getattr(part, "attr", None)) in registrars for e in handed for part in walked(e)
    )


def _mentions(node: ast.stmt, alike: str) -> bool:
    """Whether a registration names the key: as the name of what it defines, in a text, or as a member."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        parts = [part for decorator in node.decorator_list for part in walked(decorator)]
        if isinstance(node, ast.ClassDef):
            parts += [part for keyword in node.keywords for part in walked(keyword)]
            parts += [
                part for member in node.body if isinstance(member, ast.Assign) for part in walked(member)
            ]
        if node.name.lower() == alike:
            return True
    else:
        parts = list(walked(node))
    return any(_word(part).lower() == alike for part in parts)


def _word(node: ast.AST) -> str:
    """What a text says, what an attribute is called, as a member of an enumeration is, or a name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
