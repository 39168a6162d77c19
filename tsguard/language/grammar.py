"""The grammar: nodes that torch's front end supports, and those that it refuses.

Source: torch/jit/frontend.py (``StmtBuilder``, ``ExprBuilder``, ``build_param_list``).
A function is built whole before any of it is compiled, so a refused node blocks it
even in a branch that is never taken.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import field

from tsguard.language.rule_names import RuleName
from tsguard.report.records import dataclass
from tsguard.source.walking import children

STATEMENTS = frozenset(
    [
        "AnnAssign",
        "Assert",
        "Assign",
        "AugAssign",
        "Break",
        "Continue",
        "Delete",
        "Expr",
        "For",
        "If",
        "Pass",
        "Raise",
        "Return",
        "While",
        "With",
    ]
)
EXPRESSIONS = frozenset(
    [
        "Attribute",
        "BinOp",
        "BoolOp",
        "Call",
        "Compare",
        "Constant",
        "Dict",
        "DictComp",
        "GeneratorExp",
        "IfExp",
        "JoinedStr",
        "List",
        "ListComp",
        "Name",
        "Starred",
        "Subscript",
        "Tuple",
        "UnaryOp",
    ]
)
AUGMENTED = frozenset(
    ["Add", "Sub", "Mult", "Div", "Mod", "BitOr", "BitAnd", "BitXor", "LShift", "RShift", "Pow"]
)
UNARY = frozenset(["Not", "USub", "Invert"])

# The rule that a refused node class breaks; other classes break "unsupported-statement" or "unsupported-expression".
_RULES: dict[str, RuleName] = {
    "Lambda": "lambda",
    "Try": "try-statement",
    "TryStar": "try-statement",
    "Yield": "generator",
    "YieldFrom": "generator",
    "FunctionDef": "nested-definition/function",
    "AsyncFunctionDef": "nested-definition/function",
    "ClassDef": "nested-definition/class",
    "Import": "unsupported-statement/import",
    "ImportFrom": "unsupported-statement/import",
    "Global": "unsupported-statement/global",
    "Nonlocal": "unsupported-statement/global",
    "Match": "unsupported-statement/match",
    "NamedExpr": "unsupported-expression/walrus",
    "Set": "unsupported-expression/set",
    "SetComp": "unsupported-expression/set",
    "Await": "unsupported-statement/async",
    "AsyncFor": "unsupported-statement/async",
    "AsyncWith": "unsupported-statement/async",
}
_FEATURES = {
    "Lambda": "a lambda", "Try": "a try statement", "TryStar": "a try statement", "Yield": "yield",
    "YieldFrom": "yield from", "FunctionDef": "a function definition", "ClassDef": "a class definition",
    "AsyncFunctionDef": "a function definition", "Import": "an import", "ImportFrom": "an import",
    "Global": "global", "Nonlocal": "nonlocal", "Match": "a match statement",
    "NamedExpr": "an assignment expression (:=)", "Set": "a set", "SetComp": "a set comprehension",
    "Await": "await", "AsyncFor": "async for", "AsyncWith": "async with", "TypeAlias": "a type alias",
    "TemplateStr": "a template string",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refused:
    """A place that torch's front end refuses: the rule and what fills its wording."""

    rule: RuleName
    node: ast.AST
    facts: dict[str, str] = field(default_factory=dict)


def refused_in(function: ast.FunctionDef, *, body: bool = True) -> Iterator[Refused]:
    """Everything in a function that the front end refuses, in source order.

    ``body`` is False for functions whose body torch replaces (``@torch.jit.unused``).
    """
    yield from _parameters(function)
    if body:
        for statement in function.body:
            yield from _statement(statement, function.name)


def _parameters(function: ast.FunctionDef) -> Iterator[Refused]:
    arguments = function.args
    for starred, sign in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if starred is not None:
            yield Refused(
                "parameter-kind/variadic",
                starred,
                {"parameter": f"{sign}{starred.arg}", "function": function.name},
            )
    for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield Refused(
                "parameter-kind/keyword-only",
                default,
                {"parameter": parameter.arg, "function": function.name},
            )


def _statement(node: ast.stmt, function: str) -> Iterator[Refused]:
    kind = type(node).__name__
    if kind not in STATEMENTS:
        yield _unsupported(node)
        return
    if is_left_to_python(node):
        return
    check = _CHECKS.get(kind)
    if check is not None:
        yield from check(node)
    if isinstance(node, ast.AnnAssign):
        yield from _self_annotation(node, function)
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.stmt):
                yield from _statement(child, function)
            elif isinstance(child, ast.withitem):
                yield from _expression(child.context_expr)
            elif isinstance(child, ast.expr) and not (
                name == "annotation" and isinstance(node, ast.AnnAssign)
            ):
                yield from _expression(child)


