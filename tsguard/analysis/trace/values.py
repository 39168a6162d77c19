"""Values under tracing, beside those of plain Python.

A size is a 0-dim tensor while torch traces, so a ``Number`` stays in the trace through
arithmetic and leaves it only when Python asks for its value.  What Python was told of
an input's other properties (rank, dtype, ...) is ``Fixed`` from the start.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import field
from typing import Literal

from tsguard.analysis.events import Event
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.dims import Dim, Unbacked
from tsguard.analysis.trace.shapes.extents import Extent
from tsguard.analysis.values import (
    BoundMethod,
    DictValue,
    FunctionValue,
    ListValue,
    ModuleValue,
    SetValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.report.records import dataclass, replace

Kind = Literal["size", "data"]
Property = Literal["rank", "dtype", "device", "layout", "structure", "mode", "grad", "tracing"]
Source = Literal["random", "clock", "state"]

NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Debt:
    """A finding that a value owes: reported once something depends on it; ``part`` is in whose forward it is."""

    event: Event
    part: ModuleValue | None


Equation = tuple[Dim, Dim]


@dataclass(frozen=True, slots=True)
class Truths:
    """What a condition tells of dimensions: those that are the same if it is true, or if it is false."""

    if_true: tuple[Equation, ...] = ()
    if_false: tuple[Equation, ...] = ()

    def negated(self) -> Truths:
        return Truths(self.if_false, self.if_true)

    def both(self, other: Truths) -> Truths:
        """Of two conditions that must hold."""
        return Truths(self.if_true + other.if_true)

    def one(self, other: Truths) -> Truths:
        """Of two conditions of which one must hold."""
        return Truths((), self.if_false + other.if_false)


NOTHING = Truths()


@dataclass(eq=False, slots=True)
class Traced(TensorValue):
    """A tensor whose contents no reading of the source tells: made of inputs, of the module's
    parameters and buffers ("state"), or of random numbers.  ``extent`` is what is known of its shape,
    ``of_size`` whether it is made of one size and of nothing else, of which torch.export has the element,
    ``sizes_only`` whether of sizes and constants alone, ``recorded`` whether of what takes gradients."""

    origin: Origin = NOWHERE
    of: Literal["inputs", "state", "random"] = "inputs"
    recast: bool = False
    extent: Extent | None = None
    of_size: bool = False
    sizes_only: bool = False
    recorded: bool = False


@dataclass(eq=False, slots=True)
class Derived(Unknown):
    """A Python value that depends on inputs."""

    origin: Origin = NOWHERE


@dataclass(eq=False, slots=True)
class Number(Derived):
    """A number made of sizes ("size") or of what tensors hold ("data").

    ``live`` while it is a 0-dim tensor that the trace follows.  ``pending`` when Python
    has its value but no finding says so yet: none does until something depends on it.
    ``debt`` is that finding where the place tells more than that Python took the number.
    ``known`` is what it is for every input that eager takes, where it is the same for all,
    ``dim`` the formula of a size, ``tells`` what follows from a condition.  ``lost`` is a comparison
    of the shapes of two tensors of which the walk has lost one.  ``unbacked`` tells whether torch.export has a
    symbol in its place without a value, as what comes from data.  ``mixed`` when the trace makes it of numbers of the
    example and of the call: only what is decided by it while tracing is right.  ``natural`` is a size as a tensor
    gives it, or a sum or product of such, which is never negative.  ``tensor`` tells which tensor it is while tracing,
    where other numbers are the same.  ``rounded`` when the trace calculates it in single precision, of a float that
    has no such, and eager in double precision.
    """

    kind: Kind = "size"
    live: bool = True
    pending: bool = False
    debt: Debt | None = None
    known: Value | None = None
    dim: Dim | None = None
    tells: Truths = NOTHING
    lost: bool = False
    unbacked: Unbacked = ""
    mixed: bool = False
    natural: bool = False
    tensor: Hashable | None = None
    rounded: bool = False


@dataclass(eq=False, slots=True)
class Held(Unknown):
    """A number that no input reaches, for which torch.export has a symbol: taken out of a tensor, or drawn.

    A trace holds it as it holds any other.  ``default`` is what it is, where that is known.
    """


@dataclass(eq=False, slots=True)
class Fixed(Derived):
    """A property of the inputs or of the run that is an ordinary Python value while tracing.

    ``default`` is its value for the example, where known; ``extent`` the shape of which it is the
    rank, ``tells`` what follows from a condition.
    """

    about: Property = "rank"
    extent: Extent | None = None
    tells: Truths = NOTHING


@dataclass(eq=False, slots=True)
class Either(Unknown):
    """What is one of two on ways of which either may be taken: None or something else, or two objects."""

    options: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class Untraced(Derived):
    """A Python value that is another at every call and that no trace can see.

    ``is_share`` for a random number from 0 up to but not 1.
    """

    source: Source = "random"
    is_share: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Change:
    """A size is changed in place by a statement; ``blocks`` are those it stands in of which one alone runs: of
    what, which, and whether the block is left at its end."""

    node: ast.AST
    origin: Origin
    blocks: tuple[tuple[ast.AST, int, bool], ...]


@dataclass(eq=False, slots=True)
class Constant:
    """A tensor of numbers with its dtype ("" where that is not told) and the call that has made it.

    ``renewed`` are the branches within which this call has written all of it anew.  It is the part that a key
    takes of a ``whole``, which has its parts at its ``places``; ``is_turned`` where the order of its memory is another.
    ``changes`` are those in place that this call has made, each with whether it normalises.
    """

    dtype: str
    node: ast.AST | None
    renewed: tuple[int, ...] | None = None
    whole: Constant | None = None
    places: dict[Hashable, Constant] = field(default_factory=dict)
    is_turned: bool = False
    changes: tuple[bool, ...] = ()


@dataclass(eq=False, slots=True)
class Opaque(Derived):
    """What a function that cannot be followed returns when it is given traced values.

    ``is_object`` where that is an instance of a class of torch's that is no tensor.
    """

    is_object: bool = False


@dataclass(eq=False, slots=True)
class Shape(TupleValue):
    """``x.shape``, or a part of it; ``open`` where the rank is not known.

    ``extent`` is the shape of the tensor where the value is the whole of it; ``rest`` where it is all from an
    index on, with that.
    """

    origin: Origin = NOWHERE
    extent: Extent | None = None
    rest: tuple[Extent, int] | None = None


@dataclass(eq=False, slots=True)
class Pieces(ListValue):
    """A list of tensors whose number depends on a size, such as ``x.unbind()``."""

    origin: Origin = NOWHERE


@dataclass(eq=False, slots=True)
class InputList(ListValue):
    """A list or tuple of tensors given as an input: as long as the example's."""

    origin: Origin = NOWHERE


