"""Values that compile to something else than in Python: where they come from, and where that is visible.

``2 ** n`` is a float, ``mask & flag`` holds integers, ``str(x.dtype)`` reads ``6``.  Most uses of
them do not care; a difference is reported where it comes out of the target or changes what is
done, at the place that it comes from.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule, Unlike, Value
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.report.records import replace

_ARITHMETIC = frozenset(
    ["pow", "round", "add", "sub", "mul", "floordiv", "remainder", "min", "max", "neg", "abs"]
)
_BITWISE = frozenset(["__and__", "__or__", "__xor__", "bitwise_and", "bitwise_or", "bitwise_xor"])
# Operators that make a Tensor of the dtype of the numbers that they are given.
_MADE_OF_NUMBERS = frozenset(["tensor", "as_tensor", "full", "arange", "where"])
# Operators whose result has the dtype of their operand.
_SAME_DTYPE = _BITWISE | {
    "cat", "stack", "unsqueeze", "squeeze", "view", "reshape", "flatten", "expand", "expand_as", "repeat",
    "transpose", "permute", "t", "flip", "select", "slice", "clone", "detach", "contiguous",
}  # fmt: skip
# Operators to which the dtype of an operand decides what they do, or whether.
_BY_DTYPE = {
    "masked_fill", "masked_fill_", "masked_select", "masked_scatter", "where", "bitwise_not", "embedding",
    "index_select", "gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "one_hot", "take",
    "take_along_dim", "index_add", "index_add_", "index_copy", "index_fill", "index_put", "bincount",
}  # fmt: skip
# Operators that give what is in a container, or a container of it, and that put something in.
_OF_CONTENTS = frozenset(
    ["__getitem__", "slice", "copy", "list", "pop", "popitem", "get", "setdefault", "values", "keys", "items"]
)
_PUTTING = frozenset(["append", "insert", "extend", "_set_item", "setdefault", "update"])
_SPECIFIERS = re.compile(r"%.")
_INTEGRAL = frozenset(["long", "int", "argmax", "argmin", "argsort", "nonzero"])


def of_any(values: Iterable[Value]) -> Unlike | None:
    """What is unlike in a container of values."""
    return next((value.unlike for value in values if value.unlike is not None), None)


def of_tuple(values: Sequence[Value]) -> Unlike | None:
    """What a tuple of values is unlike."""
    first = of_any(value for value in values if not _is_of_kind(value, "object")) or of_any(values)
    return None if first is None else replace(first, parts=tuple(value.unlike for value in values))


def item(container: Value, type_: t.Type, index: int | None = None) -> Value:
    """An item of a container, the one at an ``index`` where that is known."""
    unlike = container.unlike
    if unlike is None:
        return Value(type_)
    if isinstance(container.type, t.TupleType) and len(unlike.parts) == len(container.type.elements):
        known = unlike.parts if index is None else (unlike.parts[index],)
        unlike = next(filter(None, known), None)
    return Value(type_, unlike=unlike if unlike is not None and _can_be(type_, unlike) else None)


def items(container: Value) -> list[Value]:
    """The items of a tuple."""
    assert isinstance(container.type, t.TupleType)
    return [item(container, type_, index) for index, type_ in enumerate(container.type.elements)]


def _can_be(type_: t.Type, unlike: Unlike) -> bool:
    """Whether values of this type can be so unlike, or hold some that are."""
    own = {"int": t.FLOAT, "Tensor": t.BOOL, "text": t.STR, "dtype": t.TENSOR, "object": t.INT}
    return isinstance(type_, (t.ListType, t.TupleType, t.DictType)) or type_ is own.get(unlike.kind)


# -- where they come from ------------------------------------------------------------------


def built(
    name: str, args: Sequence[Value], kwargs: Mapping[str, Value], returns: t.Type, node: ast.AST
) -> Unlike | None:
    """What an operator's result is unlike."""
    if name in _OF_CONTENTS and args and isinstance(args[0].type, (t.ListType, t.DictType)):
        return item(args[0], returns).unlike
    if returns is t.FLOAT and name in _ARITHMETIC:
        return _number(name, args, kwargs, node)
    if returns is t.STR and name in ("str", "format"):
        return text_of_any(args[1:] if name == "format" else args, node)
    if returns is t.STR or returns == t.ListType(t.STR):
        return next((a.unlike for a in args if a.unlike is not None and a.unlike.kind == "text"), None)
    return _tensor(name, args, kwargs, node) if returns is t.TENSOR else None


def _number(name: str, args: Sequence[Value], kwargs: Mapping[str, Value], node: ast.AST) -> Unlike | None:
    """Whole numbers of which TorchScript makes a float: powers of ints and what is rounded."""
    if kwargs or not all(_is_whole(arg) for arg in args if name != "round"):
        return None
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
        return None  # math.pow: a float in Python too
    if name == "pow" and _is_negative(args[1].node):
        return None
    if name in ("pow", "round") and len(args) == (2 if name == "pow" else 1):
        return _unlike("int", "result-kind", node)
    return of_any(args)


