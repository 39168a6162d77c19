"""What torch takes for a constant of a module, and what for a function that it holds.

Source: torch/jit/_recursive.py (``_get_valid_constant``, ``infer_concrete_type_builder``).
"""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.numpy_numbers import NumpyInt
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.context import Compiler

_NO_CONSTANTS = (
    py.BoundMethod,
    py.ClassValue,
    py.DictValue,
    py.FunctionValue,
    py.Partial,
    py.RangeValue,
    py.SetValue,
    py.SliceValue,
    py.TensorValue,
)
# What instances of classes of the project may derive from and are no constants all the same.
_PLAIN = frozenset({"abc.ABC", "builtins.dict", "builtins.object", "typing.Generic", "typing.Protocol"})


def is_no_constant(compiler: Compiler, value: py.Value) -> bool:
    """Whether ``_get_valid_constant`` (torch/jit/_recursive.py) refuses a value."""
    if isinstance(value, (py.ListValue, py.TupleValue)):
        return any(isinstance(item, py.ModuleValue) or is_no_constant(compiler, item) for item in value.items)
    if isinstance(value, py.External):
        return is_callable_attribute(compiler, value)
    if isinstance(value, py.EnumMember):
        return value.alike is None
    if isinstance(value, py.ObjectValue) and not isinstance(value, py.ModuleValue):
        return _PLAIN.issuperset(ancestry.kin(compiler.interp, value.cls))
    return isinstance(value, _NO_CONSTANTS) or isinstance(py.constant(value), (complex, bytes, NumpyInt))


def is_callable_attribute(compiler: Compiler, value: py.FunctionValue | py.External) -> bool:
    if isinstance(value, py.FunctionValue):
        return True
    entry = compiler.tables.entry(value.name)
    return isinstance(entry, str) or (
        isinstance(entry, dict) and not {"schemas", "dispatch", "fails"}.isdisjoint(entry)
    )
