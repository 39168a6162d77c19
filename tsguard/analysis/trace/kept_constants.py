"""Tensors that Python makes of numbers: a trace holds one of each, and what is written into it stays for the next call.

Source: torch/csrc/jit/frontend/tracer.cpp (``getValue`` makes a constant of a tensor that no operation has made).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python import operations
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.guards import branches_among, is_within
from tsguard.analysis.trace.values import Constant, Fixed, Number, Traced, is_live, parts
from tsguard.source.walking import walked

_MAKERS = frozenset(
    {"torch.Tensor", "torch.FloatTensor", "torch.as_tensor", "torch.from_numpy", "torch.tensor"}
)
# Methods that give the tensor itself, or one of its memory, where the dtype stays as it is.
_ITSELF = frozenset(
    [
        "contiguous", "cpu", "cuda", "data", "detach", "flatten", "narrow", "ravel", "requires_grad_", "reshape",
        "select", "squeeze", "to", "type", "type_as", "unbind", "unflatten", "unsqueeze", "view", "view_as",
    ]
)  # fmt: skip
_CASTS = {
    "bool": "bool", "int": "int32", "long": "int64", "half": "float16", "bfloat16": "bfloat16", "float": "float32",
    "double": "float64",
}  # fmt: skip
_RENEWING = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_"})
_WITHOUT_VALUES = frozenset({"detach_", "requires_grad_", "share_memory_", "squeeze_"})
# What writes anew where an index or a mask says: its place among the arguments.
_PLACED = {
    "index_copy_": 1, "index_fill_": 1, "index_put_": 0, "masked_fill_": 0, "masked_scatter_": 0, "scatter_": 1,
}  # fmt: skip
# What makes another number, or another shape, of the one before: done by each call, it never comes to an end.
GOING_ON: frozenset[str] = frozenset(
    [
        "add_", "div_", "divide_", "exp_", "mul_", "multiply_", "neg_", "negative_", "pow_", "reciprocal_", "rsqrt_",
        "sqrt_", "square_", "sub_", "subtract_", "t_", "transpose_", "true_divide_", "unsqueeze_",
    ]
)  # fmt: skip


def made(
    tracer: Tracer,
    name: str,
    args: Sequence[py.Value],
    kwargs: dict[str, py.Value],
    result: py.Value | None,
    node: ast.AST | None,
) -> None:
    """A function or method has made a tensor; one of numbers alone is a constant."""
    is_maker = name in _MAKERS or name.rpartition(".")[2] == "new_tensor"
    if is_maker and isinstance(result, py.TensorValue) and not isinstance(result, Traced):
        tracer.constants[result] = Constant(_dtype(args, kwargs), node)


def _dtype(args: Sequence[py.Value], kwargs: dict[str, py.Value]) -> str:
    named = kwargs.get("dtype")
    if isinstance(named, py.Atom):
        return named.name
    given = parts([operations.default_of(value) or value for value in args[:1]])
    numbers = [type(value.value) for value in given if isinstance(value, py.Const)]
    if named is not None or len(numbers) < len(given) or not numbers:
        return ""
    return "float32" if float in numbers else "int64" if int in numbers else "bool"


def viewed(
    tracer: Tracer, name: str, owner: py.TensorValue, args: Sequence[py.Value], result: py.Value
) -> None:
    """What a method, or brackets (""), give of a constant may be its memory."""
    constant = tracer.constants.get(owner)
    if constant is None or result is owner or not (_is_itself(constant, name, args) or name in _CASTS):
        return
    if name in _CASTS and _CASTS[name] != constant.dtype:
        return
    for part in result.items if isinstance(result, (py.ListValue, py.TupleValue)) else [result]:
        if isinstance(part, py.TensorValue):
            tracer.constants[part] = constant


def _is_itself(constant: Constant, name: str, args: Sequence[py.Value]) -> bool:
    """Whether a method leaves the dtype: where nothing tells that of an input, it is the usual one."""
    if name == "":
        return all(map(_is_basic, args))
    if name not in ("to", "type", "type_as"):
        return name in _ITSELF
    return all(_asked(value) in ("", constant.dtype) for value in args)


def _is_basic(key: py.Value) -> bool:
    """Whether a key takes a part of the memory: a number or a slice, and no list or tensor of indices."""
    if isinstance(key, py.TupleValue):
        return all(map(_is_basic, key.items))
    return isinstance(key, (py.Const, py.SliceValue, Number))


def _asked(value: py.Value) -> str:
    """The dtype that an argument of ``to`` asks for; empty for a device and the like."""
    if isinstance(value, py.TensorValue):
        return value.dtype or "float32"
    if isinstance(value, Fixed) and value.about == "dtype":
        return "float32"
    return value.name if isinstance(value, py.Atom) and value.kind == "dtype" else ""


def changed(tracer: Tracer, tensor: py.Value, given: Sequence[py.Value], operation: str) -> None:
    """A tensor is changed in place by ``operation``, named as the method of tensors that does it."""
    constant = tracer.constants.get(tensor) if isinstance(tensor, py.TensorValue) else None
    if constant is None or operation in _WITHOUT_VALUES or is_within(tracer.enclosing, constant.renewed):
        return
    if operation == "__setitem__":  # what that leaves hangs on the key
        return
    is_into = bool(operation) and not operation.endswith("_")  # as the argument ``out``
    if operation in _RENEWING or (is_into and sum(value is tensor for value in given) < 2):
        constant.renewed = branches_among(tracer.enclosing)
    elif operation in _PLACED:
        place = _PLACED[operation]
        if any(map(_differs, given[place : place + 1])):
            _report(tracer, constant)
    elif any(map(_differs, given)) or (operation in GOING_ON and all(isinstance(v, py.Const) for v in given)):
        _report(tracer, constant)


def set_item(tracer: Tracer, tensor: py.Value, key: py.Value) -> None:
    """``tensor[key] = value``: written anew, and what an earlier call has written elsewhere is there still."""
    constant = tracer.constants.get(tensor) if isinstance(tensor, py.TensorValue) else None
    if constant is not None and not is_within(tracer.enclosing, constant.renewed):
        if _is_everything(key):
            constant.renewed = branches_among(tracer.enclosing)
        elif any(map(_differs, _keys(key))) or _is_made_of_itself(tracer.statement):
            _report(tracer, constant)


def _report(tracer: Tracer, constant: Constant) -> None:
    """Report the change, and no more that the constant is the same for every call."""
    said = tracer.event("harmless-warning/constant", constant.node)
    if said is not None:
        tracer.drop(said)
    tracer.report("changed-constant", tracer.statement)


def _is_made_of_itself(statement: ast.AST | None) -> bool:
    """Whether an element is assigned what is made of it: ``total[i] = total[i] * 2``."""
    if not isinstance(statement, ast.Assign):
        return False
    targets = {_written(part) for part in statement.targets if isinstance(part, ast.Subscript)}
    read = (part for part in walked(statement.value) if isinstance(part, ast.Subscript))
    return any(_written(part) in targets for part in read)


def _written(place: ast.Subscript) -> str:
    """A place as the source writes it, whether it is read or assigned."""
    return ast.dump(place).rpartition("ctx=")[0]


def _keys(key: py.Value) -> Iterable[py.Value]:
    return parts([key, *((key.start, key.stop, key.step) if isinstance(key, py.SliceValue) else ())])


def _is_everything(key: py.Value) -> bool:
    if isinstance(key, py.SliceValue):
        return all(map(py.is_none, (key.start, key.stop, key.step)))
    return isinstance(key, py.Const) and key.value is Ellipsis


def _differs(value: py.Value) -> bool:
    """Whether another call may get another value."""
    return any(is_live(part) or (isinstance(part, Number) and part.known is None) for part in parts([value]))
