"""Code that does in TorchScript what was meant, spelled out for the help texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tsguard.analysis.events import text_of
from tsguard.language import number_orders
from tsguard.language import types as t
from tsguard.source.walking import walked

_COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_TIGHT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def choice(node: ast.BoolOp, operands: Sequence[t.Type]) -> str:
    """The conditional expression that ``a or b`` and ``a and b`` are: ``a if a else b``, ``b if a else a``.

    Args:
        operands: their types, as far as they are known.
    """
    first = node.values[0]
    rest = node.values[1] if len(node.values) == 2 else ast.BoolOp(node.op, node.values[1:])
    other = f"({choice(rest, operands[1:])})" if isinstance(rest, ast.BoolOp) else text_of(rest)
    is_plain = isinstance(first, (ast.Name, ast.Attribute, ast.Constant))
    value = text_of(first) if is_plain else "value"
    test = tested(value, operands[0])
    chosen = (
        f"{value} if {test} else {other}"
        if isinstance(node.op, ast.Or)
        else f"{other} if {test} else {value}"
    )
    return chosen if is_plain else f"{chosen}, with value = {text_of(first)} before it"


def tested(value: str, type_: t.Type) -> str:
    """How it is asked whether a value is true."""
    if not isinstance(type_, t.OptionalType):
        return value
    element = type_.element
    if element in (t.INT, t.FLOAT):
        return f"{value} is not None and {value} != 0"
    if element is t.BOOL:
        return f"{value} is not None and {value}"
    if element is t.STR or isinstance(element, (t.ListType, t.DictType, t.TupleType)):
        return f"{value} is not None and len({value}) > 0"
    return f"{value} is not None"


def with_tensor_first(node: ast.BinOp | ast.AugAssign) -> str:
    """``number * x`` as ``x * number``, and ``number - x`` as ``torch.tensor(number) - x``."""
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    operator = text_of(ast.BinOp(ast.Name("a"), node.op, ast.Name("b")))[1:-1]
    if isinstance(node.op, _COMMUTATIVE):
        turned = f"{_operand(right)}{operator}{_operand(left)}"
    else:
        turned = f"torch.tensor({text_of(left)}){operator}{_operand(right)}"
    return turned if isinstance(node, ast.BinOp) else f"{text_of(node.target)} = {turned}"


def stacked_sum(call: ast.Call) -> str:
    """What adds Tensors as ``sum(xs)`` and ``sum(xs, start)`` of Python do."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        return "torch.stack(tensors).sum(0)"
    tensors, start = call.args[0], call.args[1:]
    if isinstance(tensors, ast.GeneratorExp):
        tensors = ast.ListComp(tensors.elt, tensors.generators)
    text = f"list({text_of(tensors)})" if isinstance(tensors, ast.Call) else text_of(tensors)
    return " + ".join([f"torch.stack({text}).sum(0)", *map(text_of, start)])


def numbers_by_name(call: ast.Call, *, is_method: bool) -> str | None:
    """``x.add(1, y)`` as ``x.add(y, alpha=1)``; None for a call that has no number before its Tensors."""
    name = text_of(call.func).rpartition(".")[2]
    given = None if call.keywords else number_orders.by_name(name, call.args, is_method=is_method)
    if given is None:
        return None
    args = ", ".join(f"{name}={text_of(arg)}" if name else text_of(arg) for name, arg in given)
    return f"{text_of(call.func)}({args})"


def _operand(node: ast.expr) -> str:
    return text_of(node) if isinstance(node, _TIGHT) else f"({text_of(node)})"


def start_of(function: ast.FunctionDef, name: str) -> str:
    """The number that a variable starts as; its name where that is not written in the function."""
    assigned = (
        n for n in walked(function) if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None
    )
    targets = ((n.targets[0] if isinstance(n, ast.Assign) else n.target, n.value) for n in assigned)
    found = [(value.lineno, text_of(value)) for target, value in targets if value and text_of(target) == name]
    return min(found)[1] if found else name


def as_float(number: str) -> str:
    """A number of Python as a float: ``1`` as ``1.0``, anything else converted."""
    return f"{number}.0" if number.removeprefix("-").isdigit() else f"float({number})"


_ANNOTATED = {"number": "float", "device": "torch.device", "Generator": "torch.Generator"}
_NAMES = re.compile(rf"(?<![.\w])({'|'.join(_ANNOTATED)})\b")


def annotation(type_: t.Type) -> str:
    """A type as an annotation names it: what ``.item()`` gives, a "number" to the compiler, is annotated as float."""
    return _NAMES.sub(lambda name: _ANNOTATED[name[0]], str(type_))
