"""Parameters with the default None that TorchScript takes for Tensors: where that is visible.

A Tensor is never None, so torch decides every test for None while it compiles; a caller
that leaves the argument out passes an undefined tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

from tsguard.analysis.events import text_of
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.differences import is_target
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Simple, Value
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Argument, Schema
from tsguard.report.records import replace
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.script.sugared import Args, Kwargs
    from tsguard.language.matching import Match


def test(fc: FunctionCompiler, subject: ast.expr, value: Value) -> None:
    """A test for None, or for a Tensor, of a parameter that defaults to None but cannot hold it."""
    name = text_of(subject)
    if name in _asked(fc)[1]:
        return
    if value.parameter:
        fc.asks_for_none.add(value.parameter)
    if value.missing:
        fc.none_tested.setdefault(name, subject)


_ASKED: Kept[ast.FunctionDef, tuple[set[str], set[str]]] = Kept()


def _asked(fc: FunctionCompiler) -> tuple[set[str], set[str]]:
    """The names that a function tests for None, and those of them that it must not find None."""
    known = _ASKED.of(fc.compiler.interp.program)
    if fc.node not in known:
        told = [(node, name) for node in walked(fc.node) for name, _ in _told(node)]
        tested = {name for node, name in told if isinstance(node, ast.Compare)}
        known[fc.node] = (tested, _demanded(fc.node) if told else set())
    return known[fc.node]


def _demanded(function: ast.FunctionDef) -> set[str]:
    """What a function asserts not to be None, or raises without; what it raises with it demands to be None."""
    demanded: set[str] = set()
    forbidden: set[str] = set()
    for check in walked(function):
        if isinstance(check, ast.Assert) or _raises(check):
            for name, is_none in _told_together(check.test):
                (forbidden if is_none is isinstance(check, ast.Assert) else demanded).add(name)
    return demanded - forbidden


_READ: Kept[ast.FunctionDef, frozenset[str]] = Kept()


def never_none(fc: FunctionCompiler) -> frozenset[str]:
    """The parameters that eager takes no None for: the function reads an attribute of them in any case."""
    known = _READ.of(fc.compiler.interp.program)
    if fc.node not in known:
        known[fc.node] = _read_in_any_case(fc.node)
    return known[fc.node]


def _read_in_any_case(function: ast.FunctionDef) -> frozenset[str]:
    """The names of which the first statements read what None does not have, as they were given."""
    read: set[str] = set()
    for statement in function.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Return)):
            break
        evaluated = statement.test if isinstance(statement, ast.Assert) else statement
        parts = list(walked(evaluated))
        if not any(map(_may_stop_short, parts)):
            read |= {
                part.value.id
                for part in parts
                if isinstance(part, ast.Attribute)
                and isinstance(part.value, ast.Name)
                and not hasattr(None, part.attr)
            }
        if isinstance(statement, ast.Return):
            break
    set_anew = {
        part.id
        for part in walked(function)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    }
    return frozenset(read - set_anew)


def _may_stop_short(node: ast.AST) -> bool:
    """Whether some part of an expression may not be evaluated, or have names of its own."""
    is_chain = isinstance(node, ast.Compare) and len(node.ops) > 1
    return is_chain or isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension))


def _told(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The name that a test asks whether it is None, or of a class, and whether it holds for None."""
    match node:
        case ast.Compare(ast.Name(name), [op, *_], [ast.Constant(None), *_]):
            yield name, isinstance(op, (ast.Is, ast.Eq))
        case ast.Call(ast.Name("isinstance"), [ast.Name(name), *_]):
            yield name, False


def _told_together(test: ast.expr, holds: bool = True) -> Iterator[tuple[str, bool]]:
    """The same of the parts of a test that are joined by ``and``, ``or`` and ``not``."""
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _told_together(part, holds)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _told_together(test.operand, not holds)
    for name, is_none in _told(test):
        yield name, is_none is holds


def _raises(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)


def use(fc: FunctionCompiler, args: Sequence[Value], node: ast.AST, found: Match | None = None) -> None:
    """A use that the test for None was to guard, which torch has decided away; how the call matched tells its type."""
    type_ = _used_as(found) if sum(given.missing for given in args) == 1 else t.TENSOR
    subjects = [given.node for given in args if given.missing]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        subjects.append(node.func.value)
    for subject in subjects:
        name = subject.id if isinstance(subject, ast.Name) else ""
        if fc.none_tested.get(name) is not None and _is_missing(fc, name):
            _default_of_none(fc, name, node, type_)


def _used_as(found: Match | None) -> t.Type:
    """The number that a Tensor is read as where torch would not have one; a Tensor otherwise."""
    wanted = [c.wanted for c in found.conversions if c.given is t.TENSOR] if found is not None else []
    inner = wanted[0].element if wanted and isinstance(wanted[0], t.OptionalType) else (*wanted, t.TENSOR)[0]
    return inner if inner in (t.INT, t.FLOAT) else t.TENSOR


