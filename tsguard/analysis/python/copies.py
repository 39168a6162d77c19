"""Deep copies of what constructors make: ``copy.deepcopy``, and parts made again alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tsguard.analysis.values import (
    BoundMethod,
    DictValue,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Partial,
    SetValue,
    TensorValue,
    TupleValue,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from tsguard.analysis.values import Scope

    K = TypeVar("K")


def copy(value: Value) -> Value:
    """A deep copy of tensors, containers, objects and modules; what cannot change is shared."""
    return Copying().copy(value)


def shallow(value: Value) -> Value:
    """``copy.copy``: a container or object of its own with the same parts; what a module registers stays shared."""
    if isinstance(value, (ListValue, SetValue)):
        return replace(value, items=list(value.items))
    if isinstance(value, DictValue):
        return replace(value, items=dict(value.items), untold=dict(value.untold))
    if isinstance(value, ObjectValue):
        return replace(value, attributes=dict(value.attributes))
    return copy(value) if isinstance(value, TensorValue) else value


class Copying:
    """One deep copy: what is one object within the original is one within the copy.

    ``modules`` counts those copied.  ``is_whole`` is False where a function in the original
    refers to variables that may lead back to it: Python shares functions, and so does the copy.
    ``is_exact`` is False where a dict in the original was filled by what is not known, which the copy does not tell.
    """

    def __init__(self) -> None:
        self.modules = 0
        self.is_whole = True
        self.is_exact = True
        self._twins: dict[int, Value] = {}

    @property
    def values(self) -> int:
        """How many values were copied."""
        return len(self._twins)

    def is_any(self, holds: Callable[[int], bool]) -> bool:
        """Whether something is true of the identity of a value that was copied."""
        return any(map(holds, self._twins))

    def copy(self, value: Value) -> Value:
        handler = _COPIED.get(type(value))
        if handler is None:
            return value
        twin = self._twins.get(id(value))
        return twin if twin is not None else handler(self, value)

    def _named(self, values: Mapping[K, Value]) -> dict[K, Value]:
        # Most of what is held cannot change: that is not worth a call each.
        return {name: self.copy(value) if type(value) in _COPIED else value for name, value in values.items()}

    def _module(self, value: Value) -> Value:
        assert isinstance(value, ModuleValue)
        self.modules += 1
        twin = self._twins[id(value)] = ModuleValue(value.cls)
        twin.open, twin.initialized = value.open, value.initialized
        twin.backward_hooks = value.backward_hooks
        twin.scripted, twin.traced = value.scripted, value.traced
        twin.place, twin.training, twin.switched = value.place, value.training, value.switched
        twin.attributes = self._named(value.attributes)
        # Most modules are layers, which hold little: a new one has empty registries of its own.
        if value.parameters:
            twin.parameters = self._named(value.parameters)
        if value.buffers:
            twin.buffers = self._named(value.buffers)
        if value.children:
            twin.children = self._named(value.children)
        if value.arguments:
            twin.arguments = self._named(value.arguments)
        if value.parametrized:
            twin.parametrized = dict(value.parametrized)
        if value.hooks:
            twin.hooks = {kind: [self.copy(hook) for hook in hooks] for kind, hooks in value.hooks.items()}
        return twin

    def _object(self, value: Value) -> Value:
        assert isinstance(value, ObjectValue)
        twin = self._twins[id(value)] = ObjectValue(value.cls, open=value.open)
        twin.attributes = self._named(value.attributes)
        contents = None if value.contents is None else self._dict(value.contents)
        twin.contents = contents if isinstance(contents, DictValue) else None
        return twin

    def _list(self, value: Value) -> Value:
        assert isinstance(value, (ListValue, SetValue))
        twin = self._twins[id(value)] = type(value)([], value.open)
        twin.items = [self.copy(item) for item in value.items]
        return twin

    def _dict(self, value: Value) -> Value:
        assert isinstance(value, DictValue)
        twin = self._twins[id(value)] = DictValue({}, value.open, value.ordered, factory=value.factory)
        twin.items, twin.untold = self._named(value.items), value.untold
        is_plain = not (value.registry_of or value.filled_by or value.untold or value.names_of or value.rest)
        self.is_exact = self.is_exact and is_plain
        return twin

    def _tuple(self, value: Value) -> Value:
        assert isinstance(value, TupleValue)
        items = tuple(self.copy(item) for item in value.items)
        twin = self._twins[id(value)] = TupleValue(items, value.open, value.cls)
        return twin

    def _tensor(self, value: Value) -> Value:
        assert isinstance(value, TensorValue)
        twin = TensorValue(
            value.role, value.name, value.dtype, value.rank, value.lazy, value.sizes, value.filling
        )
        twin.grad, twin.given = value.grad, value.given
        self._twins[id(value)] = twin
        return twin

    def _bound(self, value: Value) -> Value:
        assert isinstance(value, BoundMethod)
        twin = self._twins[id(value)] = BoundMethod(self.copy(value.function), self.copy(value.receiver))
        return twin

    def _partial(self, value: Value) -> Value:
        assert isinstance(value, Partial)
        args = tuple(self.copy(arg) for arg in value.args)
        twin = self._twins[id(value)] = Partial(self.copy(value.function), args, self._named(value.kwargs))
        return twin

    def _function(self, value: Value) -> Value:
        assert isinstance(value, FunctionValue)
        self.is_whole = self.is_whole and not is_closure(value)
        return value


def is_closure(function: FunctionValue) -> bool:
    """Whether a function was defined while another one ran."""
    runner: Scope | None = function.scope
    while runner is not None:
        if runner.function is not None:
            return True
        runner = runner.parent
    return False


_COPIED = {
    ModuleValue: Copying._module,
    ObjectValue: Copying._object,
    ListValue: Copying._list,
    SetValue: Copying._list,
    DictValue: Copying._dict,
    TupleValue: Copying._tuple,
    TensorValue: Copying._tensor,
    BoundMethod: Copying._bound,
    Partial: Copying._partial,
    FunctionValue: Copying._function,
}
