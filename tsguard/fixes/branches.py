"""Fixes of branches: what only one of them defines, and attributes that only some instances have."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import (
    around,
    block_around,
    changed_block,
    inserted_after,
    inserted_before,
    method_around,
    receiver,
    statement,
)
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.computed_names import reach_modules
from tsguard.fixes.edits import between
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import functions_around, nodes_around, nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


_EXITS = (ast.Return, ast.Break, ast.Continue)


def define_before(event: Event) -> Fix | None:
    """A variable that the first round of a loop assigns starts as a Tensor before it.

    Unsafe: where the loop does not run, eager raised.
    """
    file, name = event.module.file, event.facts["name"]
    line = int(event.facts["line"])
    functions = functions_around(file, event.span)
    loops = [
        n
        for n in nodes_around(file, line)
        if isinstance(n, (ast.For, ast.While)) and functions and functions[0].lineno < n.lineno
    ]
    if not loops or any(a.arg == name for a in functions[0].args.args):
        return None
    starts = [
        n.value
        for n in ast.walk(loops[0])
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [name]
    ]
    torch = torch_imported(event.module, event.span.line)
    if not starts or torch is None or any(isinstance(v, (ast.Constant, ast.List, ast.Tuple)) for v in starts):
        return None
    before = inserted_before(file, loops[0], f"{name} = torch.zeros(())")
    return unsafe(f"Define {name} before the loop", torch, before)


def raise_otherwise(event: Event) -> Fix | None:
    """An ``if`` without ``else`` whose variable is used afterwards gets one that raises.

    Where ``if not flag: return`` comes before the use, the variable gets a Tensor that nothing reads.

    Unsafe: where the variable is not used after all, or was assigned in an earlier round of a loop, eager raises
    now.
    """
    file, facts = event.module.file, event.facts
    flag = declare_flag(event)
    if flag is not None or facts["branch"] != "the false branch":
        return flag
    line = int(facts["line"])
    found = [n for n in nodes_around(file, line) if isinstance(n, ast.If) and n.lineno == line]
    first = found[-1] if found else None
    while first is not None and (outer := _above(file, first)) is not None:
        first = outer
    if first is None:
        return None
    last: ast.If = first
    while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
        last = last.orelse[0]
    if _is_of_an_earlier_round(file, first, facts["name"]):
        return define_before(event)
    if _is_assigned_ahead(file, first, facts["name"]):
        return None
    if _is_left_first(file, first, facts["name"]):
        return _stand_in(event, first)
    if last.orelse or not _is_used_after(file, first, facts["name"]):
        return None
    edit = _with_else(
        file, first, f'raise RuntimeError("{facts["name"]} is not defined for these arguments")'
    )
    return unsafe("Raise where it is not defined", edit)


def _stand_in(event: Event, branch: ast.If) -> Fix | None:
    """A Tensor for a variable where an ``if`` does not assign it and nothing reads it."""
    name = event.facts["name"]
    file, text = event.module.file, f"{name} = torch.zeros(())"
    torch = torch_imported(event.module, event.span.line)
    last = branch.orelse[-1] if branch.orelse else None
    edit = inserted_after(file, last, text) if last is not None else _with_else(file, branch, text)
    return unsafe(f"Define {name} where nothing reads it", torch, edit)


def _is_assigned_ahead(file: SourceFile, branch: ast.If, name: str) -> bool:
    """Whether the block of an ``if`` assigns the variable before: it is there that it has to be defined."""
    block = block_around(file, branch)
    return any(_names(part, name, ast.Store) for part in block[: block.index(branch)])


def _with_else(file: SourceFile, node: ast.If, text: str) -> Edit | None:
    """The edit that gives the last branch of an ``if`` an ``else`` with a statement."""

    def change(block: cst.If) -> cst.BaseStatement:
        innermost = block
        while isinstance(innermost.orelse, cst.If):
            innermost = innermost.orelse
        otherwise = cst.Else(cst.IndentedBlock([statement(text)]))
        if innermost is block:
            return block.with_changes(orelse=otherwise)
        result = block.deep_replace(innermost, innermost.with_changes(orelse=otherwise))
        assert isinstance(result, cst.BaseStatement)
        return result

    return changed_block(file, node, cst.If, change)


def _is_of_an_earlier_round(file: SourceFile, branch: ast.If, name: str) -> bool:
    """Whether a loop round an ``if`` assigns the variable outside of it too, so that later rounds have it."""
    loops = [n for n in nodes_around(file, branch.lineno) if isinstance(n, (ast.For, ast.While))]
    inside = {id(n) for n in ast.walk(branch)}
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) and id(n) not in inside
        for loop in loops
        for part in loop.body
        for n in ast.walk(part)
    )


def _is_used_after(file: SourceFile, branch: ast.If, name: str) -> bool:
    """Whether a variable is read below an ``if`` whatever else holds there, so that eager raises without it."""
    block = block_around(file, branch)
    for later in block[block.index(branch) + 1 :]:
        if (
            isinstance(later, ast.If)
            and later.orelse
            and all(_reads_first(b, name) for b in (later.body, later.orelse))
        ):
            return True
        part: ast.AST = later.test if isinstance(later, (ast.If, ast.While)) else later
        if not isinstance(later, (ast.For, ast.With, ast.Try)) and _names(part, name, ast.Load):
            return True
        if _names(later, name, ast.Store) or any(isinstance(n, _EXITS) for n in ast.walk(later)):
            return False  # what is read below may be read only where this goes on
    return False


def _names(node: ast.AST, name: str, use: type[ast.expr_context]) -> bool:
    """Whether a variable is read, or assigned, somewhere below a node."""
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, use) for n in ast.walk(node))


def _is_left_first(file: SourceFile, branch: ast.If, name: str) -> bool:
    """Whether ``if not a: return`` comes below an ``if a:`` before anything reads its variable."""
    if not isinstance(branch.test, ast.Name):
        return False
    flag, block = branch.test.id, block_around(file, branch)
    for later in block[block.index(branch) + 1 :]:
        if _names(later, flag, ast.Store) or _names(later, name, ast.Load):
            return False
        if isinstance(later, ast.If) and isinstance(later.body[-1], (ast.Return, ast.Raise)):
            return not later.orelse and ast.unparse(later.test) == f"not {flag}"
    return False


def _reads_first(block: list[ast.stmt], name: str) -> bool:
    """Whether the first statement of a block reads a variable."""
    return isinstance(block[0], (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)) and any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(block[0])
    )


def raise_where_nothing_is_returned(event: Event) -> Fix | None:
    """A ``forward`` of the file that ends with ``if ... elif ...``, each with a ``return``, raises otherwise.

    Such a function returns an Optional.  Unsafe: eager returned None there.
    """
    file = event.module.file
    ends = [
        n.body[-1]
        for n in walked(file.tree)
        if isinstance(n, ast.FunctionDef) and n.name == "forward" and _falls_through(n.body[-1])
    ]
    text = 'raise RuntimeError("no value is returned for these arguments")'
    edits = [inserted_after(file, end, text) for end in ends]
    return unsafe("Raise where nothing is returned", (e for e in edits if e is not None))


def _falls_through(node: ast.stmt) -> bool:
    """Whether each branch returns a value, and there may be none that runs."""
    if (
        not isinstance(node, ast.If)
        or not isinstance(node.body[-1], ast.Return)
        or node.body[-1].value is None
    ):
        return False
    return not node.orelse or (len(node.orelse) == 1 and _falls_through(node.orelse[0]))


def _above(file: SourceFile, node: ast.If) -> ast.If | None:
    """The ``if`` that one is an ``elif`` of."""
    for outer in nodes_around(file, node.lineno):
        if isinstance(outer, ast.If) and outer.orelse == [node]:
            text = file.lines[node.lineno - 1][node.col_offset :]
            return outer if text.startswith("elif") else None
    return None


def raise_at_the_end(event: Event) -> Fix | None:
    """A function that is to return a value on every path raises at its end.

    Unsafe: eager returned None there.
    """
    file = event.module.file
    functions = functions_around(file, event.span)
    if not functions or functions[0].name != event.facts["function"].rpartition(".")[2]:
        return None
    last = functions[0].body[-1]
    text = 'raise RuntimeError("no value is returned for these arguments")'
    return unsafe("Raise at the end", inserted_after(file, last, text))


def ask_for_attribute(event: Event) -> Fix | None:
    """``if self.ratio > 1: self.sr(x)`` becomes ``if hasattr(self, "sr") and self.ratio > 1: ...``.

    The module has the attribute wherever that branch runs, so eager does the same.
    """
    file, name = event.module.file, event.facts["name"]
    if name in ("_modules", "__getattr__"):
        return reach_modules(event)
    owner = method_around(file, event.span)
    attribute = next((n for n in nodes_at(file, event.span, ast.Attribute) if n.attr == name), None)
    if attribute is None or owner is None or not _belongs_to(attribute, receiver(owner[1])):
        return None
    if not _is_made_somewhere(owner[0], name):
        return None
    subject = between(file, file.span(attribute.value))
    asked = f'hasattr({subject}, "{name}")'
    for branch in around(file, event.span, ast.stmt):
        if isinstance(branch, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(branch, ast.If) and asked.replace('"', "'") not in ast.unparse(branch.test):
            side = _side(branch, attribute)
            if side is not None:
                return _asking(event, branch.test, asked, then=side)
    for choice in around(file, event.span, ast.IfExp):
        if asked.replace('"', "'") in ast.unparse(choice.test):
            return None
        if any(n is attribute for n in ast.walk(choice.body)):
            return _asking(event, choice.test, asked, then=True)
        if any(n is attribute for n in ast.walk(choice.orelse)):
            return _asking(event, choice.test, asked, then=False)
    return None


def _belongs_to(attribute: ast.Attribute, name: str | None) -> bool:
    return isinstance(attribute.value, ast.Name) and attribute.value.id == name


def _is_made_somewhere(owner: ast.ClassDef, name: str) -> bool:
    """Whether some method of the class creates the attribute, so that it is no slip of the pen."""
    nodes = list(walked(owner))
    registered = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("register_buffer", "register_parameter", "add_module", "register_module")
        and any(isinstance(arg, ast.Constant) and arg.value == name for arg in node.args)
        for node in nodes
    )
    assigned = any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in nodes
    )
    return registered or assigned


def _side(branch: ast.If, node: ast.AST) -> bool | None:
    """Whether a node lies in the true branch of an ``if`` or in the false one; None in neither."""
    for side, body in ((True, branch.body), (False, branch.orelse)):
        if any(n is node for part in body for n in ast.walk(part)):
            return side
    return None


def _asking(event: Event, test: ast.expr, asked: str, *, then: bool) -> Fix | None:
    file = event.module.file
    text = between(file, file.span(test))
    loose = (ast.BoolOp, ast.IfExp, ast.NamedExpr) if then else (ast.IfExp, ast.NamedExpr)
    if isinstance(test, loose) and not (
        isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and then
    ):
        text = f"({text})"
    new = f"{asked} and {text}" if then else f"not {asked} or {text}"
    return safe(f"Ask {asked} first", rewritten(file, test, new))
