"""A piece of a file that is parsed by itself with libcst, changed, and put back as one small edit.

libcst keeps every space and comment of what it parses.  Parsing only the piece that a fix
is about costs no more than the piece is long, and what lies around it cannot change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.fixes.edits import between, edit
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function
from tsguard.report import Edit
from tsguard.source import SourceFile, Span


def changed_expression(
    file: SourceFile, node: ast.expr, change: Callable[[cst.BaseExpression], cst.CSTNode | None]
) -> Edit | None:
    """The edit that a change of an expression comes to; None where it cannot be made."""
    span = file.span(node)
    text = between(file, span)
    # Within parentheses an expression may run over several lines.
    whole = parsed(f"({text})", cst.parse_expression)
    if not isinstance(whole, cst.BaseExpression):
        return None
    result = change(whole.with_changes(lpar=whole.lpar[1:], rpar=whole.rpar[:-1]))
    return None if result is None else edit(file, span, cst.Module([]).code_for_node(result))


def changed_statement(
    file: SourceFile,
    node: ast.stmt,
    change: Callable[[cst.BaseSmallStatement], cst.BaseSmallStatement | None],
) -> Edit | None:
    """The edit that a change of a simple statement comes to; None where it cannot be made."""
    text = between(file, file.span(node))
    module = parsed(text, cst.parse_module)
    line = module.body[0] if isinstance(module, cst.Module) and len(module.body) == 1 else None
    if not isinstance(module, cst.Module) or not isinstance(line, cst.SimpleStatementLine):
        return None
    result = change(line.body[0])
    if result is None:
        return None
    return edit(file, file.span(node), module.with_changes(body=[line.with_changes(body=[result])]).code)


def changed_parameter(
    file: SourceFile, function: Function, name: str, change: Callable[[cst.Param], cst.Param | None]
) -> Edit | None:
    """The edit that a change of a parameter comes to; None where it cannot be made."""

    def with_parameter(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        every = definition.params
        for param in (*every.posonly_params, *every.params, *every.kwonly_params):
            if param.name.value == name:
                result = change(param)
                changed = definition.deep_replace(param, result) if result is not None else None
                return changed if isinstance(changed, cst.FunctionDef) else None
        return None

    return changed_header(file, function, with_parameter)


def changed_header(
    file: SourceFile, function: Function, change: Callable[[cst.FunctionDef], cst.FunctionDef | None]
) -> Edit | None:
    """The edit that a change of a function's ``def`` comes to, its body left alone; None where it cannot be made."""
    span = _header(file, function)
    module = parsed(f"{between(file, span)}pass", cst.parse_module)
    definition = module.body[0] if isinstance(module, cst.Module) else None
    if not isinstance(module, cst.Module) or not isinstance(definition, cst.FunctionDef):
        return None
    result = change(definition)
    if result is None:
        return None
    return edit(file, span, module.with_changes(body=[result]).code.removesuffix("pass"))


def _header(file: SourceFile, function: Function) -> Span:
    """From ``def`` up to the body's first statement."""
    first = function.body[0]
    nodes = [first, *getattr(first, "decorator_list", ())]
    start = min(nodes, key=lambda node: node.lineno)
    before = file.column(start.lineno, start.col_offset)
    if start is not first:  # a decorator's place is behind its "@"
        before = file.lines[start.lineno - 1].rindex("@", 0, before) + 1
    return Span(function.lineno, file.column(function.lineno, function.col_offset), start.lineno, before)


def parsed(text: str, parse: Callable[[str], cst.CSTNode]) -> cst.CSTNode | None:
    """The tree of a text that libcst gives back unchanged."""
    try:
        node = parse(text)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    code = node.code if isinstance(node, cst.Module) else cst.Module([]).code_for_node(node)
    return node if code == text else None


def atom(file: SourceFile, node: ast.expr) -> str:
    """The text of an expression as one can put ``.name`` behind it."""
    text = between(file, file.span(node))
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"


def rewritten(file: SourceFile, node: ast.expr, text: str) -> Edit | None:
    """The edit that puts another expression, given as text, in the place of one; ``*x`` is none by itself."""
    return None if isinstance(node, ast.Starred) else edit(file, file.span(node), text)
