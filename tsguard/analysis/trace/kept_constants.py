"""Tensors that Python makes of numbers: a trace holds one of each, and what is written into it stays for the next call.

Source: torch/csrc/jit/frontend/tracer.cpp (``getValue`` makes a constant of a tensor that no operation has made).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python import numpy_arrays, operations
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.guards import branches_among, is_within
from tsguard.analysis.trace.values import Constant, Fixed, Number, Traced, is_live, parts
from tsguard.analysis.trace.writing import VIEWS

# Functions that make a tensor of numbers, and of an array of numpy's one of its memory; ``torch.tensor`` copies that.
_SHARING = frozenset({"torch.as_tensor", "torch.asarray", "torch.from_numpy"})
_LEGACY = {"torch.FloatTensor": "float32", "torch.LongTensor": "int64", "torch.Tensor": "float32"}
_MAKERS = _SHARING | frozenset(_LEGACY) | {"torch.tensor"}
# Methods that give the tensor itself, or one of its memory, where the dtype stays as it is.
_ITSELF = VIEWS | {
    "as_strided", "contiguous", "cpu", "cuda", "data", "mT", "ravel", "requires_grad_", "T", "tensor_split", "to",
    "type", "type_as",
}  # fmt: skip
# Those after which the order in memory is another, and those that copy then.
_TURNING = frozenset({"T", "expand", "mT", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"})
_LAID_OUT = frozenset({"contiguous", "flatten", "ravel", "reshape"})
_CASTS = {
    "bool": "bool", "int": "int32", "long": "int64", "half": "float16", "bfloat16": "bfloat16", "float": "float32",
    "double": "float64",
}  # fmt: skip
_RENEWING = frozenset(
    [
        "bernoulli_", "cauchy_", "constant_", "copy_", "dirac_", "exponential_", "eye_", "fill_", "geometric_",
        "kaiming_normal_", "kaiming_uniform_", "log_normal_", "normal_", "ones_", "orthogonal_", "random_", "set_",
        "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zero_", "zeros_",
    ]
)  # fmt: skip
# What changes nothing that a second time has not changed already, if it is given the same.
_SETTLED = frozenset(
    [
        "abs_", "absolute_", "bitwise_and_", "bitwise_or_", "ceil_", "clamp_", "clamp_max_", "clamp_min_", "clip_",
        "fill_diagonal_", "fix_", "floor_", "fmod_", "hardtanh_", "logical_and_", "logical_or_",
        "nan_to_num_", "relu6_", "relu_", "remainder_", "round_", "sgn_", "sign_", "threshold_",
         "tril_", "triu_", "trunc_",
    ]
)  # fmt: skip
_WITHOUT_VALUES = frozenset({"detach_", "requires_grad_", "share_memory_", "squeeze_"})
# The number that changes nothing.
_NEUTRAL = {"add_": 0, "sub_": 0, "mul_": 1, "div_": 1, "pow_": 1, "dropout_": 0}
# What writes anew where an index or a mask says: its place among the arguments.
_PLACED = {
    "index_copy_": 1, "index_fill_": 1, "index_put_": 0, "masked_fill_": 0, "masked_scatter_": 0, "scatter_": 1,
}  # fmt: skip


def called(
    tracer: Tracer,
    name: str,
    args: Sequence[py.Value],
    kwargs: dict[str, py.Value],
    result: py.Value,
    node: ast.AST | None,
) -> None:
    """A function of torch has made ``result``."""
    if name in _MAKERS:
        made(tracer, name, args, kwargs, result, node)
    elif name.startswith("torch.") and args and isinstance(args[0], py.TensorValue):
        viewed(tracer, name.rpartition(".")[2], args[0], args[1:], result)


def made(
    tracer: Tracer,
    name: str,
    args: Sequence[py.Value],
    kwargs: dict[str, py.Value],
    result: py.Value,
    node: ast.AST | None,
) -> None:
    """A function or method has made a tensor; one of numbers alone is a constant."""
    if not isinstance(result, py.TensorValue) or isinstance(result, Traced):
        return
    given = (operations.default_of(args[0]) or args[0]) if args else py.NONE
    if isinstance(given, py.TensorValue):
        return
    if numpy_arrays.is_array(given) and (name not in _SHARING or "dtype" in kwargs):
        return  # an operation copies it, or does where it has another dtype
    tracer.constants[result] = Constant(_LEGACY.get(name) or _dtype(args, kwargs), node)


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
    if name == "" and isinstance(result, py.TensorValue):
        tracer.constants[result] = _place(constant, args[0])
        return
    if name in _LAID_OUT and constant.is_turned:
        return
    if name in _TURNING:
        constant = Constant(constant.dtype, constant.node, whole=constant, is_turned=True)
    for part in result.items if isinstance(result, (py.ListValue, py.TupleValue)) else [result]:
        if isinstance(part, py.TensorValue):
            tracer.constants[part] = constant


def _place(constant: Constant, key: py.Value) -> Constant:
    """What a key takes of a constant: the same for the same key, itself for all of it."""
    if _is_everything(key):
        return constant
    read = tuple(_plain(part) for part in (key.items if isinstance(key, py.TupleValue) else (key,)))
    is_turned = constant.is_turned or len(read) > 1
    place = Constant(constant.dtype, constant.node, whole=constant, is_turned=is_turned)
    return place if None in read else constant.places.setdefault(read, place)


def _plain(key: py.Value) -> object:
    """A key that is the same for each call, as something to look up by; None for another."""
    if isinstance(key, py.SliceValue):
        bounds = [py.constant(bound) for bound in (key.start, key.stop, key.step)]
        is_plain = all(isinstance(bound, py.Const) for bound in (key.start, key.stop, key.step))
        return ("slice", *bounds) if is_plain else None
    return ("item", key.value) if isinstance(key, py.Const) else None


def _is_renewed(tracer: Tracer, constant: Constant | None) -> bool:
    """Whether this call has written anew all of it."""
    while constant is not None and not is_within(tracer.enclosing, constant.renewed):
        constant = constant.whole
    return constant is not None


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
    if constant is None or operation == "__setitem__" or _is_renewed(tracer, constant):
        return
    is_into = bool(operation) and not operation.endswith("_")  # as the argument ``out``
    if operation in _RENEWING or (is_into and sum(value is tensor for value in given) < 2):
        constant.renewed = branches_among(tracer.enclosing)
    elif operation not in _WITHOUT_VALUES:
        rest = [value for value in given if value is not tensor]
        is_normalised = _is_normalised(tracer.statement)
        if _is_changed_twice(constant, is_normalised) or (not is_normalised and _goes_on(operation, rest)):
            _report(tracer, constant)


def _is_changed_twice(constant: Constant, is_normalised: bool) -> bool:
    """Note a change; whether it is one of several, one of which normalises: the next call then begins with others."""
    while constant.whole is not None:
        constant = constant.whole
    before, constant.changes = constant.changes, (*constant.changes, is_normalised)
    return bool(before) and any(constant.changes)


def _goes_on(operation: str, given: Sequence[py.Value]) -> bool:
    """Whether each call leaves something else than the one before, or than another input would."""
    if operation in _PLACED:
        place = _PLACED[operation]
        return any(map(_differs, given[place : place + 1]))
    if operation in _SETTLED:
        return any(map(_differs, given))
    return operation not in _NEUTRAL or not _is_number(given[0] if given else None, _NEUTRAL[operation])


def goes_on(operation: str, given: Sequence[py.Value]) -> bool:
    """Whether an operation with constants makes other numbers, or another shape, of those before each time."""
    is_other = operation in _RENEWING or operation in _PLACED or operation in _WITHOUT_VALUES
    if is_other or not operation.endswith("_"):
        return False
    return all(isinstance(v, py.Const) for v in given) and _goes_on(operation, given)


# What a tensor that has been divided by it, or that it was taken from, is not changed by any more.
_NORMALISING: dict[type[ast.operator], frozenset[str]] = {
    ast.Div: frozenset({"amax", "max", "norm", "sum"}),
    ast.Sub: frozenset({"amin", "max", "mean", "min"}),
}


def _is_normalised(statement: ast.AST | None) -> bool:
    """Whether a statement is ``weights /= weights.sum()`` or the like."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.value, ast.Call):
        return False
    function = statement.value.func
    if not isinstance(function, ast.Attribute) or function.attr not in _NORMALISING.get(
        type(statement.op), ()
    ):
        return False
    return _written(function.value) == _written(statement.target)


