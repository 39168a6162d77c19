"""Fixes of statements and expressions that TorchScript does not have, written with those that it has."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import (
    around,
    changed_block,
    fresh_name,
    inserted_before,
    removed,
    replaced_block,
    statement_around,
)
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between, edit, insertion_below
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_expression, rewritten
from tsguard.fixes.places import functions_around, nodes_around, nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile, Span

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def import_above(event: Event) -> Fix | None:
    """An import in a function goes to the top of the file.

    Unsafe: it runs whenever the file is imported.  A package that the file gets by without stays where it is.
    """
    file = event.module.file
    node = statement_around(file, event.span)
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return None
    tops = [n for n in file.imports if n in file.tree.body]
    gone = removed(file, node)
    names = {(a.asname or a.name).partition(".")[0] for a in node.names}
    if gone is None or not tops or any(name in event.module.bindings for name in names):
        again = all(_same_import(event, node, name) for name in names)
        return safe("Remove the import", gone) if again else None
    if not _is_surely_there(node, tops):
        return None
    added = insertion_below(file, tops[-1], file.newline + between(file, file.span(node)))
    return unsafe("Import at the top", added, gone)


def _is_surely_there(node: ast.Import | ast.ImportFrom, tops: list[ast.Import | ast.ImportFrom]) -> bool:
    """Whether what is imported is Python's, torch's, the project's or of a package that the file imports anyway."""
    there = {"torch", *sys.stdlib_module_names, *(name for top in tops for name in _packages(top))}
    return _packages(node) <= there


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The packages that a statement imports from; of a relative import none."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return set() if node.level else {(node.module or "").partition(".")[0]}


def _same_import(event: Event, node: ast.Import | ast.ImportFrom, name: str) -> bool:
    """Whether the file imports the same under the same name at its top."""
    found = [binding.node for binding in event.module.bindings.get(name, [])]
    meant = _meaning(node, name)
    return len(found) == 1 and meant is not None and _meaning(found[0], name) == meant


def _meaning(node: ast.AST, name: str) -> str | None:
    """What a name stands for after an import."""
    for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
        if isinstance(node, ast.ImportFrom) and (alias.asname or alias.name) == name:
            return f"{'.' * node.level}{node.module or ''}.{alias.name}"
        if isinstance(node, ast.Import) and (alias.asname or alias.name) == name:
            return alias.name
        if isinstance(node, ast.Import) and not alias.asname and alias.name.partition(".")[0] == name:
            return name
    return None


def name_exception(event: Event) -> Fix | None:
    """A bare ``raise`` names an exception."""
    node = statement_around(event.module.file, event.span)
    if not isinstance(node, ast.Raise):
        return None
    change = edit(event.module.file, event.module.file.span(node), "raise RuntimeError()")
    return unsafe("Name the exception", change)


def write_pass(event: Event) -> Fix | None:
    """``...`` as a statement becomes ``pass``."""
    node = statement_around(event.module.file, event.span)
    if not isinstance(node, ast.Expr):
        return None
    return safe("Write pass", edit(event.module.file, event.module.file.span(node), "pass"))


def leave_loop_first(event: Event) -> Fix | None:
    """``else`` after a loop without ``break`` comes after it."""
    file = event.module.file
    loops = [
        n for n in nodes_around(file, event.span.line) if isinstance(n, (ast.For, ast.While)) and n.orelse
    ]
    if not loops:
        return None
    loop = loops[-1]
    if any(isinstance(n, ast.Break) for part in loop.body for n in ast.walk(part)):
        return None

    def change(block: cst.For | cst.While) -> list[cst.BaseStatement] | None:
        if block.orelse is None:
            return None
        body = block.orelse.body
        after = list(body.body) if isinstance(body, cst.IndentedBlock) else []
        return [
            block.with_changes(orelse=None),
            *(part for part in after if isinstance(part, cst.BaseStatement)),
        ]

    if isinstance(loop, ast.For):
        return safe("Write it after the loop", changed_block(file, loop, cst.For, change))
    return safe("Write it after the loop", changed_block(file, loop, cst.While, change))


def keep_variable(event: Event) -> Fix | None:
    """``del x`` in a block goes: the variable ends with its function."""
    file = event.module.file
    node = statement_around(file, event.span)
    if not isinstance(node, ast.Delete) or not all(isinstance(t, ast.Name) for t in node.targets):
        return None
    return safe("Leave the del out", removed(file, node))


