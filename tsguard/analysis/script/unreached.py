"""Branches that no call comes to: their test asks for attributes that stay what the constructor made them.

torch compiles them all the same; what would only go wrong when it runs does not, there.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator

from tsguard.analysis import values as py
from tsguard.analysis.script import left_in_python
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.sugared import SugaredModule
from tsguard.source.walking import walked

_COMPARED: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def is_passed_by(fc: FunctionCompiler) -> bool:
    """Whether a test around what is compiled now never comes out as it would have to."""
    return any(_truth(fc, test) is (not taken) for test, taken in fc.tests)


def _truth(fc: FunctionCompiler, test: ast.expr) -> bool | None:
    """What a test is in every call; None if that is not known."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _truth(fc, operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            decides = isinstance(op, ast.Or)
            truths = [_truth(fc, value) for value in values]
            if decides in truths:
                return decides
            return None if None in truths else not decides
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            compared = _kept(fc, left), _kept(fc, right)
            if compared[0] is None or compared[1] is None:
                return None
            return _COMPARED[type(op)](compared[0].value, compared[1].value)
    kept = _kept(fc, test)
    return None if kept is None else bool(kept.value)


def _kept(fc: FunctionCompiler, node: ast.expr) -> py.Const | None:
    """The plain value of a literal, or of an attribute of ``self`` that nothing assigns after the constructor."""
    if isinstance(node, ast.Constant):
        return py.Const(node.value)
    if not (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == fc.signature.receiver
        and isinstance(fc.receiver, SugaredModule)
    ):
        return None
    # Modules of one class may share the code that is compiled for the first of them.
    fc.compiler.reporter.mark_target_specific()
    modules = list(_modules_below(fc.compiler))
    values = {m.attributes.get(node.attr) for m in modules if m.cls == fc.receiver.instance.cls}
    value = values.pop() if len(values) == 1 else None
    if not isinstance(value, py.Const) or any(_assigns(fc.compiler, m, node.attr) for m in modules):
        return None
    return value


def _modules_below(compiler: Compiler) -> Iterator[py.ModuleValue]:
    """The target's module and all that it holds."""
    pending = [compiler.root] if compiler.root is not None else []
    seen: set[int] = set()
    while pending:
        module = pending.pop()
        if id(module) not in seen:
            seen.add(id(module))
            yield module
            pending.extend(child for child in module.children.values() if isinstance(child, py.ModuleValue))


def _assigns(compiler: Compiler, module: py.ModuleValue, name: str) -> bool:
    """Whether a method of a module that is no constructor assigns an attribute of this name, of any object."""
    return any(
        (isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Name) and node.id == "setattr")
        for method in left_in_python.methods(compiler, module)
        if method.name != "__init__"
        for node in walked(method.node)
    )
