"""A branch that data decides moves into a function under ``script_if_tracing``: a trace keeps both its sides."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import fresh_name, replaced_block, step_of
from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import insertion_above
from tsguard.fixes.imports import has_torch
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.spelling import spelled
from tsguard.language.schemas import operators
from tsguard.report import Fix
from tsguard.source import SourceFile
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# What may be in the function that is made: TorchScript has it, and it leaves the branch by no other way.
_TAKEN = (
    *(ast.If, ast.Assign, ast.AugAssign, ast.expr, ast.expr_context, ast.operator, ast.unaryop, ast.boolop),
    *(ast.cmpop, ast.keyword, ast.Slice, ast.Expr, ast.Pass),
)
_REFUSED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Starred)
_FUNCTIONS = frozenset({"bool", "float", "int", "abs"})


@dataclass(frozen=True, slots=True)
class _Branch:
    """An ``if`` with the variables that go into it and come out of it."""

    node: ast.If
    given: tuple[str, ...]
    results: tuple[str, ...]


def move_branch(event: Event, node: ast.If) -> Fix | None:
    """``if x.sum() > 0: x = x * 2`` becomes ``x = choose_x(x)``, a function of the module that holds the branch.

    Unsafe: what goes in is taken for Tensors, and torch compiles the function while it traces.
    """
    file = event.module.file
    around = functions_around(file, event.span)
    branch = _branch(event, around[0], node) if around else None
    if branch is None or not has_torch(event.module):
        return None
    top = next(n for n in file.tree.body if n.lineno <= around[0].lineno <= (n.end_lineno or 0))
    name = fresh_name(file, f"choose_{branch.results[0]}")
    several = f"Tuple[{', '.join(['Tensor'] * len(branch.results))}]" if len(branch.results) > 1 else "Tensor"
    returned = spelled(several, event.module, top.lineno)
    if returned is None:
        return None
    text = _function(file, branch, f"def {name}({', '.join(branch.given)}) -> {returned.text}:")
    call = f"{', '.join(branch.results)} = {name}({', '.join(branch.given)})"
    change = replaced_block(file, node, call)
    if text is None:
        return None
    added = insertion_above(file, top, text + file.newline * 3)
    return unsafe("Move the branch into a function under script_if_tracing", returned.edits, added, change)


def _branch(event: Event, function: Function, node: ast.If) -> _Branch | None:
    inside = list(ast.walk(node))
    if any(not isinstance(n, _TAKEN) or isinstance(n, _REFUSED) for n in inside):
        return None
    if not all(_is_operator(n) for n in inside if isinstance(n, ast.Call)):
        return None
    names = [n for n in inside if isinstance(n, ast.Name)]
    stores = [n for n in inside if isinstance(getattr(n, "ctx", None), ast.Store) and not _is_plain(n)]
    loops = [n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While)) and node in ast.walk(n)]
    before = _bound_before(function, node)
    read = {n.id for n in names if isinstance(n.ctx, ast.Load)}
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    others = {n for n in read - stored - before.keys() if n not in _FUNCTIONS}
    imported = all(_is_imported(event, n) for n in others)
    later = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.lineno > (node.end_lineno or 0)
    }
    results = [n for n in dict.fromkeys(n.id for n in names) if n in stored & later]
    on_both = _assigned(node.body) & _assigned(node.orelse)
    needed = [n for n in results if n not in on_both]
    if stores or loops or not imported or not results or not set(needed) <= before.keys():
        return None
    given = [n for n in dict.fromkeys(n.id for n in names) if n in before and (n in read or n in needed)]
    if not given or not all(before[n] for n in given):
        return None
    return _Branch(node, tuple(given), tuple(results))


def _is_operator(call: ast.Call) -> bool:
    """Whether what is called is an operator by its name, which torch compiles."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name in _FUNCTIONS or bool(operators().overloads(f"aten::{name}"))


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Tuple))


def _bound_before(function: Function, node: ast.If) -> dict[str, bool]:
    """The variables that there are before a statement, each with whether it may be a Tensor."""
    args = named_parameters(function.args)
    found = {a.arg: a.annotation is None or "Tensor" in ast.unparse(a.annotation) for a in args}
    if args and args[0].arg in ("self", "cls"):
        found[args[0].arg] = False
    for n in ast.walk(function):
        if not isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or n.lineno >= node.lineno:
            continue
        targets = n.targets if isinstance(n, ast.Assign) else [n.target]
        value = ast.unparse(n.value) if n.value is not None else ""
        is_number = ".shape" in value or ".size(" in value or value.startswith("len(")
        literal = isinstance(n.value, (ast.Constant, ast.List, ast.Tuple, ast.Dict))
        for name in (part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)):
            found[name] = found.get(name, True) and not (is_number or literal)
    return found


def _is_imported(event: Event, name: str) -> bool:
    nodes = [b.node for b in event.module.bindings.get(name, [])]
    return bool(nodes) and all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in nodes)


def _assigned(block: list[ast.stmt]) -> set[str]:
    """The variables that are assigned whichever way a block goes."""
    found: set[str] = set()
    for part in block:
        if isinstance(part, ast.If):
            found |= _assigned(part.body) & _assigned(part.orelse)
        elif isinstance(part, ast.Assign):
            found |= {n.id for t in part.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def _function(file: SourceFile, branch: _Branch, head: str) -> str | None:
    """The text of the function that holds the branch, below its ``def``."""
    node, step = branch.node, step_of(file)
    lines = file.lines[node.lineno - 1 : node.end_lineno]
    indent = lines[0][: node.col_offset]
    texts = [n for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    if indent.strip() or any(n.lineno != n.end_lineno for n in texts):
        return None
    if any(line.strip() and not line.startswith(indent) for line in lines):
        return None
    body = [f"{step}{line[len(indent) :]}" if line.strip() else "" for line in lines]
    last = f"{step}return {', '.join(branch.results)}"
    return file.newline.join(("@torch.jit.script_if_tracing", head, *body, last))