def is_left_to_python(node: ast.AST) -> bool:
    """Whether it is ``with torch.jit._IgnoreContextManager(...)``, by that very name: its body stays Python."""
    call = node.items[0].context_expr if isinstance(node, ast.With) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.jit._IgnoreContextManager"


def _self_annotation(node: ast.AnnAssign, function: str) -> Iterator[Refused]:
    target = node.target
    on_self = (
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    )
    if on_self and node.value is not None and function != "__init__":
        yield Refused("annotated-self-attribute", node, {"name": ast.unparse(target)})


def _expression(node: ast.expr) -> Iterator[Refused]:
    kind = type(node).__name__
    if kind == "Slice":
        yield from _children(node)
        return
    if kind not in EXPRESSIONS:
        yield _unsupported(node)
        return
    check = _CHECKS.get(kind)
    if check is not None:
        yield from check(node)
    yield from _children(node)


def _children(node: ast.AST) -> Iterator[Refused]:
    for child in children(node):
        if isinstance(child, ast.expr) and not isinstance(child, ast.FormattedValue):
            yield from _expression(child)
        elif isinstance(child, (ast.FormattedValue, ast.keyword)):
            yield from _expression(child.value)
        elif isinstance(child, ast.comprehension):
            yield from _expression(child.iter)


def _unsupported(node: ast.AST) -> Refused:
    kind = type(node).__name__
    other: RuleName = "unsupported-expression" if isinstance(node, ast.expr) else "unsupported-statement"
    facts = {"feature": _FEATURES.get(kind, kind)}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        facts["name"] = node.name
    return Refused(_RULES.get(kind, other), node, facts)


def _loop(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, (ast.For, ast.While))
    if node.orelse:
        yield Refused("unsupported-statement/loop-else", node, {"loop": type(node).__name__.lower()})


def _augmented(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.AugAssign)
    if type(node.op).__name__ not in AUGMENTED:
        sign = {"FloorDiv": "//=", "MatMult": "@="}.get(type(node.op).__name__, "=")
        facts = {"operator": sign, "plain": sign[:-1], "target": ast.unparse(node.target)}
        yield Refused("unsupported-expression/augmented-operator", node, facts)


def _unary(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.UnaryOp)
    if type(node.op).__name__ not in UNARY:
        yield Refused("unsupported-expression/unary-plus", node)


def _annotated(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.AnnAssign)
    if node.value is None:
        yield Refused("annotation-placement/no-value", node, {"name": ast.unparse(node.target)})


def _raise(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.Raise)
    if node.exc is None:
        yield Refused("unsupported-statement/bare-raise", node)


def _comprehension(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp))
    if len(node.generators) != 1:
        yield Refused("comprehension-form/nested", node)
    elif node.generators[0].ifs:
        yield Refused(
            "comprehension-form/filter", node, {"condition": ast.unparse(node.generators[0].ifs[0])}
        )


def _constant(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bytes):
        yield Refused("unsupported-expression/bytes", node)
    elif isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
        yield Refused("unsupported-expression/large-integer", node)


def _dict(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.Dict)
    if None in node.keys:
        yield Refused("unsupported-expression/dict-unpacking", node)


def _call(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.Call)
    for keyword in node.keywords:
        if keyword.arg is None:
            yield Refused("keyword-unpacking", keyword.value, {"value": ast.unparse(keyword.value)})


def _joined(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.JoinedStr)
    for value in node.values:
        if isinstance(value, ast.FormattedValue) and (
            value.conversion != -1 or value.format_spec is not None
        ):
            yield Refused(
                "unsupported-expression/formatted-fstring", node, {"expression": ast.unparse(value.value)}
            )
            return


def _name(node: ast.AST) -> Iterator[Refused]:
    assert isinstance(node, ast.Name)
    if node.id.startswith("__jit"):
        yield Refused("unsupported-expression/reserved-name", node, {"name": node.id})


_CHECKS: dict[str, Callable[[ast.AST], Iterator[Refused]]] = {
    "For": _loop,
    "While": _loop,
    "AugAssign": _augmented,
    "UnaryOp": _unary,
    "AnnAssign": _annotated,
    "Raise": _raise,
    "ListComp": _comprehension,
    "GeneratorExp": _comprehension,
    "DictComp": _comprehension,
    "Constant": _constant,
    "Dict": _dict,
    "Call": _call,
    "JoinedStr": _joined,
    "Name": _name,
}
