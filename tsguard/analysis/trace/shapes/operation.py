"""A call of an operation as the rules of shapes see it: its arguments as dimensions and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes.dims import Dim, Symbol, number, symbol_dim
from tsguard.analysis.trace.shapes.extents import Extent, known
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.values import Derived, Number, Traced

# Source: torch/csrc/utils/python_arg_parser.cpp (numpy_compatibility_arg_names).
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
"""NumPy's names of arguments, which torch's functions take from Python too."""

# What a rule says of one result, or of each of several, which may be several in turn.
Shaped: TypeAlias = "Extent | Sequence[Shaped] | None"


@dataclass(slots=True)
class Operation:
    """``learns`` where the operation runs for every input: what it asks of them holds then."""

    facts: Facts
    args: Sequence[py.Value]
    kwargs: Mapping[str, py.Value] = field(default_factory=dict)
    learns: bool = False

    def given(self, index: int, *names: str) -> py.Value | None:
        """An argument by its position or one of its names, or NumPy's for it; None where it is left out."""
        if index < len(self.args):
            return self.args[index]
        known = (
            each for name in names for each in (name, NUMPY_NAMES.get(name, name)) if each in self.kwargs
        )
        return next((self.kwargs[name] for name in known), None)

    def shape(self, index: int = 0, *names: str) -> Extent | None:
        """The shape of a tensor among the arguments."""
        value = self.given(index, *(names or ("input", "self", "x")))
        return None if value is None else extent_of(self.facts, value)

    def whole(self, index: int, name: str, default: int | None = None) -> int | None:
        """A whole number that is given, or its default."""
        value = self.given(index, name)
        if value is None:
            return default
        found = self.number(value)
        return found

    def number(self, value: py.Value) -> int | None:
        """The whole number that an argument is for every input."""
        return self.facts.number(dim_of(value))

    def dim(self, value: py.Value | None) -> Dim | None:
        """The dimension that an argument asks for, which may be a tensor of one number."""
        found = element(value) if isinstance(value, Traced) else None if value is None else dim_of(value)
        return None if found is None else self.facts.resolved(found)

    def dims(self, start: int, *names: str) -> tuple[Dim | None, ...] | None:
        """Dimensions given one by one from a position on, or as one list; None where their number is open."""
        values = list(self.args[start:])
        if not values:
            values = [self.kwargs[name] for name in names if name in self.kwargs][:1]
        if len(values) == 1 and isinstance(values[0], (py.ListValue, py.TupleValue)):
            if values[0].open:
                return None
            values = list(values[0].items)
        elif len(values) == 1 and not _is_number(values[0]):
            return None
        return tuple(map(self.dim, values))

    def numbers(self, value: py.Value | None, count: int) -> list[int] | None:
        """Whole numbers, one of which stands for all; None where they are not known."""
        if isinstance(value, (py.ListValue, py.TupleValue)):
            found = [self.number(item) for item in value.items]
            found = found * count if len(found) == 1 else found
        else:
            found = [None if value is None else self.number(value)] * count
        known_ones = [one for one in found if one is not None]
        return known_ones if len(known_ones) == count == len(found) else None

    def flag(self, index: int, name: str, default: bool = False) -> bool | None:
        """A flag that is given, or its default."""
        value = self.given(index, name)
        if value is None:
            return default
        found = py.constant(value)
        return bool(found) if isinstance(found, (bool, int)) else None

    def takes(self, shape: Extent | None, index: int, wanted: Dim | None) -> None:
        """The operation takes only tensors that have so many in one dimension."""
        dim = None if shape is None else shape.at(index)
        if self.learns and dim is not None and wanted is not None:
            self.facts.equal(dim, wanted)

    def takes_rank(self, shape: Extent | None, rank: int) -> Extent | None:
        """The operation takes only tensors of this rank; what the shape is then."""
        if shape is None or shape.lead is None or not self.learns:
            return shape
        return self.facts.takes_rank(shape, rank)


def _is_number(value: py.Value) -> bool:
    """Whether what stands alone is one size, and not a list of them."""
    if isinstance(value, (Number, py.Const, Traced)):
        return True
    if not isinstance(value, py.Unknown) or isinstance(value, Derived):
        return False
    return value.hint == "int" or isinstance(value.default, py.Const)


def element(tensor: Traced) -> Dim | None:
    """The size that a tensor of one number gives; None for one that is made of one size, which is no data."""
    if tensor.of_size:
        return None
    node = tensor.origin.node
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    return symbol_dim(Symbol("data", ("element", tensor.origin.path(), *place)))


def dim_of(value: py.Value) -> Dim | None:
    """The dimension that a number is."""
    if isinstance(value, py.Const):
        return number(value.value) if isinstance(value.value, int) else None
    if isinstance(value, Number):
        is_known = value.dim is None and value.known is not None
        return dim_of(value.known) if is_known and value.known is not None else value.dim
    if isinstance(value, py.Unknown) and not isinstance(value, Derived) and value.hint in ("", "int"):
        return symbol_dim(Symbol("argument", (value.term or value,)))
    return None


def extent_of(facts: Facts, value: py.Value) -> Extent | None:
    """The shape that is known of a value: a tensor's, or that of a plain number."""
    if isinstance(value, Traced):
        return None if value.extent is None else facts.extent(value.extent)
    if isinstance(value, py.TensorValue):
        return None if value.sizes is None else known(value.sizes)
    if isinstance(value, Number) or (isinstance(value, py.Const) and isinstance(value.value, (int, float))):
        return Extent()
    is_number = isinstance(value, py.Unknown) and value.hint in ("int", "float", "bool")
    return Extent() if is_number and not isinstance(value, Traced) else None