def _is_number(value: py.Value | None, number: float) -> bool:
    return isinstance(value, py.Const) and value.value == number and not isinstance(value.value, bool)


def set_item(tracer: Tracer, tensor: py.Value, key: py.Value) -> None:
    """``tensor[key] = value``: written anew, and what an earlier call has written elsewhere is there still."""
    constant = tracer.constants.get(tensor) if isinstance(tensor, py.TensorValue) else None
    if constant is None:
        return
    place = _place(constant, key)
    if _is_renewed(tracer, place):
        return
    if place is not constant and (any(map(_differs, _keys(key))) or _is_made_of_itself(tracer.statement)):
        _report(tracer, constant)
    else:
        place.renewed = branches_among(tracer.enclosing)


def _report(tracer: Tracer, constant: Constant) -> None:
    """Report the change, and no more that the constant is the same for every call."""
    said = tracer.event("harmless-warning/constant", constant.node)
    if said is not None:
        tracer.drop(said)
    tracer.report("changed-constant", tracer.statement)


def _is_made_of_itself(statement: ast.AST | None) -> bool:
    """Whether elements are assigned what is made of such as are written there: ``total[i] = total[i] * 2``."""
    if isinstance(statement, ast.AugAssign):
        return True
    if not isinstance(statement, ast.Assign):
        return False
    targets = [t for target in statement.targets for t in _subscripts(target)]
    wholes = {_written(target.value) for target in targets}
    read: list[ast.expr] = []
    _collect(statement.value, wholes, read)
    return any(_may_meet(target, part) for target in targets for part in read)


