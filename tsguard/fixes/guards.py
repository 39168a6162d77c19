"""Fixes of what only Python can do and whose result nobody uses: it stays in Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, statement_around
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.imports import is_of_torch, torch_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_around
from tsguard.language.legacy_types import LEGACY_TYPES
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


def leave_to_python(event: Event) -> Fix | None:
    """``self.rnn.flatten_parameters()`` is put under ``if not torch.jit.is_scripting():``.

    Eager does the same; compiled code goes without.  Where the result is used, under a flag of the module, the flag
    is declared ``Final``, and torch does not compile the branch where it is off.
    """
    file = event.module.file
    alone = _call_plainly(event) or _leave_processes_to_python(event)
    if alone is not None:
        return alone
    node = statement_around(file, event.span)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return declare_flag(event)
    if isinstance(node.value.func, ast.Attribute) and node.value.func.attr.endswith("_"):
        return None  # what changes a Tensor in place is no side matter
    if isinstance(node.value.func, ast.Attribute) and node.value.func.attr in ("append", "extend", "insert"):
        return None
    if isinstance(node.value.func, ast.Name) and node.value.func.id in ("setattr", "delattr", "exec"):
        return None  # what is read afterwards would be another thing in compiled code

    def change(line: cst.SimpleStatementLine) -> cst.BaseStatement:
        test = cst.parse_expression("not torch.jit.is_scripting()")
        body = line.with_changes(leading_lines=[])
        return cst.If(test, cst.IndentedBlock([body]), leading_lines=line.leading_lines)

    torch = torch_imported(event.module, event.span.line)
    return unsafe("Leave it to Python", torch, changed_block(file, node, cst.SimpleStatementLine, change))


_PLAIN_CALLS = {"data_parallel": (2, None), "checkpoint": (None, ("use_reentrant", "preserve_rng_state"))}
"""Functions that call their first argument: how many arguments are passed on or skipped, and their own keywords."""


def _call_plainly(event: Event) -> Fix | None:
    """``data_parallel(self.net, x, ids)`` is what Python calls, and compiled code calls ``self.net(x)``.

    So with ``checkpoint(self.net, x)``.
    """
    file = event.module.file
    for call in nodes_around(file, event.span.line):
        called = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
        most, own = _PLAIN_CALLS.get(called.rpartition(".")[2], (0, None))
        if not isinstance(call, ast.Call) or most == 0 or len(call.args) < 2:
            continue
        if own is not None and not all(k.arg in own for k in call.keywords):
            continue
        torch, net = torch_imported(event.module, event.span.line), between(file, file.span(call.args[0]))
        given = call.args[1:most]
        if most == 2 and isinstance(given[0], ast.Tuple):
            given = given[0].elts  # data_parallel passes them one by one
        x = ", ".join(between(file, file.span(a)) for a in given)
        text = between(file, file.span(call))
        named = isinstance(call.args[0], (ast.Name, ast.Attribute))
        change = rewritten(file, call, f"({net}({x}) if torch.jit.is_scripting() else {text})")
        scripted = "is_scripting" in file.lines[call.lineno - 1]
        if is_of_torch(event.module, called) and named and change and torch is not None and not scripted:
            return safe(f"Call {net} itself in compiled code", torch, change)
    return None


def _leave_processes_to_python(event: Event) -> Fix | None:
    """``if dist.is_initialized(): dist.all_reduce(x)`` is put under ``if not torch.jit.is_scripting():``."""
    file = event.module.file
    torch = torch_imported(event.module, event.span.line)
    for branch in nodes_around(file, event.span.line):
        if (
            isinstance(branch, ast.If)
            and not branch.orelse
            and not _is_elif(file, branch)
            and torch is not None
        ):
            calls = [n.func for n in ast.walk(branch.test) if isinstance(n, ast.Call)]
            if any(_is_of_processes(event.module, ast.unparse(called)) for called in calls):
                return unsafe("Leave it to Python", torch, _nested(file, branch))
    return None


def _is_of_processes(module: Module, dotted: str) -> bool:
    """Whether a name is of ``torch.distributed``."""
    if dotted.startswith("torch.distributed."):
        return True
    nodes = [binding.node for binding in module.bindings.get(dotted.partition(".")[0], [])]
    return bool(nodes) and all("torch.distributed" in _imported_as(node) for node in nodes)


def _imported_as(node: ast.stmt) -> str:
    if isinstance(node, ast.Import):
        return " ".join(alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return " ".join(f"{node.module}.{alias.name}" for alias in node.names)
    return ""


# What TorchScript has, and what may be the class of a module.
_OF_TORCH = frozenset({"torch", "typing", "collections", "builtins"})


def ask_in_python(event: Event) -> Fix | None:
    """``if isinstance(x, np.ndarray):`` is put under ``if not torch.jit.is_scripting():``.

    No value of TorchScript is of such a class.  For ``torch.cuda.FloatTensor`` the dtype and the device are asked for.
    """
    file, part = event.module.file, event.facts.get("part", "")
    call = _test_for(event, part)
    torch = torch_imported(event.module, event.span.line)
    if call is None or torch is None:
        return None
    typed = LEGACY_TYPES.get(part.rpartition(".")[2], "") if part.startswith("torch.") else ""
    if typed:
        text = between(file, file.span(call.args[0])).removesuffix(".data")
        place = f"{text}.is_cuda" if ".cuda." in part else f"not {text}.is_cuda"
        change = rewritten(file, call, f"({place} and {text}.dtype == torch.{typed})")
    elif _is_of_others(event.module, part):
        change = _asked_in_python(file, call)
    else:
        return None
    return unsafe(f"Ask for {part} in another way", torch, change)


def ask_for_tensor(event: Event) -> Fix | None:
    """``isinstance(x, Variable)`` becomes ``isinstance(x, torch.Tensor)``: to Python they are the same."""
    call = _test_for(event, event.facts["classes"])
    torch = torch_imported(event.module, event.span.line)
    if call is None or torch is None:
        return None
    return safe("Check for torch.Tensor", torch, rewritten(event.module.file, call.args[1], "torch.Tensor"))


def _test_for(event: Event, classes: str) -> ast.Call | None:
    """The call of isinstance in the line of an event that asks for some classes."""
    nodes = nodes_around(event.module.file, event.span.line)
    calls = [n for n in nodes if isinstance(n, ast.Call) and len(n.args) == 2]
    asked = ["isinstance", classes]
    return next((c for c in calls if [ast.unparse(c.func), ast.unparse(c.args[1])] == asked), None)


def _asked_in_python(file: SourceFile, call: ast.Call) -> Edit | None:
    """The edit that keeps a test from compiled code, with the branch where it decides about one alone."""
    branch = next(
        (n for n in nodes_around(file, call.lineno) if isinstance(n, ast.If) and n.test is call), None
    )
    if branch is None or branch.orelse or _is_elif(file, branch):
        asked = any(
            isinstance(n, ast.IfExp) and n.orelse is call and "is_scripting" in ast.unparse(n.test)
            for n in nodes_around(file, call.lineno)
        )
        new = f"(False if torch.jit.is_scripting() else {between(file, file.span(call))})"
        return None if asked else rewritten(file, call, new)

    return _nested(file, branch)


def _nested(file: SourceFile, branch: ast.If) -> Edit | None:
    """The edit that puts an ``if`` without ``else`` under one that Python alone enters."""

    def change(block: cst.If) -> cst.BaseStatement:
        test = cst.parse_expression("not torch.jit.is_scripting()")
        inner = block.with_changes(leading_lines=[])
        return cst.If(test, cst.IndentedBlock([inner]), leading_lines=block.leading_lines)

    return changed_block(file, branch, cst.If, change)


def _is_elif(file: SourceFile, branch: ast.If) -> bool:
    return file.lines[branch.lineno - 1][branch.col_offset :].startswith("elif")


def _is_of_others(module: Module, dotted: str) -> bool:
    """Whether a class is imported from a package that knows nothing of TorchScript."""
    nodes = [binding.node for binding in module.bindings.get(dotted.partition(".")[0], [])]
    packages = {
        name.partition(".")[0]
        for node in nodes
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else [""]
        )
    }
    return bool(packages) and "" not in packages and not packages & _OF_TORCH
