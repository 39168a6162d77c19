"""What a call gives is told to TorchScript, where the function that is called may give several types."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import fresh_name, inserted_after, inserted_before, statement_around
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around
from tsguard.fixes.spelling import spelled
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


def assert_result(module: Module, line: int, name: str, type_: str) -> Fix | None:
    """``a, b = self.net(x)`` becomes ``out = self.net(x)``, an assertion of its type, and ``a, b = out``.

    Args:
        line: where a function that is annotated to return Any is called.
        name: the function's, ``forward`` for a module.
        type_: of what it was seen to return there.
    """
    file = module.file
    statements = [n for n in nodes_around(file, line) if isinstance(n, (ast.Assign, ast.Return, ast.Expr))]
    written = spelled(type_, module, line) if "?" not in type_ and type_ != "NoneType" else None
    torch = torch_imported(module, line)
    if not statements or written is None or not _is_in_function(module, line):
        return None
    outer = statements[-1]
    calls = [n for n in ast.walk(outer) if isinstance(n, ast.Call) and _may_call(n, name)]
    if len(calls) != 1 or any(
        isinstance(n, (ast.comprehension, ast.IfExp, ast.BoolOp)) for n in ast.walk(outer)
    ):
        return None
    call = calls[0]
    check = "assert torch.jit.isinstance({}, {})"
    if isinstance(outer, ast.Assign) and outer.value is call and isinstance(outer.targets[0], ast.Name):
        text = check.format(outer.targets[0].id, written.text)
        below = file.lines[outer.end_lineno or line :][:1]
        edits = [inserted_after(file, outer, text)] if not any(text in next_ for next_ in below) else [None]
    else:
        out = fresh_name(file, "out")
        taken = f"{out} = {between(file, file.span(call))}"
        edits = [
            inserted_before(file, outer, taken, check.format(out, written.text)),
            rewritten(file, call, out),
        ]
    return unsafe(f"Assert that this call gives {type_}", written.edits, torch, edits)


def assert_tuple(event: Event) -> Fix | None:
    """``a, b = f(x)`` of a function that may give several types: what it gives is asserted to be a pair of Tensors.

    Unsafe: where it gives other things, eager raises now.
    """
    file = event.module.file
    outer = statement_around(file, event.span)
    if str(event.facts["type"]) != "Any" or not isinstance(outer, ast.Assign):
        return None
    target, call = outer.targets[0], outer.value
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(call, ast.Call):
        return None
    if any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    type_ = f"Tuple[{', '.join(['Tensor'] * len(target.elts))}]"
    return assert_result(event.module, outer.lineno, ast.unparse(call.func).rpartition(".")[2], type_)


def _may_call(call: ast.Call, name: str) -> bool:
    """Whether a call is one of a function of that name, or, for ``forward``, of a module's attribute."""
    written = ast.unparse(call.func)
    if name != "forward":
        return written.rpartition(".")[2] == name
    return written.startswith("self.") and written.count(".") == 1 and "[" not in written


def _is_in_function(module: Module, line: int) -> bool:
    return any(isinstance(n, Function) for n in nodes_around(module.file, line))
