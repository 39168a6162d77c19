"""Methods that ``@ignore`` and ``@unused`` leave in Python: they run on the scripted module, which lacks what it did not compile."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule
from tsguard.project.bindings import TRIES
from tsguard.source.functions import takes_positional
from tsguard.source.walking import children, walked

MARKS = frozenset({"ignore", "unused"})
# Every module has them, scripted ones of their own.
_OF_EVERY_MODULE = frozenset(
    {
        "add_module", "apply", "buffers", "children", "cpu", "cuda", "double", "eval", "extra_repr", "float", "forward",
        "get_extra_state", "half", "load_state_dict", "modules", "named_buffers", "named_children", "named_modules",
        "named_parameters", "parameters", "register_buffer", "register_module", "register_parameter", "set_extra_state",
        "share_memory", "state_dict", "to", "train", "type", "zero_grad",
    }
)  # fmt: skip


def check(compiler: Compiler, owner: SugaredModule, function: py.FunctionValue, *, is_called: bool) -> None:
    """Report what a method that runs in Python surely asks of the scripted module, which has it not.

    One that compiled code calls is given another module each time, which has no properties, and whose other
    methods of Python are not bound to it.
    """
    if not isinstance(function.node, ast.FunctionDef) or not function.node.args.args:
        return
    receiver = function.node.args.args[0].arg
    for node in _sure_statements(function.node.body):
        read = _read(node, receiver)
        called = _read(node.func, receiver) if isinstance(node, ast.Call) and is_called else None
        if called is not None and _is_unbound(compiler, owner.instance, called.attr):
            facts = {"expression": text_of(node), "function": function.name, "attribute": called.attr}
            refusal = Refusal("left-in-python/unbound", node, **facts)
        elif read is not None and _is_lacking(compiler, owner.instance, read.attr, is_called=is_called):
            facts = {"expression": text_of(read), "function": function.name, "attribute": read.attr}
            refusal = Refusal("left-in-python", read, **facts)
        else:
            continue
        compiler.report(refusal, function.module, if_reached=True)
        return


def _is_unbound(compiler: Compiler, instance: py.ModuleValue, name: str) -> bool:
    """Whether a method is copied from the class as the function that it is there."""
    found = classes.class_member(compiler.interp, instance.cls, name)
    return (
        found is not None
        and isinstance(found[0], py.FunctionValue)
        and bool(found[0].marks & MARKS)
        and takes_positional(found[0].node)
    )


def _is_lacking(compiler: Compiler, instance: py.ModuleValue, name: str, *, is_called: bool) -> bool:
    """Whether a module has an attribute in eager only: of a property, the property itself is all that there is."""
    if name.startswith("__") or name in _OF_EVERY_MODULE or _is_written(compiler, instance, name):
        return False
    info = compiler.info(instance)
    if name in info.attributes or name in info.constants or name in instance.children:
        return False
    if name in info.ignored:
        return is_called and name in instance.attributes
    if name in info.functions or name in info.failed:
        return True
    found = classes.class_member(compiler.interp, instance.cls, name)
    if found is None or not isinstance(found[1], py.ClassValue):
        return False
    member = found[0]
    if isinstance(member, py.FunctionValue):
        return not member.marks & (MARKS | {"export"}) and not _may_be_compiled(compiler, instance, name)
    return not isinstance(member, py.Unknown) and not ancestry.has_unknown_base(compiler.interp, instance.cls)


def _may_be_compiled(compiler: Compiler, instance: py.ModuleValue, name: str) -> bool:
    """Whether a method that may be compiled names another, which is compiled with it then."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name
        for member in methods(compiler, instance)
        if member.name != "__init__" and not member.marks & MARKS
        for node in walked(member.node)
    )


def _is_written(compiler: Compiler, instance: py.ModuleValue, name: str) -> bool:
    """Whether a method that runs in Python may give the scripted module the attribute itself."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Name) and node.id == "setattr")
        for member in methods(compiler, instance)
        if member.marks & MARKS
        for node in walked(member.node)
    )


def methods(compiler: Compiler, instance: py.ModuleValue) -> Iterator[py.FunctionValue]:
    """The methods that a module's class and its bases define in source."""
    for base in ancestry.mro(compiler.interp, instance.cls):
        if isinstance(base, py.ClassValue):
            yield from (member for member in base.members.values() if isinstance(member, py.FunctionValue))


def _sure_statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What is evaluated on every way through a body, up to where one may end."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(statement, (*TRIES, ast.With)):
            return
        yield from _sure_nodes(statement)
        if any(isinstance(node, (ast.Return, ast.Yield)) for node in walked(statement)):
            return


def _read(node: ast.AST, receiver: str) -> ast.Attribute | None:
    """An attribute that is read of the receiver."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return None
    return node if isinstance(node.value, ast.Name) and node.value.id == receiver else None


def _sure_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that are evaluated whenever it runs."""
    yield node
    for child in () if isinstance(node, ast.Lambda) else _first(node) or children(node):
        yield from _sure_nodes(child)


def _first(node: ast.AST) -> list[ast.AST]:
    """What is evaluated first, and alone for sure, of a node that chooses; nothing of what takes all."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.Match):
        return [node.subject]
    if isinstance(node, ast.BoolOp):
        return [node.values[0]]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return [node.generators[0].iter]
    return []
