"""Layers of torch.nn that hold nothing but what their class makes of their arguments.

What torch knows of their type follows from the arguments: it is found once for all targets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tsguard.analysis.values import Const, External, ModuleValue, TensorValue, TupleValue, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tsguard.analysis.python import Interpreter


def layer_key(interp: Interpreter, instance: ModuleValue) -> Hashable | None:
    """What tells a layer from all others in this world; None for a module that holds more than that."""
    if (
        not isinstance(instance.cls, External)
        or instance.children
        or instance.hooks
        or instance.parametrized
        or instance.open
        or len(instance.attributes) > 1  # beside ``training``
    ):
        return None
    given = _constants(interp, instance.arguments.values())
    if given is None:
        return None
    tensors = (*instance.parameters.items(), *instance.buffers.items())
    return (instance.cls, given, *((name, _is_made(value)) for name, value in tensors))


def _is_made(value: Value) -> bool | None:
    """Whether a tensor is one; None for one that is made in the first call."""
    return isinstance(value, TensorValue) and (None if value.lazy else True)


def _constants(interp: Interpreter, values: Iterable[Value]) -> tuple[Hashable, ...] | None:
    found = tuple(
        [
            (type(value.value), value.value)
            if isinstance(value, Const)
            else _constant(interp, interp.settled(value))
            for value in values
        ]
    )
    return None if None in found else found


def _constant(interp: Interpreter, value: Value) -> Hashable | None:
    if isinstance(value, Const):
        return (type(value.value), value.value)
    if type(value) is Unknown:
        default = () if value.default is None else _constant(interp, value.default)
        return None if default is None else (Unknown, default)
    if isinstance(value, TupleValue) and not value.open and value.cls is None:
        items = _constants(interp, value.items)
        return None if items is None else (TupleValue, items)
    return None