_OPTIONAL: dict[str, RuleName] = {
    "untyped-parameter/container": "untyped-parameter/container-or-none",
    "untyped-parameter/unpacked": "untyped-parameter/unpacked-or-none",
}


def widened(fc: FunctionCompiler, refusal: Refusal) -> Refusal:
    """The refusal of a parameter without annotation, where it defaults to None: its type is Optional."""
    rule, facts = refusal.rule, refusal.facts
    if not rule.startswith("untyped-parameter") or facts["parameter"] not in fc.signature.none_defaults:
        return refusal
    if rule in _OPTIONAL:
        return Refusal(_OPTIONAL[rule], refusal.node, **facts)
    return Refusal(rule, refusal.node, **{**facts, "needed": f"Optional[{facts['needed']}] = None"})


def _default_of_none(fc: FunctionCompiler, name: str, node: ast.AST, type_: t.Type = t.TENSOR) -> None:
    """Report a parameter that the target's caller may leave out; what compiled code calls is given it, or refused."""
    fc.compiler.reporter.mark_target_specific()
    if fc.none_tested.get(name, node) is None or not is_target(fc):
        return
    found = fc.frame.find(name)
    parameter = (found.value.parameter if isinstance(found, Simple) else "") or name
    annotated = "not annotated" if parameter in fc.signature.inferred else "annotated as Tensor"
    refusal = Refusal("none-default", node, name=parameter, annotated=annotated, type=type_)
    fc.compiler.report(refusal, fc.module)
    fc.none_tested[name] = None


def truth(fc: FunctionCompiler, subject: ast.expr) -> None:
    """``if mask:`` of such a parameter: false in eager, an error for an undefined tensor."""
    if isinstance(subject, ast.Name) and _is_missing(fc, subject.id):
        _default_of_none(fc, subject.id, subject)


def _is_missing(fc: FunctionCompiler, name: str) -> bool:
    found = fc.frame.find(name)
    return isinstance(found, Simple) and found.value.missing


# What takes None for these arguments, and raises for an undefined tensor; most operators do not tell them apart.
# Source: runs on torch 2.13.
_REFUSED_UNDEFINED = {
    "binary_cross_entropy": ("weight",),
    "cov": ("fweights", "aweights"),
    "diff": ("prepend", "append"),
    "mse_loss": ("weight",),
    "multilabel_soft_margin_loss": ("weight",),
    "rms_norm": ("weight",),
    "scaled_dot_product_attention": ("attn_mask",),
}


def passed(fc: FunctionCompiler, schema: Schema, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A call whose callee asks whether what it is given is None, or whether it is a tensor at all."""
    parameters = [argument for argument in schema.arguments if argument.name != "self"]
    given = [
        *zip(parameters, args, strict=False),
        *((p, kwargs[p.name]) for p in parameters if p.name in kwargs),
    ]
    for parameter, value in given:
        is_refused = parameter.name in _REFUSED_UNDEFINED.get(schema.name, ())
        if not (parameter.asks_for_none or is_refused):
            continue
        if value.parameter:
            fc.asks_for_none.add(value.parameter)
        if value.missing and isinstance(value.node, ast.Name):
            _default_of_none(fc, value.node.id, node)


def left_out(
    fc: FunctionCompiler, schema: Schema, args: Args, kwargs: Kwargs, node: ast.AST, name: str
) -> None:
    """A call that leaves such an argument out: an undefined tensor is no constant of a graph."""
    parameters = [argument for argument in schema.arguments if argument.name != "self"]
    for parameter in parameters[len(args) :]:
        if parameter.undefined and parameter.name not in kwargs:
            callee = text_of(node.func) if isinstance(node, ast.Call) and node.args else name
            facts = {"argument": parameter.name, "function": callee, "wanted": str(parameter.type)}
            fc.compiler.report(Refusal("none-argument/omitted", node, **facts), fc.module)
            return


def arguments(fc: FunctionCompiler) -> tuple[Argument, ...]:
    """The parameters of a compiled function, with those of which it asks whether they are None."""
    tested, demanded = _asked(fc)
    asked = (tested - demanded) | fc.asks_for_none
    asked |= {given for name, given in _other_names(fc.node) if name in asked}
    return tuple(
        replace(argument, asks_for_none=True) if argument.name in asked else argument
        for argument in fc.signature.arguments
    )


def _other_names(function: ast.FunctionDef) -> list[tuple[str, str]]:
    """The variables that are set to another one, with that."""
    return [
        (target.id, node.value.id)
        for node in walked(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def of_module(schema: Schema) -> tuple[Argument, ...]:
    """The parameters of a module of torch.nn: its code tests those that may be None."""
    return tuple(
        replace(argument, asks_for_none=asks) if argument.asks_for_none is not asks else argument
        for argument in schema.arguments[1:]
        for asks in [isinstance(argument.type, t.OptionalType)]
    )


def finish(fc: FunctionCompiler) -> None:
    """Tests that guard no use: reported themselves."""
    for name, asked in fc.none_tested.items():
        if asked is not None and not fc.failed:
            _default_of_none(fc, name, asked)
