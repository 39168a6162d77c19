"""The inputs that a file gives for its target, read without running them.

``example_inputs()`` returns the arguments to trace with, ``get_module()`` the module and
them, ``other_inputs()`` arguments that the trace shall serve as well: where those have
another rank, dtype or structure, that property is not fixed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import Interpreter, PythonInterpreter
from tsguard.analysis.python.context import Raised
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.report.records import dataclass, replace

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope
    from tsguard.project import Target

_SIZED = frozenset(["rand", "randn", "zeros", "ones", "empty"])
_DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16",
    "int": "int32", "long": "int64", "short": "int16", "bool": "bool",
}  # fmt: skip
_FLOAT = "float32"


@dataclass(frozen=True, slots=True)
class Examples:
    """Arguments to trace with, and others that the trace shall serve; None where not given."""

    given: tuple[py.Value, ...] | None = None
    others: tuple[py.Value, ...] | None = None


def read(interp: Interpreter, target: Target, subject: py.Value) -> Examples:
    """What the target's file says of its inputs."""
    reader = _Reader(interp.program, interp.world)
    given = _returned(reader, target, "example_inputs")
    if given is None:
        given = _of_module(reader, target, subject)
    return Examples(given, _returned(reader, target, "other_inputs"))


def _returned(reader: _Reader, target: Target, name: str) -> tuple[py.Value, ...] | None:
    if name not in target.module.bindings:
        return None
    scope = reader.program.scope(target.module)
    try:
        result = reader.call(reader.lookup(name, scope) or py.NONE, [], {})
    except (Raised, BudgetExceeded):
        return None
    if isinstance(result, py.TupleValue) and not result.open:
        return result.items
    return (result,) if isinstance(result, py.TensorValue) else None


def _of_module(reader: _Reader, target: Target, subject: py.Value) -> tuple[py.Value, ...] | None:
    pair = _returned(reader, target, "get_module")
    if pair is None or len(pair) != 2 or not isinstance(subject, py.ModuleValue):
        return None
    module, inputs = pair
    same = isinstance(module, py.ModuleValue) and module.cls is subject.cls
    return inputs.items if same and isinstance(inputs, py.TupleValue) and not inputs.open else None


class _Reader(PythonInterpreter):
    """Evaluates input functions; tensors keep the rank and dtype that they are made with."""

    def evaluate(self, node: ast.expr, scope: Scope) -> py.Value:
        value = super().evaluate(node, scope)
        if isinstance(node, (ast.BinOp, ast.Compare)) and isinstance(value, py.TensorValue):
            first = super().evaluate(node.left, scope)
            if isinstance(first, py.TensorValue):
                return replace(first, dtype="bool") if isinstance(node, ast.Compare) else first
        return value

    def call(
        self,
        function: py.Value,
        args: list[py.Value],
        kwargs: dict[str, py.Value],
        node: ast.AST | None = None,
    ) -> py.Value:
        if isinstance(function, py.External) and function.name.startswith("torch."):
            made = _made(function.name.removeprefix("torch."), args, kwargs)
            if made is not None:
                return made
        if isinstance(function, py.BoundMethod) and isinstance(function.receiver, py.TensorValue):
            return _method(function, args, kwargs)
        return super().call(function, args, kwargs, node)


def _made(name: str, args: list[py.Value], kwargs: dict[str, py.Value]) -> py.TensorValue | None:
    """The tensor that a factory function makes."""
    dtype = _dtype(kwargs.get("dtype"))
    if name in _SIZED:
        sizes = args[0] if args and isinstance(args[0], (py.ListValue, py.TupleValue)) else None
        rank = len(sizes.items) if sizes is not None else len(args)
        return py.TensorValue(rank=rank, dtype=dtype or _FLOAT)
    if name in ("full", "randint"):
        given = [*args, *kwargs.values()]
        sizes = next((a for a in given if isinstance(a, (py.ListValue, py.TupleValue))), None)
        known = len(sizes.items) if sizes is not None else None
        return py.TensorValue(rank=known, dtype=dtype or ("int64" if name == "randint" else ""))
    if name in ("tensor", "as_tensor") and args:
        return py.TensorValue(rank=_depth(args[0]), dtype=dtype or _kind(args[0]))
    if name in ("arange", "linspace", "randperm"):
        whole = all(isinstance(py.constant(a), int) for a in args) and name != "linspace"
        return py.TensorValue(rank=1, dtype=dtype or ("int64" if whole else _FLOAT))
    if name == "eye":
        return py.TensorValue(rank=2, dtype=dtype or _FLOAT)
    return None


def _dtype(value: py.Value | None) -> str:
    return value.name if isinstance(value, py.Atom) and value.kind == "dtype" else ""


def _depth(value: py.Value) -> int:
    if isinstance(value, (py.ListValue, py.TupleValue)):
        return 1 + (_depth(value.items[0]) if value.items else 0)
    return 0


def _kind(value: py.Value) -> str:
    """The dtype that torch.tensor chooses for nested numbers."""
    leaves = {type(leaf) for leaf in _leaves(value)}
    if leaves == {bool}:
        return "bool"
    return _FLOAT if float in leaves else "int64" if leaves <= {int, bool} else ""


def _leaves(value: py.Value) -> Iterator[object]:
    if isinstance(value, (py.ListValue, py.TupleValue)):
        for item in value.items:
            yield from _leaves(item)
    else:
        yield py.constant(value)


def _method(function: py.BoundMethod, args: list[py.Value], kwargs: dict[str, py.Value]) -> py.TensorValue:
    receiver = function.receiver
    assert isinstance(receiver, py.TensorValue)
    name = getattr(function.function, "name", "").rpartition(".")[2]
    dtype = _DTYPES.get(name) or next((d for v in (*args, *kwargs.values()) if (d := _dtype(v))), "")
    if dtype:
        return replace(receiver, dtype=dtype)
    rank = receiver.rank if receiver.rank is not None else None
    moved = {"unsqueeze": 1, "squeeze": -1}.get(name, 0)
    kept = name in (
        "requires_grad_",
        "clone",
        "detach",
        "abs",
        "contiguous",
        "to",
        "softmax",
        "sigmoid",
        "cuda",
        "cpu",
    )
    return replace(receiver, rank=rank + moved if rank is not None and (kept or moved) else None)
