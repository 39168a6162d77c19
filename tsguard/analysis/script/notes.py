"""Code that compiles and then behaves differently from eager.

Torch accepts all of these; the scripted function raises when run, or returns
something else.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script import (
    differences,
    early_generators,
    exits,
    leading_numbers,
    lost_decorators,
    none_defaults,
    saving,
    spelled_out,
    untyped_numbers,
)
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.inference import describe
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.analysis.values import Scope
from tsguard.language import types as t
from tsguard.language.legacy_types import LEGACY_TYPES
from tsguard.language.matching import Match
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Schema
from tsguard.source import truths
from tsguard.source.walking import walked

_OPERATORS = frozenset(
    {
        *("add", "sub", "mul", "div", "pow", "remainder", "floordiv"),
        *("__and__", "__or__", "__xor__", "__lshift__", "__rshift__"),
    }
)


def _note(fc: FunctionCompiler, rule: RuleName, node: ast.AST, **facts: object) -> None:
    fc.note(Refusal(rule, node, **facts))


def autocast(
    fc: FunctionCompiler, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], node: ast.Call
) -> None:
    """An autocast that is not told its dtype; that of ``torch.cuda.amp`` has one by default."""
    if len(args) < 2 and "dtype" not in kwargs and not name.startswith("torch.cuda."):
        _note(fc, "autocast-dtype", node, function=text_of(node.func))


def match(
    fc: FunctionCompiler,
    found: Match,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    node: ast.AST,
    name: str,
) -> None:
    """A call that fits only because torch reads a tensor as a number."""
    given = args[0] if args else kwargs.get("data")
    if given is not None and (name == "tensor" or (name == "as_tensor" and given.type is not t.TENSOR)):
        _tensor_of_tensors(fc, given, node)
    if name == "format" and args:
        _format(fc, args[0], node)
    if name == "to" and len(args) > 1:
        _type_name(fc, args[1], node)
    if name == "extend" or isinstance(node, ast.AugAssign):
        early_generators.check(fc, node)
    if name in ("sum", "sorted") and args and args[0].type is t.TENSOR:
        _extreme_of_tensor(fc, name, args[0], node)
    if fc.none_tested:
        none_defaults.use(fc, [*args, *kwargs.values()], node, found)
    if not any(c.given is t.TENSOR for c in found.conversions):
        return
    if found.returns is t.TENSOR:
        leading_numbers.check(fc, found, args, node)
        return
    if name in _OPERATORS and isinstance(node, (ast.BinOp, ast.AugAssign)):
        other = next((a for a in args if a.type is not t.TENSOR), None)
        kind = "a number" if other is None or other.type is t.NUMBER else with_article(str(other.type))
        instead = spelled_out.with_tensor_first(node)
        _note(fc, "number-before-tensor", node, expression=text_of(node), kind=kind, instead=instead)
    elif name in ("min", "max") and isinstance(node, ast.Call) and not _count(fc, args, node):
        _note(fc, "builtin-extreme", node, function=name, expression=text_of(node))


_COUNTING = frozenset({"sum", "numel", "size", "argmax", "argmin", "count_nonzero", "int", "long", "to"})


def _is_own_parameter(fc: FunctionCompiler, node: ast.AST | None) -> bool:
    """Whether a Tensor is what the user of the target calls it with."""
    fc.compiler.reporter.mark_target_specific()
    names = {argument.name for argument in fc.signature.arguments}
    return isinstance(node, ast.Name) and node.id in names and differences.is_target(fc)


def _is_array(fc: FunctionCompiler, node: ast.AST | None, asked: set[str] | None = None) -> bool:
    """Whether a Tensor is evidently no single element: its size or its items are asked for, or it is made of one.

    Each name is asked about once: what it says again is nothing new.
    """
    asked = set() if asked is None else asked
    if isinstance(node, ast.BinOp):
        return _is_array(fc, node.left, asked) or _is_array(fc, node.right, asked)
    if not isinstance(node, (ast.Name, ast.Attribute)) or text_of(node) in asked:
        return False
    text = text_of(node)
    asked.add(text)
    if any(_shows_items(inner, text) for inner in walked(fc.node)):
        return True
    assigned = [
        n.value for n in walked(fc.node) if isinstance(n, ast.Assign) and text_of(n.targets[0]) == text
    ]
    if assigned:
        return any(_is_array(fc, value, asked) for value in assigned)
    return _is_own_parameter(fc, node)


def _shows_items(node: ast.AST, text: str) -> bool:
    if isinstance(node, ast.Subscript):
        return text_of(node.value) in (text, f"{text}.shape")
    if isinstance(node, ast.Call) and node.args:
        return text_of(node.func) == f"{text}.size" or text_of(node) == f"len({text})"
    return False


def _count(fc: FunctionCompiler, args: Sequence[Value], node: ast.Call) -> bool:
    """Whether the Tensors among the arguments are elements or counts, which are integers as a rule."""
    tensors = [given for value, given in zip(args, node.args, strict=False) if value.type is t.TENSOR]
    # Of one Tensor a sum is mostly that of a mask; two are compared for what they are.
    counting = _COUNTING if len(tensors) == 1 else _COUNTING - {"sum"}
    return all(_counts(fc.node, [given], counting) for given in tensors or node.args)


def _counts(function: ast.FunctionDef, args: Sequence[ast.expr], counting: frozenset[str]) -> bool:
    """Whether among operands is an element or a count."""
    for arg in args:
        if isinstance(arg, ast.Subscript) or _names_method(arg, counting):
            return True
        if isinstance(arg, ast.BinOp) and _counts(function, [arg.left, arg.right], counting):
            return True
        assigned = [n for n in walked(function) if isinstance(n, ast.Assign) and isinstance(arg, ast.Name)]
        sources = [n.value for n in assigned if text_of(n.targets[0]) == text_of(arg)]
        if any(_names_method(source, counting) for source in sources):
            return True
    return False


def _names_method(node: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names


def cast(fc: FunctionCompiler, receiver: Value, node: ast.AST) -> None:
    """``mask.float()``: a use like any other."""
    none_defaults.use(fc, [receiver], node)


def _extreme_of_tensor(fc: FunctionCompiler, name: str, given: Value, node: ast.AST) -> None:
    """Python's ``sum(x)`` adds rows; TorchScript's adds all elements, and sorts numbers only."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return
    if name == "sorted":
        _note(fc, "builtin-extreme/sorted", node, expression=text_of(node))
    elif (given.parameter and _is_own_parameter(fc, given.node)) or has_rows(fc.node, node.args[0]):
        _note(fc, "builtin-extreme/sum", node, expression=text_of(node))