@dataclass(eq=False, slots=True)
class InputRecord(TupleValue):
    """A named tuple given as an input, which torch.jit.trace passes on without the names."""

    name: str = ""


@dataclass(eq=False, slots=True)
class InputDict(DictValue):
    """A dict of tensors given as an input: with the example's keys."""

    origin: Origin = NOWHERE


def unbacked_of(values: Iterable[Value]) -> Unbacked:
    """Whether torch.export has a symbol without a value for what is made of numbers."""
    kinds = {value.unbacked for value in values if isinstance(value, Number)}
    return "data" if "data" in kinds else "maybe" if "maybe" in kinds else ""


def size(origin: Origin, hint: str = "int", dim: Dim | None = None, known: Value | None = None) -> Number:
    """A size, still followed."""
    return Number(None, hint, origin=origin, dim=dim, known=known, natural=True)


def frozen(origin: Origin, kind: Kind, hint: str = "", *, pending: bool = False) -> Number:
    """A number that Python has made a constant of."""
    return Number(None, hint, origin=origin, kind=kind, live=False, pending=pending)


def frozen_again(value: Number, node: ast.AST | None, hint: str = "") -> Number:
    """What is made of a number that Python has made a constant of: it owes what that does."""
    number = frozen(value.origin.then(node), value.kind, hint, pending=value.pending)
    dim = value.dim if hint == value.hint == "int" else None
    return replace(number, debt=value.debt, unbacked=value.unbacked, dim=dim)


