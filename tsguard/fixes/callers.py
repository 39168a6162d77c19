"""Who calls a function in its file, by the looks of the calls: whether arguments are passed that it is to take no longer."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection

from tsguard.fixes.blocks import class_around
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import relatives
from tsguard.source import SourceFile
from tsguard.source.remembering import remembered
from tsguard.source.unparsing import dotted, unparsed
from tsguard.source.walking import children, walked

_CALLED = frozenset({"forward", "__call__"})


def gives_more(file: SourceFile, function: Function, dropped: str, added: Collection[str] = ()) -> bool:
    """Whether a call gives a function what its ``*args`` or ``**kwargs`` take, but for the keywords that are added.

    Where a module may be called that has the function as its ``forward``, the call counts; what is only passed on is nothing.
    """
    spec, owner = function.args, class_around(file, file.span(function))
    named = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    if owner is not None and function in owner.body:
        named = named[1:]
    known = {*named, *(a.arg for a in spec.kwonlyargs), *added}
    kin = {c.name for c in relatives(file, owner)} if owner is not None else set()
    of_args = spec.vararg is not None and spec.vararg.arg == dropped
    return any(
        _is_passed_more(call, around[-1] if around else None, len(named), known, of_args=of_args)
        for call, around in _calls(file.tree)
        if function not in around and _may_reach(file, call.func, function.name, kin)
    )


def _is_passed_more(
    call: ast.Call, within: Function | None, positions: int, known: Collection[str], *, of_args: bool
) -> bool:
    """Whether a call passes more than so many by position, or other keywords, besides what its function passes on."""
    variadics = (within.args.vararg, within.args.kwarg) if within is not None else ()
    passed_on = {argument.arg for argument in variadics if argument is not None}
    if of_args:
        return sum(unparsed(a).removeprefix("*") not in passed_on for a in call.args) > positions
    return any(k.arg not in known and (k.arg or unparsed(k.value) not in passed_on) for k in call.keywords)


@remembered(2)  # asked for each function of a file in turn
def _calls(tree: ast.Module) -> list[tuple[ast.Call, tuple[Function, ...]]]:
    """The calls of a file, each with the functions around it."""
    found = []
    pending: list[tuple[tuple[Function, ...], ast.AST]] = [((), tree)]
    for around, node in pending:
        if isinstance(node, ast.Call):
            found.append((node, around))
        inner = (*around, node) if isinstance(node, Function) else around
        pending += [(inner, child) for child in children(node)]
    return found


def _may_reach(file: SourceFile, called: ast.expr, name: str, kin: Collection[str]) -> bool:
    """Whether a call may run a function of a name, which classes have as a method if there are any."""
    if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == name:
        return True
    if name not in _CALLED or not kin:
        return False
    if isinstance(called, ast.Call):
        return unparsed(called.func) in kin
    if isinstance(called, ast.Attribute):
        if not (isinstance(called.value, ast.Name) and called.value.id == "self"):
            return False
        makers = _makers(file.tree).get(called.attr, ())
        return not makers or any(_may_make(maker, kin) for maker in makers)
    return isinstance(called, ast.Subscript) or (
        isinstance(called, ast.Name) and _is_variable(file, called.id)
    )


@remembered(2)  # asked of every call of a file in turn
def _makers(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What a file assigns to each attribute of ``self``; methods of that name count as such."""
    found: dict[str, list[ast.expr]] = {}
    for node in walked(tree):
        if isinstance(node, Function):
            found.setdefault(node.name, []).append(ast.Constant(None))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                owner, _, name = dotted(target).rpartition(".")
                if owner == "self":
                    found.setdefault(name, []).append(node.value)
    return found


def _may_make(value: ast.expr, kin: Collection[str]) -> bool:
    """Whether a value may be an object of one of the classes: what a call of another class gives is none."""
    if isinstance(value, ast.Constant):
        return False
    made = unparsed(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    return made in kin or not made[:1].isupper()


def _is_variable(file: SourceFile, name: str) -> bool:
    """Whether a name is neither a builtin nor that of a function, a class or a package of the file."""
    for node in file.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((alias.asname or alias.name.partition(".")[0]) == name for alias in node.names):
                return False
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
            return False
    return name not in dir(builtins)
