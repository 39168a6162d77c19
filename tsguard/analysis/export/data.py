"""Where Python needs data of tensors, which torch.export does not have.

``.item()`` and ``.tolist()`` give symbols, and so does the size of what ``nonzero()`` or a mask
selects: arithmetic and sizes made of them go well, whatever needs their value is refused.
Source: torch/fx/experimental/symbolic_shapes.py (guards on unbacked symbols), and runs on torch 2.13.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import breaks, sizes
from tsguard.analysis.export.reports import not_known, report, report_backed
from tsguard.analysis.trace.values import Held, Number, Opaque, Traced, parts
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin

_CONDITION_OF: dict[str, RuleName] = {
    "inputs": "data-condition",
    "state": "data-condition/state",
    "random": "data-condition/random",
}
_OF_A_NUMBER = frozenset({"aten::tensor", "aten::as_tensor", "aten::scalar_tensor"})
# Functions of Python that take numbers, and tensors as well.
_OF_NUMBERS = frozenset({"min", "max", "abs", "round", "pow", "sum", "int", "float", "bool", "divmod"})
# Functions of math that know symbols.
SYMBOLIC = frozenset({"floor", "ceil", "trunc", "prod"})


def asked(tracer: Tracer, value: py.Value, node: ast.AST | None, *, among: bool = False) -> None:
    """A value is asked whether it is true; or what it is ``among`` others, for a search."""
    if isinstance(value, Traced) and value.of_size:
        sizes.element_wanted(tracer, value, node)
    elif isinstance(value, Traced):
        report(tracer, _condition(tracer, value, among), node, value.origin, bare=_bare_input(tracer, value))
    elif has_no_value(value):
        report(tracer, "data-condition/constant", node)
    elif isinstance(tracer.statement, ast.Assert):
        return  # of symbols, it is kept as a check at run time
    elif isinstance(value, Number) and value.unbacked:
        rule: RuleName = "data-condition/size" if value.kind == "size" else "data-condition/number"
        report_backed(tracer, value.unbacked, "data-condition/among" if among else rule, node, value.origin)
    elif isinstance(value, Held):
        report(tracer, "data-condition/held", node)
    else:
        breaks.asked(tracer, value, node)


def _condition(tracer: Tracer, value: Traced, among: bool) -> RuleName:
    """The rule for a tensor that is asked: torch.compile keeps an assertion without a message."""
    if among and value.of == "inputs":
        return "data-condition/among"
    asks = tracer.statement
    is_kept = isinstance(asks, ast.Assert) and asks.msg is None and value.of == "inputs"
    return "data-condition/assert" if is_kept else _CONDITION_OF[value.of]


def has_no_value(value: py.Value) -> bool:
    """Whether a tensor that no input reaches has no elements while exporting.

    One of a single given number has, and one that was made outside, as long as nothing is computed with it.
    """
    if not isinstance(value, py.TensorValue) or isinstance(value, Traced) or value.outside:
        return False
    return value.several or (value.name.startswith("aten::") and value.name not in _OF_A_NUMBER)


def lends_no_value(value: py.Value) -> bool:
    """Whether what is computed with a value has no elements while exporting."""
    return has_no_value(value) or (isinstance(value, py.TensorValue) and value.outside)


def are_outside(owners: Iterable[py.ObjectValue]) -> None:
    """Take note of the tensors that objects hold from the start."""
    for owner in owners:
        for value in parts(owner.attributes.values()):
            is_outside(value)


def is_outside(value: py.Value | None) -> None:
    """A tensor that was made before the forward runs."""
    if isinstance(value, py.TensorValue) and not isinstance(value, Traced):
        value.outside = True


def looked_up(name: str, value: py.Value, scope: py.Scope) -> None:
    """A name is read: a tensor of the file was made before the forward runs."""
    runner = scope
    while runner.parent is not None and name not in runner.names:
        runner = runner.parent
    if runner.parent is None:
        is_outside(value)


def _bare_input(tracer: Tracer, value: Traced) -> str:
    """The input that a value is or is compared of, which may be no tensor; "" where it is one for sure.

    What was computed, or taken of something, is; a bare argument that is asked may as well be a flag,
    and what Python's own arithmetic makes of it a number.
    """
    if tracer.exports.are_inputs_given or value.of != "inputs":
        return ""
    step: Origin | None = value.origin
    while step is not None:
        if isinstance(step.node, (ast.Subscript, ast.Attribute)) or _is_of_tensor(step.node):
            return ""
        if id(step.node) in tracer.exports.computed:
            return ""
        step = step.parent
    return value.origin.root.name


def computed_of(tracer: Tracer, values: Sequence[py.Value], node: ast.AST) -> None:
    """What Python's arithmetic makes of a tensor is one, whatever else it is made of."""
    tensors = (value for value in values if isinstance(value, py.TensorValue))
    if any(not isinstance(value, Traced) or not _bare_input(tracer, value) for value in tensors):
        tracer.exports.computed.add(id(node))