def made_of(result: Value, given: Iterable[Value], node: ast.AST | None) -> Value:
    """A result that nothing tells, of what was given: it owes what that does."""
    if type(result) is not Unknown or result.default is not None:
        return result
    for part in parts(given):
        if isinstance(part, Untraced):
            return part
        if isinstance(part, Number) and not part.live:
            return frozen_again(part, node, result.hint)
        if isinstance(part, Number) and part.known is None:
            return frozen(part.origin.then(node), part.kind, result.hint, pending=True)
    return result


def is_live(value: Value) -> bool:
    """Whether the trace follows a value that is another at the next call."""
    if isinstance(value, Traced):
        return value.of != "state"
    return isinstance(value, Number) and value.live and value.known is None


def is_symbolic(value: Value) -> bool:
    """Whether a value is a 0-dim tensor while tracing, though a number in eager."""
    return isinstance(value, Number) and value.live


def held(result: Value, *operands: Value) -> Value:
    """What ordinary Python makes of values: of a held number another one."""
    if type(result) is not Unknown or not any(isinstance(operand, Held) for operand in operands):
        return result
    return Held(None, result.hint, result.default)


def plainly(value: Value) -> Value:
    """A value as Python takes it: a size that is the same for every input is that number."""
    if isinstance(value, Number) and value.known is not None and not value.mixed:
        return value.known
    if isinstance(value, SliceValue):
        return SliceValue(plainly(value.start), plainly(value.stop), plainly(value.step))
    return value


def parts(values: Iterable[Value]) -> list[Value]:
    """Values, and what the lists, tuples and dicts among them hold, each of these once."""
    found = list(values)
    for value in found:
        if isinstance(value, _HOLDING):
            held: list[Value] = []
            _collect(found, held, set())
            return held
    return found


_HOLDING = (ListValue, TupleValue, DictValue, SetValue)


def _collect(values: Iterable[Value], found: list[Value], seen: set[int]) -> None:
    for value in values:
        found.append(value)
        if isinstance(value, _HOLDING) and id(value) not in seen:
            seen.add(id(value))
            _collect(_contents(value), found, seen)


def _contents(value: ListValue | TupleValue | DictValue | SetValue) -> Iterable[Value]:
    """What a container holds, the keys of a dict that are not told included."""
    return (*value.items.values(), *value.untold.values()) if isinstance(value, DictValue) else value.items


def origin_of(values: Iterable[Value]) -> Origin | None:
    """Where the first value that comes from inputs comes from; data before sizes."""
    return origin_among(parts(values))


def origin_among(held: list[Value]) -> Origin | None:
    """``origin_of`` for values with all their parts."""
    found: Origin | None = None
    for value in held:
        if isinstance(value, Traced):
            if value.of == "inputs":
                return value.origin
        elif isinstance(value, Number) and value.kind == "data":
            return value.origin
        if found is None and isinstance(value, (Number, Shape, Pieces, InputList, InputDict, Opaque)):
            found = value.origin
    return found


def depends(value: Value) -> bool:
    """Whether a value, or a part of it, comes from inputs."""
    return origin_of([value]) is not None


def is_followed(value: Value) -> bool:
    """Whether a value, or a part of it, comes from inputs, module state or random numbers."""
    return depends(value) or any(isinstance(part, Traced) for part in parts([value]))


def is_method(value: Value) -> bool:
    """Whether a value is a method for sure: of a tensor, or one that was read; others may be attributes."""
    return isinstance(value, BoundMethod) and isinstance(
        value.receiver if isinstance(value.receiver, TensorValue) else value.function,
        (TensorValue, FunctionValue),
    )
