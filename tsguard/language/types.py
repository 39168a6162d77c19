"""TorchScript's types.

Named and printed as torch prints them.  ``UNKNOWN`` is ours: the type of what the
source does not tell.  It is compatible with everything, so that no finding can rest
on it.  Source: aten/src/ATen/core/jit_type.h.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from mypy_extensions import mypyc_attr

from tsguard.report.records import dataclass

_MOST_PARTS = 5_000


# Compiled, values whose type is this class would be compared by identity, if their own classes had no say.
@mypyc_attr(allow_interpreted_subclasses=True)
class Type:
    """A TorchScript type; compared by structure."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Simple(Type):
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


TENSOR = Simple("Tensor")
INT = Simple("int")
FLOAT = Simple("float")
BOOL = Simple("bool")
COMPLEX = Simple("complex")
STR = Simple("str")
NUMBER = Simple("number")
NONE = Simple("None")
ANY = Simple("Any")
DEVICE = Simple("device")
GENERATOR = Simple("Generator")
STREAM = Simple("Stream")
STORAGE = Simple("Storage")
ANY_LIST = Simple("list")
ANY_TUPLE = Simple("tuple")
ANY_DICT = Simple("dict")
ANY_ENUM = Simple("Enum")
UNKNOWN = Simple("...")


@dataclass(frozen=True, slots=True)
class ListType(Type):
    element: Type

    def __str__(self) -> str:
        return f"List[{self.element}]"


@dataclass(frozen=True, slots=True)
class DictType(Type):
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """A tuple; a NamedTuple when it has field names (``defaults`` counts the last ones)."""

    elements: tuple[Type, ...]
    fields: tuple[str, ...] = ()
    name: str = ""
    defaults: int = 0

    def __str__(self) -> str:
        if self.name:
            return self.name
        return f"Tuple[{', '.join(map(str, self.elements)) or '()'}]"


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    element: Type

    def __str__(self) -> str:
        return f"Optional[{self.element}]"


@dataclass(frozen=True, slots=True)
class UnionType(Type):
    """Made by ``union``, which flattens and merges its members."""

    members: tuple[Type, ...]

    def __str__(self) -> str:
        return f"Union[{', '.join(map(str, self.members))}]"


@dataclass(frozen=True, slots=True)
class FutureType(Type):
    element: Type

    def __str__(self) -> str:
        return f"Future[{self.element}]"


@dataclass(frozen=True, slots=True)
class VarType(Type):
    """A type variable of an operator schema."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class EnumType(Type):
    name: str
    key: Hashable
    value: Type

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ClassType(Type):
    """A script class or interface; ``key`` is the analysis's own object for it."""

    name: str
    key: Hashable
    interface: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ModuleType(Type):
    """The type of an ``nn.Module`` instance; ``key`` tells instances of one type apart."""

    name: str
    key: Hashable

    def __str__(self) -> str:
        return self.name


def has_variables(type_: Type) -> bool:
    """Whether a schema's type contains type variables."""
    held = parts(type_)
    return isinstance(type_, VarType) or (bool(held) and any(map(has_variables, held)))


def parts(type_: Type) -> tuple[Type, ...]:
    """The types that a type is made of."""
    if isinstance(type_, (ListType, OptionalType, FutureType)):
        return (type_.element,)
    if isinstance(type_, DictType):
        return (type_.key, type_.value)
    if isinstance(type_, TupleType):
        return type_.elements
    if isinstance(type_, UnionType):
        return type_.members
    return ()


def with_parts(type_: Type, new: tuple[Type, ...]) -> Type:
    """The same kind of type made of other types."""
    if isinstance(type_, ListType):
        return ListType(new[0])
    if isinstance(type_, OptionalType):
        return OptionalType(new[0])
    if isinstance(type_, FutureType):
        return FutureType(new[0])
    if isinstance(type_, DictType):
        return DictType(*new)
    if isinstance(type_, TupleType):
        return TupleType(new, type_.fields, type_.name, type_.defaults)
    if isinstance(type_, UnionType):
        return UnionType(new)
    return type_


def mentions_unknown(type_: Type) -> bool:
    """Whether the source leaves a part of this type open."""
    if type_ is UNKNOWN:
        return True
    held = parts(type_)
    return bool(held) and any(map(mentions_unknown, held))


def is_large(type_: Type) -> bool:
    """Whether a type has more parts than anybody writes: tuples of tuples of themselves."""
    left, pending = _MOST_PARTS, [type_]
    while pending and left:
        pending.extend(parts(pending.pop()))
        left -= 1
    return bool(pending)


# Source: torch/nn/utils/rnn.py.
PACKED_SEQUENCE = TupleType(
    (TENSOR, TENSOR, OptionalType(TENSOR), OptionalType(TENSOR)),
    ("data", "batch_sizes", "sorted_indices", "unsorted_indices"),
    "PackedSequence",
)


def tuple_of(elements: Iterable[Type]) -> TupleType:
    return TupleType(tuple(elements))