def assign_before(event: Event) -> Fix | None:
    """``if (n := len(xs)) > 1:`` becomes an assignment and a test."""
    file = event.module.file
    node = next(nodes_at(file, event.span, ast.NamedExpr), None)
    outer = statement_around(file, event.span)
    if node is None or outer is None or isinstance(outer, ast.While) or not _runs_first(outer, node):
        return None
    is_elif = isinstance(outer, ast.If) and file.lines[outer.lineno - 1].lstrip().startswith("elif")
    if is_elif or _is_read_before(outer, node):
        return None
    name, value = node.target.id, between(file, file.span(node.value))
    before = inserted_before(file, outer, f"{name} = {value}")
    span = file.span(node)
    replaced = rewritten(file, node, name)
    if file.text[file.offset(span.line, span.column) - 1] == "(":
        end = file.offset(span.end_line, span.end_column)
        if file.text[end : end + 1] == ")":
            whole = file.text[file.offset(span.line, span.column) - 2 : end + 1]
            if not whole[:1].isidentifier() and whole[:1] != "]":
                wide = Span(span.line, span.column - 1, span.end_line, span.end_column + 1)
                replaced = edit(file, wide, name)
    return unsafe("Assign before", before, replaced)


def _is_read_before(outer: ast.stmt, node: ast.NamedExpr) -> bool:
    """Whether a statement reads a variable to the left of where it assigns it."""
    place, name = (node.lineno, node.col_offset), node.target.id
    reads = (n for n in ast.walk(outer) if isinstance(n, ast.Name) and n.id == name and n is not node.target)
    return any((n.lineno, n.col_offset) < place for n in reads)


def _runs_first(outer: ast.stmt, node: ast.NamedExpr) -> bool:
    """Whether nothing of the statement runs before the assignment: no call stands left of it."""
    whole = outer.test if isinstance(outer, ast.If) else getattr(outer, "value", None)
    if whole is None:
        return False
    inside = {id(n) for n in ast.walk(node)}
    for other in ast.walk(whole):
        if isinstance(other, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.GeneratorExp)):
            first = other.values[0] if isinstance(other, ast.BoolOp) else None
            if any(n is node for n in ast.walk(other)) and not (
                first is not None and any(n is node for n in ast.walk(first))
            ):
                return False
        if (
            isinstance(other, ast.Call)
            and id(other) not in inside
            and ((other.lineno, other.col_offset) < (node.lineno, node.col_offset))
            and not any(n is node for n in ast.walk(other))
        ):
            return False
    return True


def list_for_set(event: Event) -> Fix | None:
    """``kind in {"a", "b"}`` becomes ``kind in ["a", "b"]``."""
    file = event.module.file
    node = next(nodes_at(file, event.span, ast.Set), None)
    compared = next(iter(around(file, event.span, ast.Compare)), None)
    if node is None or compared is None or node not in compared.comparators:
        return None
    if not isinstance(compared.ops[compared.comparators.index(node)], (ast.In, ast.NotIn)):
        return None
    text = between(file, file.span(node))
    return safe("Use a list", rewritten(file, node, f"[{text[1:-1]}]"))


def drop_unary_plus(event: Event) -> Fix | None:
    """``+x`` becomes ``x``."""
    file = event.module.file
    node = next((n for n in nodes_at(file, event.span, ast.UnaryOp) if isinstance(n.op, ast.UAdd)), None)
    if node is None:
        return None
    operand = node.operand
    text = between(file, file.span(operand))
    atom = isinstance(operand, (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return safe("Leave the + out", rewritten(file, node, text if atom else f"({text})"))


def plain_field(event: Event) -> Fix | None:
    """``f"{x:.2f}"`` becomes ``f"{x}"`` in the message of an exception or an assertion."""
    file = event.module.file
    outer = statement_around(file, event.span)
    if not isinstance(outer, (ast.Raise, ast.Assert)):
        return None
    joined = next((n for n in ast.walk(outer) if isinstance(n, ast.JoinedStr)), None)
    if joined is None:
        return None

    def change(expression: cst.BaseExpression) -> cst.CSTNode | None:
        class Plain(cst.CSTTransformer):
            def leave_FormattedStringExpression(
                self,
                original_node: cst.FormattedStringExpression,
                updated_node: cst.FormattedStringExpression,
            ) -> cst.FormattedStringExpression:
                return updated_node.with_changes(format_spec=None, conversion=None, equal=None)

        result = expression.visit(Plain())
        return result if isinstance(result, cst.CSTNode) else None

    return unsafe("Put the plain value into the text", changed_expression(file, joined, change))


def write_operator_out(event: Event) -> Fix | None:
    """``x @= w`` becomes ``x = x @ w``.

    Unsafe: a Tensor that others hold is not changed in place any more.
    """
    node = statement_around(event.module.file, event.span)
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, (ast.Name, ast.Attribute)):
        return None
    return unsafe("Write the operator out", _operator_out(event.module.file, node))


def assign_part(event: Event) -> Fix | None:
    """``mask[1:] |= other`` becomes ``mask[1:] = mask[1:] | other``."""
    node = statement_around(event.module.file, event.span)
    if not isinstance(node, ast.AugAssign) or any(isinstance(n, ast.Call) for n in ast.walk(node.target)):
        return None
    return safe("Write the operator out", _operator_out(event.module.file, node))


_SIGNS = {
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.FloorDiv: "//", ast.MatMult: "@", ast.Mod: "%",
    ast.Pow: "**",
}  # fmt: skip
_ATOMS = (ast.Attribute, ast.Call, ast.Constant, ast.List, ast.Name, ast.Subscript)


def _operator_out(file: SourceFile, node: ast.AugAssign) -> Edit | None:
    target, value = (between(file, file.span(part)) for part in (node.target, node.value))
    value = value if isinstance(node.value, _ATOMS) else f"({value})"
    return edit(file, file.span(node), f"{target} = {target} {_SIGNS[type(node.op)]} {value}")


def index_all(event: Event) -> Fix | None:
    """``x[...]`` becomes ``x[..., :]``."""
    file = event.module.file
    nodes = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.Subscript)]
    node = next((n for n in nodes if isinstance(n.slice, ast.Constant) and n.slice.value is ...), None)
    if node is None or not isinstance(node.ctx, ast.Load):
        return None
    change = rewritten(file, node, f"{between(file, file.span(node.value))}[..., :]")
    return unsafe("Write [..., :]", change)