def taken_for_tensor(tracer: Tracer, value: py.Value) -> None:
    """An input, or what Python's own arithmetic makes of one, is given to what takes nothing but tensors."""
    name = _bare_input(tracer, value) if isinstance(value, Traced) else ""
    if name:
        tracer.exports.tensors.add(name)


def _is_of_tensor(node: ast.AST | None) -> bool:
    """Whether a step is a call that is none of Python's own for numbers."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") not in _OF_NUMBERS


def number_wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the value of what may be data, whichever of ``values`` that is."""
    for value in parts(values):
        if isinstance(value, Traced):
            if value.of_size:
                sizes.element_wanted(tracer, value, node)
            else:
                _of_tensor(tracer, rule, value, node)
            return
        if isinstance(value, Number) and value.unbacked:
            report_backed(tracer, value.unbacked, rule, node, value.origin)
            return
        if isinstance(value, Held) or has_no_value(value):
            report(tracer, rule, node, source="a tensor")
            return


def _of_tensor(tracer: Tracer, rule: RuleName, value: Traced, node: ast.AST | None) -> None:
    """A tensor is asked for its number: torch.compile may take that of an input as it is."""
    bare = _bare_input(tracer, value)
    if value.origin.parent is None:
        report(tracer, rule, node, value.origin, bare=bare, compile="unknown")
    else:
        report(tracer, rule, node, value.origin, bare=bare)


def is_symbol(value: py.Value) -> bool:
    """Whether torch.export has a symbol for a number, which data gives."""
    return isinstance(value, Held) or (isinstance(value, Number) and value.unbacked != "")


