"""Whole statements of a file, taken out with their lines, changed with libcst and put back.

A compound statement is parsed by itself, under an ``if`` where it is indented, so that its own
indentation, comments and line ends stay as they are.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tsguard.fixes.edits import between, edit, indentation, insertion
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import parsed
from tsguard.fixes.places import Function, functions_around, nodes_around
from tsguard.report import Edit
from tsguard.report.records import replace
from tsguard.source import SourceFile, Span
from tsguard.source.functions import first_line

_Kind = TypeVar("_Kind", bound=ast.AST)
_Block = TypeVar("_Block", bound="cst.BaseStatement")


def statement_around(file: SourceFile, span: Span) -> ast.stmt | None:
    """The innermost statement that a place lies in."""
    found = None
    for node in nodes_around(file, span.line):
        if isinstance(node, ast.stmt) and _holds(file, node, span):
            found = node
    return found


def around(file: SourceFile, span: Span, kind: type[_Kind]) -> list[_Kind]:
    """The nodes of a kind that a place lies in, the innermost first."""
    nodes = nodes_around(file, span.line)
    return [n for n in nodes if isinstance(n, kind) and hasattr(n, "lineno") and _holds(file, n, span)][::-1]


def class_around(file: SourceFile, span: Span) -> ast.ClassDef | None:
    """The innermost class that a place lies in."""
    return next(iter(around(file, span, ast.ClassDef)), None)


def method_around(file: SourceFile, span: Span) -> tuple[ast.ClassDef, Function] | None:
    """The class and its method that a place lies in, itself in no function within; None elsewhere."""
    functions, owner = functions_around(file, span), class_around(file, span)
    if owner is None or not functions or functions[0] not in owner.body:
        return None
    return (owner, functions[0]) if receiver(functions[0]) is not None else None


def receiver(function: Function) -> str | None:
    """What a method calls the object it belongs to; None for static methods."""
    if any(ast.unparse(d) in ("staticmethod", "classmethod") for d in function.decorator_list):
        return None
    args = [*function.args.posonlyargs, *function.args.args]
    return args[0].arg if args else None


def step_of(file: SourceFile) -> str:
    """What the file indents its blocks with."""
    for above, line in itertools.pairwise(file.lines):
        blank = indentation(line)
        if blank and above.rstrip().endswith(":") and above[:1].strip():
            return blank
    return "    "


def whole(file: SourceFile, node: ast.AST) -> Span:
    """All of a node, where findings mark only the first line of what runs over several."""
    line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    start, stop = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
    return Span(line, file.column(line, start), end, file.column(end, stop))


def _holds(file: SourceFile, node: ast.AST, span: Span) -> bool:
    own = whole(file, node)
    start, end = (own.line, own.column), (own.end_line, own.end_column)
    return start <= (span.line, span.column) and (span.end_line, span.end_column) <= end


def changed_block(
    file: SourceFile,
    node: ast.stmt,
    kind: type[_Block],
    change: Callable[[_Block], cst.BaseStatement | Sequence[cst.BaseStatement] | None],
) -> Edit | None:
    """The edit that puts one statement or several in the place of one of a kind; None where it cannot be made.

    Statements that share a line with others are left alone.
    """
    return _replaced(file, node, lambda block: change(block) if isinstance(block, kind) else None)


def replaced_block(file: SourceFile, node: ast.stmt, *texts: str) -> Edit | None:
    """The edit that puts statements, given as text, in the place of one."""
    return _replaced(file, node, lambda _: [statement(text) for text in texts])


def removed(file: SourceFile, node: ast.stmt) -> Edit | None:
    """The edit that takes a statement away with its lines, or leaves ``pass`` where it stands alone."""
    if is_alone(file, node):
        return replaced_block(file, node, "pass")
    gone = replaced_block(file, node)
    return _with_empty_lines(file, gone) if gone is not None and not gone.content else gone


def _with_empty_lines(file: SourceFile, gone: Edit) -> Edit:
    """The edit that takes the empty lines below away, too, where those above are enough, or it comes first."""
    above = file.lines[gone.line - 2].split("#")[0].rstrip() if gone.line > 1 else ""
    end = gone.end_line
    if gone.end_column != 1 or (above and not above.endswith(":")):
        return gone
    while end <= len(file.lines) and not file.lines[end - 1].strip():
        end += 1
    return replace(gone, end_line=end) if end <= len(file.lines) else gone


def _replaced(
    file: SourceFile,
    node: ast.stmt,
    change: Callable[[cst.BaseStatement], cst.BaseStatement | Sequence[cst.BaseStatement] | None],
) -> Edit | None:
    span = _lines(file, node)
    if span is None:
        return None
    text = between(file, span)
    indented = text[:1] in " \t"
    head = f"if 1:{file.newline}" if indented else ""
    module = parsed(head + text, cst.parse_module)
    if not isinstance(module, cst.Module) or len(module.body) != 1:
        return None
    module = _indenting(module, step_of(file))
    outer = module.body[0]
    body = outer.body.body if indented and isinstance(outer, cst.If) else module.body
    only = body[0] if len(body) == 1 else None
    result = change(only) if isinstance(only, cst.BaseStatement) else None
    if result is None:
        return None
    if isinstance(result, cst.BaseStatement):
        result = [result]
    if not result:
        return edit(file, span, "")
    if indented:
        assert isinstance(outer, cst.If)
        assert isinstance(outer.body, cst.IndentedBlock)
        module = module.with_changes(
            body=[outer.with_changes(body=outer.body.with_changes(body=list(result)))]
        )
    else:
        module = module.with_changes(body=list(result))
    return edit(file, span, module.code[len(head) :])


def _indenting(module: cst.Module, step: str) -> cst.Module:
    """A tree whose blocks keep their indentation, and whose new ones are indented as the file's are."""

    class Keeping(cst.CSTTransformer):
        def leave_IndentedBlock(self, _: cst.IndentedBlock, block: cst.IndentedBlock) -> cst.IndentedBlock:
            return block if block.indent is not None else block.with_changes(indent=module.default_indent)

    kept = module.visit(Keeping())
    return kept.with_changes(default_indent=step)