def loop_for_comprehension(event: Event) -> Fix | None:
    """``kept = [f(x) for x in xs if x > 0]`` becomes a loop that appends."""
    file = event.module.file
    found = [
        n
        for n in nodes_around(file, event.span.line)
        if isinstance(n, (ast.ListComp, ast.DictComp)) and file.span(n) == event.span
    ]
    found = found or [
        n
        for n in nodes_around(file, event.span.line)
        if isinstance(n, (ast.ListComp, ast.DictComp)) and _holds(n, event)
    ]
    outer = statement_around(file, event.span)
    if not found or outer is None or not functions_around(file, event.span):
        return None
    node = found[0]
    if _is_target_used(functions_around(file, event.span)[0], node):
        return None
    if isinstance(outer, ast.Assign) and outer.value is node and isinstance(outer.targets[0], ast.Name):
        name, last = outer.targets[0].id, []
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node)):
            return None
    elif isinstance(outer, (ast.Assign, ast.Return, ast.Expr)) and _is_first(outer, node):
        name = fresh_name(file, "collected")
        whole, own = between(file, file.span(outer)), between(file, file.span(node))
        last = [whole.replace(own, name, 1)]
    else:
        return None
    lines = _loop(event, node, name)
    return unsafe("Write a loop", replaced_block(file, outer, *lines, *last))


def _is_target_used(function: ast.AST, node: ast.ListComp | ast.DictComp) -> bool:
    """Whether a function has other variables of the names that a comprehension keeps to itself."""
    targets = [n for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
    names, inside = {n.id for n in targets}, {id(n) for n in ast.walk(node)}
    others = [n for n in ast.walk(function) if isinstance(n, (ast.Name, ast.arg)) and id(n) not in inside]
    return any(getattr(n, "id", getattr(n, "arg", "")) in names for n in others)


def _holds(node: ast.AST, event: Event) -> bool:
    return getattr(node, "lineno", 0) <= event.span.line <= (getattr(node, "end_lineno", 0) or 0)


def _is_first(outer: ast.stmt, node: ast.expr) -> bool:
    """Whether nothing that has an effect stands left of the comprehension in its statement."""
    others = [n for n in ast.walk(outer) if isinstance(n, (ast.Call, ast.IfExp, ast.BoolOp, ast.Lambda))]
    inside = {id(n) for n in ast.walk(node)}
    for other in others:
        if id(other) in inside:
            continue
        if not isinstance(other, ast.Call) or not any(n is node for n in ast.walk(other)):
            return False
    return True


def _on_its_own(file: SourceFile, node: ast.expr) -> str:
    """An expression's text as it can stand outside the brackets that it was in, over several lines or one."""
    text = between(file, file.span(node))
    return f"({text})" if "\n" in text else text


def _loop(event: Event, node: ast.ListComp | ast.DictComp, name: str) -> list[str]:
    file = event.module.file
    empty = "{}" if isinstance(node, ast.DictComp) else "[]"
    depth, parts = 0, []
    for generator in node.generators:
        target = between(file, file.span(generator.target))
        if target.startswith("(") and target.count("(") == 1:
            target = target.strip("()")
        parts.append(f"{'    ' * depth}for {target} in {_on_its_own(file, generator.iter)}:")
        depth += 1
        for test in generator.ifs:
            parts.append(f"{'    ' * depth}if {_on_its_own(file, test)}:")
            depth += 1
    if isinstance(node, ast.DictComp):
        key, value = (between(file, file.span(part)) for part in (node.key, node.value))
        parts.append(f"{'    ' * depth}{name}[{key}] = {value}")
    else:
        parts.append(f"{'    ' * depth}{name}.append({between(file, file.span(node.elt))})")
    return [f"{name} = {empty}\n", "\n".join(parts) + "\n"]
