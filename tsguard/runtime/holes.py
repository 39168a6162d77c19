"""Source with statements taken out, line for line, so that torch goes on to the next error.

What a statement would have assigned or returned comes from a *hole* instead: a call that
compiles and has the annotated type, or Tensor. The code is compiled then, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from tsguard.source.functions import named_parameters

_LITERALS = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class RemovedStatement:
    """A statement that was taken out: the names it would have set, the names it reads."""

    sets: frozenset[str]
    reads: frozenset[str]


@dataclass(slots=True)
class HoledSource:
    """One file's text, with more and more statements taken out.

    ``holes`` are the types of the holes by their names, as the source writes them;
    ``number`` keeps the names of several files apart.
    """

    text: str
    number: int = 0
    holes: dict[str, str] = field(default_factory=dict)
    taken: list[RemovedStatement] = field(default_factory=list)

    def remove_statement(self, line: int) -> RemovedStatement | None:
        """Take out the innermost statement at a line of the text; None if there is none left."""
        try:
            tree = ast.parse(self.text)
        except SyntaxError:
            return None
        found = _innermost(tree, line)
        if found is None:
            return None
        statement, function = found
        lines = self.text.split("\n")
        replacement: str | None
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and function is None:
            replacement = _plain_signature(statement)
            last = _header_end(statement)
        else:
            replacement, last = self._replacement(statement, function)
        if replacement is None:
            return None
        indent = lines[statement.lineno - 1][: statement.col_offset]
        before = list(lines)
        lines[statement.lineno - 1 : last] = [indent + replacement] + [""] * (last - statement.lineno)
        if isinstance(statement, ast.Try):
            _blank(lines, statement)
        if lines == before:
            return None
        self.text = "\n".join(lines)
        taken = RemovedStatement(_sets(statement), _reads(statement))
        self.taken.append(taken)
        return taken

    def is_follow_up(self, taken: RemovedStatement) -> bool:
        """Whether a statement reads what an earlier one was to set: its error may be of our making."""
        earlier = [t for t in self.taken if t is not taken]
        return any(taken.reads & t.sets for t in earlier)

    def _hole(self, annotation: ast.expr | None = None) -> str:
        name = f"_tsguard_hole_{self.number}_{len(self.holes)}"
        self.holes[name] = ast.unparse(annotation) if annotation is not None else "Tensor"
        return f"{name}()"

    def _replacement(
        self, statement: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef | None
    ) -> tuple[str | None, int]:
        """The line that stands for a statement, and the last line that it covers."""
        end = statement.end_lineno or statement.lineno
        if isinstance(statement, (ast.If, ast.While)):
            word = "if" if isinstance(statement, ast.If) else "while"
            return f"{word} bool({self._hole()}):", _header_end(statement)
        if isinstance(statement, ast.For):
            item = self._for(statement.target)
            return f"for {ast.unparse(statement.target)} in [{item}]:", _header_end(statement)
        if isinstance(statement, (ast.With, ast.Try)):
            return "if True:", _header_end(statement)
        if isinstance(statement, ast.Return):
            annotation = function.returns if function is not None else None
            none = isinstance(annotation, ast.Constant) and annotation.value is None
            return ("return" if none else f"return {self._hole(annotation)}"), end
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            declared = ast.unparse(statement.annotation)
            return f"{statement.target.id}: {declared} = {self._hole(statement.annotation)}", end
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return f"{statement.name} = {self._hole()}", end
        names = sorted(_sets(statement))
        return ("; ".join(f"{name} = {self._hole()}" for name in names) or "pass"), end

    def _for(self, target: ast.expr) -> str:
        if isinstance(target, (ast.Tuple, ast.List)):
            return "(" + ", ".join(self._for(element) for element in target.elts) + ",)"
        return self._hole()


def _innermost(
    tree: ast.Module, line: int
) -> tuple[ast.stmt, ast.FunctionDef | ast.AsyncFunctionDef | None] | None:
    """The smallest statement that holds a line, and the function around it."""
    found: ast.stmt | None = None
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    body: list[ast.stmt] = tree.body
    while True:
        inside = next((s for s in body if _first_line(s) <= line <= (s.end_lineno or s.lineno)), None)
        if inside is None:
            return (found, function) if found is not None and not isinstance(found, ast.ClassDef) else None
        if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = found
        found = inside
        body = list(_bodies(inside))


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([int(statement.lineno), *(int(d.lineno) for d in decorators)])


def _bodies(statement: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield from handler.body


def _header_end(statement: ast.stmt) -> int:
    """The last line before a compound statement's body."""
    first = next(_bodies(statement))
    return max(_first_line(first) - 1, statement.lineno)


def _blank(lines: list[str], statement: ast.Try) -> None:
    """Only the body of a try stays."""
    last = statement.body[-1].end_lineno or statement.lineno
    for number in range(last, statement.end_lineno or last):
        lines[number] = ""


def _plain_signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The header with parameters that TorchScript takes: typed defaults, nothing variable."""
    arguments = function.args
    plain = named_parameters(arguments)
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr] = {}
    for argument, default in zip(positional[::-1], arguments.defaults[::-1], strict=False):
        defaults[argument.arg] = default
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            defaults[argument.arg] = keyword_default
    ordered = sorted(plain, key=lambda a: a.arg in defaults)
    # Without its default a parameter must stand before those that have one.
    told = ", ".join(
        sorted((_parameter(a, defaults.get(a.arg)) for a in ordered), key=lambda text: "=" in text)
    )
    returns = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    return f"def {function.name}({told}){returns}:"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    if default is None:
        annotation = f": {ast.unparse(argument.annotation)}" if argument.annotation is not None else ""
        return f"{argument.arg}{annotation}"
    value = default.value if isinstance(default, ast.Constant) else ...
    if argument.annotation is not None:
        declared = ast.unparse(argument.annotation)
    elif value is None:
        declared = "Optional[Tensor]"
    else:
        declared = type(value).__name__ if isinstance(value, _LITERALS) else "Tensor"
    mutable = isinstance(default, (ast.List, ast.Dict, ast.Set))
    return f"{argument.arg}: {declared}" + ("" if mutable else f" = {ast.unparse(default)}")


def _sets(statement: ast.stmt) -> frozenset[str]:
    """Names that a statement assigns, not those inside its body."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For)):
        targets = [statement.target]
    elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return frozenset({statement.name})
    return frozenset(
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _reads(statement: ast.stmt) -> frozenset[str]:
    skipped = {id(inner) for child in _bodies(statement) for inner in ast.walk(child)}
    return frozenset(
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in skipped
    )
