"""What the code of a call comes upon: what tells whether another call would come upon the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

from tsguard.analysis.mode.alike import content
from tsguard.analysis.python.context import CHANGEABLE
from tsguard.analysis.python.copies import is_closure
from tsguard.analysis.values import (
    BoundMethod,
    FunctionValue,
    ObjectValue,
    Scope,
    TensorValue,
    Unknown,
    Value,
)
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode


@dataclass(eq=False, slots=True)
class Recording:
    """What the code of a call, and of those within it, comes upon besides what it is given.

    ``functions`` are those that run, the last of them at a ``depth``; ``shared`` the containers that modules and
    classes define, with what they held; ``outside`` other such values.  ``is_whole`` until there is more.
    """

    depth: int
    functions: set[FunctionNode] = field(default_factory=set)
    shared: dict[int, tuple[Value, Hashable]] = field(default_factory=dict)
    outside: dict[int, Value] = field(default_factory=dict)
    is_whole: bool = True

    def enter(self, function: FunctionValue, depth: int) -> None:
        """Note a function that runs."""
        self.functions.add(function.node)
        self.depth = max(self.depth, depth)
        if any(isinstance(default, CHANGEABLE) for default in function.defaults.values()):
            self.is_whole = False  # it may be another one in the next call

    def meet(self, value: Value) -> None:
        """Note a value that was there before."""
        function = value.function if isinstance(value, BoundMethod) else value
        if isinstance(value, CHANGEABLE):
            held = content(value)
            self.shared.setdefault(id(value), (value, held))
            self.is_whole = self.is_whole and held is not None
        elif isinstance(value, (TensorValue, Unknown)):
            self.outside[id(value)] = value
        elif isinstance(function, FunctionValue) and is_closure(function):
            self.is_whole = False  # what it reads may change

    def include(self, other: Recording) -> None:
        """Note what a call within this one came upon."""
        self.depth = max(self.depth, other.depth)
        self.functions |= other.functions
        self.shared = {**other.shared, **self.shared}
        self.outside |= other.outside
        self.is_whole = self.is_whole and other.is_whole

    @property
    def before(self) -> dict[int, Value]:
        """The values that were there before, by their ids."""
        return {**self.outside, **{number: value for number, (value, _) in self.shared.items()}}

    @property
    def is_as_met(self) -> bool:
        """Whether all containers hold what they held."""
        return all(content(value) == held for value, held in self.shared.values())


def is_from_outside(owner: Value, name: str, value: Value) -> bool:
    """Whether an attribute is not what a call has set on an object of its own."""
    return not (isinstance(owner, ObjectValue) and owner.attributes.get(name) is value)


def is_defined_outside(name: str, scope: Scope) -> bool:
    """Whether a name is one of a module, and no local one of a function around."""
    inner = scope
    while inner.parent is not None:
        if name in inner.names and inner.cls is None:
            return False
        inner = inner.parent
    return True
