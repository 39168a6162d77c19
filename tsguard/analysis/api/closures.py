"""What the forward of a module reaches, by the names in its source: enough for marks and results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.events import text_of
from tsguard.analysis.python import Interpreter, PythonInterpreter, classes
from tsguard.analysis.values import ClassValue, FunctionValue, ModuleValue, Value
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.python import Program

_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.Match)


def ignored_call(program: Program, root: ModuleValue) -> str | None:
    """The first ``@torch.jit.ignore`` function that compiled code calls and that a saved file cannot hold."""
    interp = PythonInterpreter(program)
    for module in _modules(root):
        if not isinstance(module.cls, ClassValue):
            continue
        for function in _reached(interp, module.cls):
            if "ignore" in function.marks:
                return function.name
    return None


def _reached(interp: Interpreter, cls: ClassValue) -> Iterator[FunctionValue]:
    """The functions that forward calls, on itself or by their names, and what they call in turn."""
    found = classes.class_member(interp, cls, "forward")
    todo: list[Value] = [found[0]] if found is not None else []
    seen: set[ast.AST] = set()
    while todo:
        function = todo.pop()
        if not isinstance(function, FunctionValue) or function.node in seen:
            continue
        seen.add(function.node)
        yield function
        if function.marks & {"ignore", "unused"}:
            continue
        for node in walked(function.node):
            if isinstance(node, ast.Call):
                called = _called(interp, cls, function, node.func)
                if called is not None:
                    todo.append(called)


def _called(interp: Interpreter, cls: ClassValue, function: FunctionValue, node: ast.expr) -> Value | None:
    if isinstance(node, ast.Name):
        return interp.lookup(node.id, function.scope)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        member = classes.class_member(interp, cls, node.attr)
        return member[0] if member is not None else None
    return None


def unused_branches(root: ModuleValue) -> Iterator[FunctionValue]:
    """Functions under ``@torch.jit.unused`` that hold control flow, in the classes of a module."""
    for cls in dict.fromkeys(module.cls for module in _modules(root)):
        for member in cls.members.values() if isinstance(cls, ClassValue) else ():
            if isinstance(member, FunctionValue) and "unused" in member.marks and _branches(member):
                yield member


def _branches(function: FunctionValue) -> bool:
    return any(isinstance(node, _BRANCHES) for node in walked(function.node))


def dictionary_returned(root: ModuleValue | None) -> str | None:
    """The dict that forward returns, in the words of the source."""
    cls = root.cls if root is not None else None
    forward = cls.members.get("forward") if isinstance(cls, ClassValue) else None
    if not isinstance(forward, FunctionValue):
        return None
    nodes = list(walked(forward.node))
    assigned = [node for node in nodes if isinstance(node, ast.Assign) and _is_dictionary(node.value)]
    names = {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes:
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and (_is_dictionary(value) or getattr(value, "id", "") in names):
            return text_of(value)
    return None


def _is_dictionary(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.DictComp)) or (
        isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("dict", "OrderedDict")
    )


def _modules(root: ModuleValue) -> Iterator[ModuleValue]:
    yield root
    for child in root.children.values():
        if isinstance(child, ModuleValue):
            yield from _modules(child)