def _is_whole(value: Value) -> bool:
    return value.type in (t.INT, t.BOOL) or (value.unlike is not None and value.unlike.kind == "int")


def _is_negative(node: ast.AST | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _tensor(name: str, args: Sequence[Value], kwargs: Mapping[str, Value], node: ast.AST) -> Unlike | None:
    """Tensors of another dtype, because a number in them is of another kind."""
    if name in _BITWISE and len(args) == 2 and args[1].type is t.BOOL:
        return _unlike("dtype", "bool-as-number", node)
    if name in _MADE_OF_NUMBERS:
        dtype = kwargs.get("dtype")
        return _made_of_numbers(name, args, node) if dtype is None or dtype.type is t.NONE else None
    if name in _ARITHMETIC and any(_is_integral(arg.node) for arg in args):
        return next((_as_dtype(arg.unlike) for arg in args if _is_of_kind(arg, "int")), None)
    if name in _SAME_DTYPE:
        return next((arg.unlike for arg in args if _is_of_kind(arg, "dtype")), None)
    return None


def _made_of_numbers(name: str, args: Sequence[Value], node: ast.AST) -> Unlike | None:
    values = args[1:] if name in ("full", "where") else args
    if name in ("full", "where") and values and all(value.type is t.BOOL for value in values):
        return _unlike("dtype", "bool-as-number", node)
    if any(value.type is t.FLOAT and value.unlike is None for value in values):
        return None
    return next((_as_dtype(value.unlike) for value in values if _is_of_kind(value, "int")), None)


def _is_integral(node: ast.AST | None) -> bool:
    """Whether an expression is evidently a Tensor of whole numbers."""
    if not isinstance(node, ast.Call):
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr in _INTEGRAL


def _is_of_kind(value: Value, kind: str) -> bool:
    return value.unlike is not None and value.unlike.kind == kind


def _as_dtype(unlike: Unlike | None) -> Unlike | None:
    return None if unlike is None else Unlike("dtype", unlike.rule, unlike.node, unlike.facts)


def _unlike(kind: Literal["int", "Tensor", "text", "dtype"], rule: RuleName, node: ast.AST) -> Unlike:
    return Unlike(kind, rule, node, (("expression", text_of(node)),))


def dtype_object(node: ast.AST) -> Unlike:
    """A torch.dtype, which is a number in TorchScript."""
    return Unlike("object", "string-format/value", node)


def truth(node: ast.expr, operands: Sequence[t.Type]) -> Unlike | None:
    """``a > 0 and b > 0`` of Tensors: one of them in Python, a bool in TorchScript."""
    if t.TENSOR not in operands or isinstance(node, ast.UnaryOp):
        return None
    return _unlike("Tensor", "result-kind/tensor", node)


def text_of_any(values: Iterable[Value], node: ast.AST) -> Unlike | None:
    """The text of values, one of which reads differently."""
    for value in values:
        if value.type is t.STR and _is_of_kind(value, "text"):
            return value.unlike
        if _reads_differently(value):
            shown = text_of(value.node or node)
            facts = (("value", shown), ("type", _kind(value)), ("expression", text_of(node)))
            return Unlike("text", "string-format/value", node, facts)
    return None


def percent(template: Value, given: Value, node: ast.AST) -> Unlike | None:
    """What ``%s`` makes of values; the numeric specifiers are those of C in both."""
    found = [s for s in _SPECIFIERS.findall(str(template.const)) if s != "%%"]
    types = given.type.elements if isinstance(given.type, t.TupleType) else (given.type,)
    unlike = given.unlike if len(types) == 1 else None
    nodes = given.node.elts if isinstance(given.node, ast.Tuple) else [given.node] * len(types)
    values = [Value(type_, node=node, unlike=unlike) for type_, node in zip(types, nodes, strict=False)]
    shown = [value for value, specifier in zip(values, found, strict=False) if specifier == "%s"]
    return text_of_any(shown, node)


def _kind(value: Value) -> str:
    if _is_of_kind(value, "int"):
        return "an int in Python but a float"
    return "torch.dtype" if _is_of_kind(value, "object") else str(value.type)


def _reads_differently(value: Value) -> bool:
    """Whether the text is certainly another one: 0.5 reads alike in both, 7.0 and 0.1 do not."""
    if any(repr(number) != f"{number:.17g}" for number in _floats(value)):
        return True
    if isinstance(value.type, t.ListType) and isinstance(value.node, ast.Attribute):
        return value.node.attr == "shape"
    unlike = value.unlike is not None and value.unlike.kind in ("int", "object")
    is_member = isinstance(value.type, t.EnumType)  # Enum<Kind.A>
    return unlike or is_member or (_is_tensor(value.type) and not value.parameter) or _quotes(value.type)


def _floats(value: Value) -> list[float]:
    """The finite floats that stand in the source of a value, in a literal of a container too."""
    written = [value.const]
    if isinstance(value.node, (ast.Constant, ast.Tuple, ast.List, ast.Dict)):
        written += [node.value for node in ast.walk(value.node) if isinstance(node, ast.Constant)]
    return [number for number in written if isinstance(number, float) and math.isfinite(number)]


def _is_tensor(type_: t.Type) -> bool:
    """Whether a value of this type is a Tensor or holds some: their text is that of C++."""
    if isinstance(type_, t.ListType):
        return type_.element is t.TENSOR
    if isinstance(type_, t.TupleType):
        return t.TENSOR in type_.elements
    return type_ is t.TENSOR


def _quotes(type_: t.Type) -> bool:
    """Whether Python would quote texts in a container."""
    if isinstance(type_, t.ListType):
        return type_.element is t.STR
    if isinstance(type_, t.TupleType):
        return t.STR in type_.elements
    return isinstance(type_, t.DictType) and t.STR in (type_.key, type_.value)


# -- where it shows ------------------------------------------------------------------------


def used(fc: FunctionCompiler, name: str, args: Sequence[Value], returns: t.Type) -> None:
    """Arguments of an operator that does otherwise with what they are."""
    keeps_text = returns is t.STR or returns == t.ListType(t.STR) or returns is t.NONE
    for index, arg in enumerate(args):
        if _is_of_kind(arg, "text") and arg.type is t.STR and name not in _PUTTING - {"_set_item"}:
            if not keeps_text or (name == "_set_item" and index == 1):
                report(fc, arg)
        elif _is_of_kind(arg, "dtype") and name in _BY_DTYPE and (name != "where" or index == 0):
            report(fc, arg)


def put(name: str, args: Sequence[Value]) -> None:
    """What is put into a container makes the variable that holds it as unlike."""
    if name in _PUTTING and args and args[0].unlike is None:
        args[0].unlike = of_any(args[1:])


def passed(fc: FunctionCompiler, args: Iterable[Value]) -> None:
    """Tensors of another dtype that a compiled function or module is given."""
    for arg in args:
        if _is_of_kind(arg, "dtype"):
            report(fc, arg)


def index(fc: FunctionCompiler, value: Value) -> None:
    """An index of another dtype picks other elements, or none."""
    if _is_of_kind(value, "dtype"):
        report(fc, value)


def returned(fc: FunctionCompiler, value: Value, node: ast.AST) -> None:
    """What the target itself returns is what it is compared by."""
    if fc.declared is t.FLOAT and value.type is t.TENSOR:
        facts = (("expression", text_of(node)), ("actual", str(value.type)))
        value = replace(value, unlike=Unlike("number", "result-kind/number", node, facts))
    unlike = value.unlike
    if unlike is None or unlike.kind == "object":
        return
    fc.compiler.reporter.mark_target_specific()
    declared = {"int": t.FLOAT, "Tensor": t.BOOL}.get(unlike.kind)
    if is_target(fc) and (declared is None or fc.declared is not declared):
        report(fc, value)


def is_target(fc: FunctionCompiler) -> bool:
    """Whether what is compiled is the target's own code, which its user calls."""
    root = fc.compiler.root
    stack = fc.compiler.reporter.stack
    if _is_property(fc):
        return False
    if stack and stack[-1].call not in (None, fc.node):
        return False
    if isinstance(fc.receiver, SugaredModule):
        return root is not None and fc.compiler.model(fc.receiver.instance) is fc.compiler.model(root)
    return root is None and fc.receiver is None and fc.node is fc.compiler.target.node


def may_get_anything(fc: FunctionCompiler) -> bool:
    """Whether the target's user may hand on what is no tensor: a parameter of its own code has no annotation."""
    compiler = fc.compiler
    compiler.reporter.mark_target_specific()
    if compiler.root is None:
        return isinstance(compiler.target.node, ast.FunctionDef) and _is_open(compiler.target.node)
    members = [
        member
        for base in ancestry.mro(compiler.interp, compiler.root.cls)
        if isinstance(base, py.ClassValue)
        for name, member in base.members.items()
        if isinstance(member, py.FunctionValue) and (name == "forward" or "export" in member.marks)
    ]
    return any(isinstance(m.node, ast.FunctionDef) and _is_open(m.node) for m in members)


def _is_open(node: ast.FunctionDef) -> bool:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return any(parameter.annotation is None and parameter.arg != "self" for parameter in given)


def _is_property(fc: FunctionCompiler) -> bool:
    """Whether what is compiled is a property: torch compiles all, whether or not anything reads them."""
    return any(isinstance(d, ast.Name) and d.id == "property" for d in fc.node.decorator_list)


def report(fc: FunctionCompiler, value: Value) -> None:
    """Report a difference where it comes from."""
    if value.unlike is not None:
        fc.note(Refusal(value.unlike.rule, value.unlike.node, **dict(value.unlike.facts)))