def inserted_before(file: SourceFile, node: ast.stmt, *lines: str) -> Edit | None:
    """The edit that puts statements of a line each before another."""
    return _inserted(file, node, lines, before=True)


def inserted_after(file: SourceFile, node: ast.stmt, *lines: str) -> Edit | None:
    """The edit that puts statements of a line each below another."""
    return _inserted(file, node, lines, before=False)


def _inserted(file: SourceFile, node: ast.stmt, lines: Sequence[str], *, before: bool) -> Edit | None:
    span = _lines(file, node)
    if span is None:
        return None
    indent = indentation(file.lines[span.line - 1])
    texts = [f"{indent}{line}" for line in lines]
    if before:
        return insertion(file, span.line, 1, "".join(f"{text}{file.newline}" for text in texts))
    last = span.end_line if span.end_column > 1 else span.end_line - 1
    return insertion(
        file, last, len(file.lines[last - 1]) + 1, "".join(f"{file.newline}{text}" for text in texts)
    )


def is_alone(file: SourceFile, node: ast.stmt) -> bool:
    """Whether a statement is all that there is in its block."""
    for outer in nodes_around(file, node.lineno):
        for block in blocks_of(outer):
            if node in block:
                return len(block) == 1
    return False


def block_around(file: SourceFile, node: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that one belongs to."""
    for outer in nodes_around(file, node.lineno):
        for block in blocks_of(outer):
            if node in block:
                return block
    return [node]


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements right below a node."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler | ast.match_case):
            yield from (part.body for part in value)


def _lines(file: SourceFile, node: ast.stmt) -> Span | None:
    """From the beginning of a statement's first line to the end of its last; None where it shares one."""
    first = first_line(node)
    own = whole(file, node)
    before = file.lines[first - 1][: own.column - 1] if first == node.lineno else ""
    after = file.lines[own.end_line - 1][own.end_column - 1 :].strip()
    if before.strip() or (after and not after.startswith("#")):
        return None
    if own.end_line < len(file.lines):
        return Span(first, 1, own.end_line + 1, 1)
    return Span(first, 1, own.end_line, len(file.lines[own.end_line - 1]) + 1)


def statement(text: str) -> cst.BaseStatement:
    """A statement written as text."""
    return cst.parse_statement(text)


def fresh_name(file: SourceFile, wanted: str) -> str:
    """A name that nothing in the file has."""
    used: set[str] = set()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Name):
            used.add(node.id)
        elif isinstance(node, ast.arg):
            used.add(node.arg)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
    found = wanted
    while found in used:
        found += "_"
    return found