def _subscripts(target: ast.expr) -> list[ast.Subscript]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [found for part in target.elts for found in _subscripts(part)]
    return [target] if isinstance(target, ast.Subscript) else []


def _collect(node: ast.AST, wholes: set[str], read: list[ast.expr]) -> None:
    """What is read of tensors, each at its place or as a whole."""
    if (
        isinstance(node, ast.expr)
        and _written(node.value if isinstance(node, ast.Subscript) else node) in wholes
    ):
        read.append(node)
        return
    if isinstance(node, ast.Attribute) and node.attr in _OF_KIND:
        return
    for child in ast.iter_child_nodes(node):
        _collect(child, wholes, read)


# What tells nothing of the numbers in a tensor.
_OF_KIND = frozenset({"shape", "dtype", "device", "ndim"})


def _may_meet(target: ast.Subscript, part: ast.expr) -> bool:
    """Whether a part that is read may be where one is written: not under two numbers that differ."""
    if not isinstance(part, ast.Subscript):
        return _written(target.value) == _written(part)
    if _written(target.value) != _written(part.value):
        return False
    written, read = _index(target.slice), _index(part.slice)
    return written is None or read is None or written == read or (written < 0) is not (read < 0)


def _index(key: ast.expr) -> int | None:
    """A number that the source writes as a key."""
    if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub):
        found = _index(key.operand)
        return None if found is None else -found
    return key.value if isinstance(key, ast.Constant) and type(key.value) is int else None


def _written(place: ast.expr) -> str:
    """A place as the source writes it, whether it is read or assigned."""
    return ast.dump(place).replace("ctx=Store()", "ctx=Load()")


def _keys(key: py.Value) -> Iterable[py.Value]:
    return parts([key, *((key.start, key.stop, key.step) if isinstance(key, py.SliceValue) else ())])


def _is_everything(key: py.Value) -> bool:
    if isinstance(key, py.SliceValue):
        return all(map(py.is_none, (key.start, key.stop, key.step)))
    return isinstance(key, py.Const) and key.value is Ellipsis


def _differs(value: py.Value) -> bool:
    """Whether another call may get another value."""
    return any(is_live(part) or (isinstance(part, Number) and part.known is None) for part in parts([value]))