def array_wanted(tracer: Tracer, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """NumPy is given values, of which tensors have no memory."""
    for value in parts(values):
        if isinstance(value, Number) and value.unbacked:
            report_backed(tracer, value.unbacked, "outside-torch", node, value.origin)
            return
        if isinstance(value, py.TensorValue):
            origin = value.origin if isinstance(value, Traced) else None
            report(tracer, "outside-torch", node, origin, source="a tensor")
            return


def symbol_wanted(tracer: Tracer, rule: RuleName, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Python needs the value of a number that is a symbol."""
    number_wanted(tracer, rule, [value for value in values if isinstance(value, (Number, Held))], node)


def formatted(tracer: Tracer, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """Numbers are written in a format of theirs, which symbols do not know."""
    values = list(values)
    number_wanted(tracer, "data-number/format", values, node)
    sizes.wanted(tracer, "lost-size/format", values, node)


def formatted_as_whole(tracer: Tracer, values: Iterable[py.Value], node: ast.AST | None) -> None:
    """``"%d" % n`` takes the whole number itself."""
    values = list(values)
    number_wanted(tracer, "data-number/format", values, node)
    sizes.wanted(tracer, "fixed-size", values, node)


def mathematics(tracer: Tracer, name: str, args: list[py.Value], node: ast.AST) -> None:
    """A function of the math module, most of which want a float."""
    tensors = [value for value in parts(args) if isinstance(value, Traced)]
    number_wanted(tracer, "data-number/math", tensors if name in SYMBOLIC else args, node)


def extreme(tracer: Tracer, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST) -> None:
    """``max`` and ``min``: torch.export has its own for two tensors, and where one of two is a whole symbol.

    So it has for all of a list, which it compares two by two.
    Source: torch/_export/non_strict_utils.py (``_tensor_min_max``).
    """
    if len(args) == 1 and isinstance(args[0], Traced):
        report(tracer, "data-number/extreme", node, args[0].origin)
        return
    given = parts(args)
    symbols = [value for value in given if isinstance(value, (Held, Number)) and is_symbol(value)]
    kinds = {_kind(symbol) for symbol in symbols}
    is_its_own = not kwargs and len(args) <= 2
    if not symbols or (is_its_own and ("int" in kinds if len(args) == 2 else kinds == {"int"})):
        return
    constants = [value.value for value in given if isinstance(value, py.Const)]
    if not is_its_own or "float" in kinds or any(isinstance(constant, float) for constant in constants):
        symbol_wanted(tracer, "data-number/extreme", symbols, node)
    elif any(_is_called_whole(symbol) for symbol in symbols):
        not_known(
            tracer,
            node,
            "min and max accept an integer from data and no float, and the source does not tell which it is",
        )
    else:
        with tracer.exports.by_some_kinds(told=bool(tracer.facts.dtype)):
            symbol_wanted(tracer, "data-number/extreme", symbols, node)


# What inputs are called that hold whole numbers or truths.
_WHOLE_NAMES = frozenset(
    [
        "batch", "class", "classes", "count", "counts", "id", "ids", "idx", "index", "indices", "inds", "label",
        "labels", "len", "length", "lengths", "lens", "mask", "masks", "num", "target", "targets", "token", "tokens",
    ]
)  # fmt: skip


def _is_called_whole(symbol: Held | Number) -> bool:
    """Whether a number is taken out of an input whose name says that it holds whole numbers, or of no input."""
    if not isinstance(symbol, Number):
        return True
    return not _WHOLE_NAMES.isdisjoint(symbol.origin.root.name.lower().split("_"))


_WHOLE = frozenset(
    [
        "argmax", "argmin", "argsort", "bincount", "count_nonzero", "int", "len", "long", "nonzero", "numel",
        "ndim", "randint", "size", "shape",
    ]
)  # fmt: skip
_FLOATING = frozenset(
    [
        "cos", "double", "exp", "float", "half", "log", "mean", "norm", "rsqrt", "sigmoid", "sin", "softmax",
        "sqrt", "std", "tanh", "true_divide", "var",
    ]
)  # fmt: skip


def kind_of(value: py.Value) -> str:
    """What kind of number a symbol is; "" for what is none."""
    return _kind(value) if isinstance(value, (Held, Number)) else ""


def _kind(symbol: Held | Number) -> str:
    """Whether a number is an "int" or a "float", as the last step tells that does; "" where none does."""
    if symbol.hint in ("int", "float"):
        return symbol.hint
    if isinstance(symbol, Held):
        return ""
    if symbol.kind == "size":
        return "int"
    step: Origin | None = symbol.origin
    while step is not None:
        node = step.node.func if isinstance(step.node, ast.Call) else step.node
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in _WHOLE or isinstance(node, ast.Compare):
            return "int"
        if name in _FLOATING or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
            return "float"
        step = step.parent
    return ""


def is_number(tracer: Tracer, given: py.Value) -> bool:
    """Whether torch.export has the number that a tensor is made of."""
    if isinstance(given, Number):
        return not given.unbacked
    return isinstance(given, Opaque) and given.origin.root.name in tracer.scalars
