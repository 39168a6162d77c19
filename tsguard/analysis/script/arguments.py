"""Constructor arguments of unknown type in compiled code: which uses compile for any value that eager accepts.

A number, a text, a tensor or a list of them is converted, and operators take it.  A module or a
function is compiled, whichever it is.  Of other objects torch converts only those of NamedTuples
and of classes that compile.
"""

from __future__ import annotations

import ast

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.declared import is_module
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule, Value
from tsguard.analysis.terms import Converts, Parameter, Term, root
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

_PLAIN = frozenset(name for kind in (str, list, dict, tuple, set) for name in vars(kind))
_OF_TENSORS = frozenset(
    {"shape", "dtype", "device", "data", "grad", "T", "mT", "is_cuda", "requires_grad", "ndim"}
)


def rests_on(fc: FunctionCompiler, source: py.Unknown | None, node: ast.AST) -> None:
    """Note that what a value is tells whether a use of it compiles: a call (of a module or a function), what it is
    entered as, what is unpacked of it (of tuples torch does so, of lists not)."""
    if source is not None:
        fc.compiler.reporter.add_gap(unread.what(source, fc.compiler.target, fc.module, node))


def read(fc: FunctionCompiler, source: py.Unknown, name: str, owner: str, node: ast.AST) -> None:
    """An attribute of a module is read that holds an argument.

    Raises:
        Refusal: the constructor takes it for an object, and in this world torch has no type for it.
    """
    term = source.term
    if isinstance(node, ast.expr) and fc.is_called(node):
        return
    if term is None and source.unread is None and source.default is None and not source.hint:
        fc.unread(node)
    if (
        source.unread is None
        and isinstance(term, Parameter)
        and not is_module(fc.compiler, source)
        and _is_object(fc, term)
    ):
        _refuse(fc, term, name, owner, node)


def attribute(
    fc: FunctionCompiler, source: py.Unknown | None, value: ast.AST | None, node: ast.AST
) -> py.Unknown | None:
    """An attribute of a value of unknown type is read: the value if it may be anything, None if one that
    torch converts has such an attribute.

    Raises:
        Refusal: an argument has it that is an object, and in this world torch has no type for it.
    """
    is_called = isinstance(node, ast.Attribute) and fc.is_called(node)
    if source is None or not isinstance(node, ast.Attribute) or _is_plain(fc, node, is_called):
        return None
    if is_module(fc.compiler, source):
        rests_on(fc, source, node)
        return None
    parameter = root(source.term)
    if is_called:  # a module's or an object's method, which the call asks about
        return source
    if source.term is not None and source.unread is None and isinstance(parameter, Parameter):
        name = value.attr if isinstance(value, ast.Attribute) else parameter.name
        _refuse(fc, source.term, name, _owner(fc), value or node)
    return source


def below(fc: FunctionCompiler, source: py.Unknown | None, node: ast.AST) -> py.Unknown | None:
    """An attribute of what comes out of a value of unknown type is read; what is then still to be asked about."""
    if source is None or not isinstance(node, ast.Attribute):
        return source
    is_called = fc.is_called(node)
    if _is_plain(fc, node, is_called):
        return None
    if is_called:
        return source
    rests_on(fc, source, node)
    return None


def item(fc: FunctionCompiler, value: Value, index: ast.expr) -> None:
    """An item of a value of unknown type is read; a text that is known picks it from a dict of settings.

    Raises:
        Refusal: an argument has it, and in this world its values are of several types.
    """
    source = value.source
    if not isinstance(index, ast.Constant) or not isinstance(index.value, str):
        return
    if source is not None and source.unread is None and isinstance(source.term, Parameter):
        name = value.node.attr if isinstance(value.node, ast.Attribute) else source.term.name
        _refuse(fc, source.term, name, _owner(fc), value.node or index, is_dict=True)


def _owner(fc: FunctionCompiler) -> str:
    return (
        fc.compiler.name_of(fc.receiver.instance) if isinstance(fc.receiver, SugaredModule) else "the module"
    )


def _refuse(
    fc: FunctionCompiler, term: Term, name: str, owner: str, node: ast.AST, *, is_dict: bool = False
) -> None:
    fc.compiler.reporter.mark_target_specific()
    if not fc.compiler.interp.world.decide(Converts(term, is_dict), False, guess=True):
        rule: RuleName = (
            "unconvertible-attribute/argument-dict" if is_dict else "unconvertible-attribute/argument"
        )
        raise Refusal(rule, node, name=name, owner=owner)


_OBJECTS: Kept[Parameter, bool] = Kept()


def _is_object(fc: FunctionCompiler, parameter: Parameter) -> bool:
    """Whether the function that takes a parameter reads attributes of it that only objects have."""
    known = _OBJECTS.of(fc.compiler.interp.program)
    if parameter not in known:
        node = parameter.function
        known[parameter] = isinstance(node, ast.AST) and _reads_members(fc, node, parameter.name)
    return known[parameter]


def _reads_members(fc: FunctionCompiler, function: ast.AST, name: str) -> bool:
    called_nodes = {id(node.func) for node in walked(function) if isinstance(node, ast.Call)}
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and id(node) not in called_nodes
        and not _is_plain(fc, node, is_called=False)
        for node in walked(function)
    )


def _is_plain(fc: FunctionCompiler, node: ast.Attribute, is_called: bool) -> bool:
    """Whether values that torch converts have such an attribute or method."""
    if is_called:
        is_compiled = bool(fc.compiler.operators.overloads(f"aten::{node.attr}"))
        return (node.attr in _PLAIN and is_compiled) or fc.compiler.is_tensor_member(node.attr)
    return node.attr in _OF_TENSORS