def has_rows(function: ast.FunctionDef, tensor: ast.expr) -> bool:
    """Whether a function evidently takes a Tensor to have several dimensions."""
    text = text_of(tensor)
    return any(_shows_rows(node, text) for node in walked(function))


def _shows_rows(node: ast.AST, text: str) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return text_of(node.value) == text
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value in (1, 2, 3) and text_of(node.value) == f"{text}.shape"
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        return len(node.targets[0].elts) > 1 and text_of(node.value) in (f"{text}.shape", f"{text}.size()")
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        return node.args[0].value in (1, 2, 3) and text_of(node.func) == f"{text}.size"
    return False


def is_truth(node: ast.expr) -> bool:
    """Whether a Tensor is evidently the truth of something: its value and its truth are one."""
    if isinstance(node, ast.Compare):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return name in _TRUTHS or name.startswith("logical_")


_TRUTHS = frozenset(["any", "all", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite"])
# Types of Python that stay opaque calls, and whose objects are no Tensors.
_NO_TENSORS = frozenset(f"builtins.{name}" for name in ("type", "set", "frozenset", "object"))


def opaque_result(fc: FunctionCompiler, callee: py.Value, node: ast.Call) -> None:
    """``type(x)`` compiles into a call of Python whose result is taken for a Tensor."""
    if isinstance(callee, py.External) and callee.name in _NO_TENSORS:
        _note(fc, "ignored-result/type", node, expression=text_of(node), type=callee.name.rpartition(".")[2])


def _tensor_of_tensors(fc: FunctionCompiler, given: Value, node: ast.AST) -> None:
    type_ = given.type
    if type_ is t.TENSOR and _is_array(fc, given.node):
        _note(fc, "tensor-of-values/tensor", node, expression=text_of(node))
    if given.empty_list:
        _note(fc, "tensor-of-values/empty", node, expression=text_of(node))
    while isinstance(type_, t.ListType):
        type_ = type_.element
    if isinstance(given.type, t.TupleType):  # of numbers, it is as good as a list
        type_ = next((row for row in given.type.elements if isinstance(row, t.TupleType)), t.INT)
    refused = type_ in (t.TENSOR, t.NUMBER) or isinstance(type_, (t.TupleType, t.UnionType))
    if refused and given.type is not type_ and not given.empty_list:
        rule: RuleName = "tensor-of-values/tuples" if isinstance(type_, t.TupleType) else "tensor-of-values"
        _note(fc, rule, node, elements=type_, expression=text_of(node))


def _type_name(fc: FunctionCompiler, given: Value, node: ast.AST) -> None:
    """``x.type("torch.LongTensor")``: a type to Python, a device to TorchScript."""
    is_type = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "type"
    if is_type and isinstance(given.const, str) and given.const.startswith("torch."):
        dtype = f"torch.{LEGACY_TYPES.get(given.const.rpartition('.')[2], '...')}"
        _note(fc, "result-kind/type", node, expression=text_of(node), type=given.const, dtype=dtype)


_FIELD = re.compile(r"\{[^{}]+\}|\{\{|\}\}")
_PRECISE = re.compile(r"%[-+ #0]*[\d.]+[a-zA-Z]")
_SPECIFIERS = re.compile(r"%[^%]|%%")
_KNOWN_SPECIFIERS = frozenset(f"%{letter}" for letter in "%sdifFeEc")


def _format(fc: FunctionCompiler, template: Value, node: ast.AST) -> None:
    """``str.format`` fills plain ``{}`` only; other fields stay in the text."""
    if isinstance(template.const, str) and _FIELD.search(template.const):
        _note(fc, "string-format/field", node, template=repr(template.const))


def percent(fc: FunctionCompiler, template: Value, node: ast.AST) -> None:
    """``%`` formatting knows no width and no precision."""
    if isinstance(template.const, str) and _PRECISE.search(template.const):
        _note(fc, "string-format/precision", node, template=repr(template.const))
        return
    for found in _SPECIFIERS.findall(str(template.const)) if template.is_constant else ():
        if found not in _KNOWN_SPECIFIERS:
            facts = {"template": repr(template.const), "specifier": found}
            _note(fc, "string-format/specifier", node, **facts)
            return


def joined(fc: FunctionCompiler, node: ast.JoinedStr) -> None:
    """An f-string is compiled into a template, in which braces of the text are fields."""
    texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
    if any("{}" in str(text) for text in texts):
        _note(fc, "string-format/braces", node, template=text_of(node))


def accumulator(fc: FunctionCompiler, node: ast.AST, name: str, kept: t.Type) -> None:
    """A number that a loop turns into a tensor: it stays a number."""
    start = spelled_out.start_of(fc.node, name)
    _note(fc, "number-accumulates-tensor", node, name=name, type=kept, start=start)


def boolean_value(fc: FunctionCompiler, node: ast.BoolOp, operands: Sequence[t.Type]) -> None:
    """``a or b`` used as a value is a bool, not the operand."""
    if truths.is_only_tested(node, fc.node):
        return
    types = " and ".join(map(str, operands))
    read = [
        fc.attempt(v).type if isinstance(v, (ast.Name, ast.Attribute)) else t.UNKNOWN for v in node.values
    ]
    instead = spelled_out.choice(node, read)
    _note(fc, "boolean-operand", node, expression=text_of(node), types=types, instead=instead)


def ignored_result(fc: FunctionCompiler, function: py.FunctionValue, node: ast.AST) -> None:
    """An un-annotated ``@ignore`` function is taken to return a tensor."""
    try:
        result = fc.compiler.interp.call(function, [], {})
    except Raised:
        return
    if isinstance(result, (py.Const, py.ListValue, py.DictValue, py.TupleValue)) and not py.is_none(result):
        _note(fc, "ignored-result", node, function=function.name, given=describe(result))


def ignored_call(
    fc: FunctionCompiler, function: py.FunctionValue, node: ast.Call, schema: Schema, *, typed: bool
) -> None:
    """The call of an ``@ignore``d function that torch makes is in no file, and passes on what is passed by position."""
    name = schema.name
    if not typed:
        ignored_result(fc, function, node)
    saving.python_call(fc, name, node, is_ignored="ignore" in function.marks)
    if not node.keywords:
        return
    order = " ".join(argument.name for argument in schema.arguments)
    refusal = Refusal("ignored-keyword", node, function=name, order=order)
    fc.compiler.report(refusal, fc.module, if_reached=True)


def call_override(compiler: Compiler, instance: py.ModuleValue) -> None:
    """A class that overrides ``__call__`` and has no forward: its script has neither."""
    own = python_classes.class_member(compiler.interp, instance.cls, "__call__")
    forward = python_classes.class_member(compiler.interp, instance.cls, "forward")
    if own is not None and forward is None and isinstance(own[0], py.FunctionValue):
        compiler.report(
            Refusal("call-without-forward", own[0].node, name=str(getattr(instance.cls, "name", ""))),
            own[0].module,
        )


def dropped_call(fc: FunctionCompiler, node: ast.AST, name: str) -> None:
    """A call of ``@torch.jit.unused`` compiles into a raise."""
    fc.compiler.report(Refusal("unused-called", node, function=name), fc.module, if_reached=True)


# What wrappers' modules call by the names that everyone gives it.
_SHARED_NAMES = {
    "torch.utils._contextlib": frozenset({"functools", "inspect", "sys", "warnings"}),
    "torch.amp.autocast_mode": frozenset({"collections", "functools", "torch", "warnings"}),
    "torch._dynamo.eval_frame": frozenset(
        {
            "contextlib",
            "functools",
            "inspect",
            "itertools",
            "logging",
            "os",
            "sys",
            "torch",
            "types",
            "warnings",
        }
    ),
}


def hidden_name(function: py.FunctionValue, source: py.FunctionValue) -> str:
    """A global name that a wrapper hides: torch looks names up in the wrapper's module."""
    assert isinstance(source.node, ast.FunctionDef)
    if not function.behind:
        return ""
    arguments = source.node.args
    local = {a.arg for a in [*arguments.args, *arguments.kwonlyargs]}
    names = [n for statement in source.node.body for n in walked(statement) if isinstance(n, ast.Name)]
    local |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    local |= _SHARED_NAMES.get(function.behind, frozenset())
    for name in names:
        if name.id not in local and not hasattr(builtins, name.id):
            return name.id
    return ""


def resolution_scope(function: py.FunctionValue) -> Scope:
    """Where a function's global names are looked up: beyond the class bodies around it."""
    scope = function.scope
    while scope.cls is not None and scope.parent is not None:
        scope = scope.parent
    return scope


def finish(compiler: Compiler, fc: FunctionCompiler, source: py.FunctionValue) -> None:
    """What only the whole function shows."""
    none_defaults.finish(fc)
    saving.defaults(fc)
    untyped_numbers.finish(fc)
    lost = None if fc.failed else exits.lost_value(fc.node, fc.branches)
    if lost is not None:
        word = type(lost.exit).__name__.lower()
        refusal = Refusal("early-return-with", lost.exit, statement=word, line=lost.block.lineno)
        compiler.report(refusal, fc.module)
    if "grad_wrapper" in source.marks and not fc.failed:
        compiler.report(lost_decorators.losing(fc.node), fc.module)
