"""Abstract Python values: what evaluation of source without running it knows.

A value is a constant, a container of values, an object built from a class, something of an unread package
(``External``), or ``Unknown``.  Containers and objects are mutable and shared, as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import field
from pathlib import Path

from mypy_extensions import mypyc_attr

from tsguard.analysis.events import Gap
from tsguard.analysis.terms import Term
from tsguard.project.modules import Module
from tsguard.report.records import dataclass
from tsguard.source import SourceFile
from tsguard.source.functions import FunctionNode


# Compiled, values whose type is this class would be compared by identity, if their own classes had no say.
@mypyc_attr(allow_interpreted_subclasses=True)
class Value:
    """Anything that a Python expression may evaluate to."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Const(Value):
    """None, a bool, a number, a string, bytes or Ellipsis."""

    value: Hashable

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class VersionText(Const):
    """A text that compares as a version does: ``torch.__version__``."""


NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


@dataclass(frozen=True, slots=True)
class Atom(Value):
    """A torch constant: kind "dtype", "device", "layout", "memory_format"."""

    kind: str
    name: str


@dataclass(eq=False, slots=True)
class Unknown(Value):
    """What the source does not tell.

    ``term`` is what it stands for (a parameter, a condition over parameters; None where nothing is to
    tell it by): equal terms mean equal values.  ``hint`` is the name of its Python type where known,
    ``default`` its value when every parameter has its default, ``guess`` the likelier truth of a condition.
    ``unread`` is where and why it was not read, for what could not be found or followed.
    """

    term: Term | None = None
    hint: str = ""
    default: Value | None = None
    unread: Gap | None = None
    annotation: ast.expr | None = None
    scope: Scope | None = None
    guess: bool = True


EITHER = "either"
"""The hint of an unknown that is of one type, or None, on some ways to it, and of another on others."""


@dataclass(eq=False, slots=True)
class Untold(Unknown):
    """Whether something of which nothing at all is told is None; by ``default`` it is not."""


@dataclass(eq=False, slots=True)
class TensorValue(Value):
    """A tensor; ``role`` is "parameter", "buffer" or ""; ``name`` how it was made, ``sizes`` with which.

    ``filling`` is what each of its elements is, where that is known; ``several`` whether it comes from several
    numbers that were given, ``outside`` whether it was made before the forward that is followed, ``grad`` whether
    it was asked to take gradients, None where nobody said so, ``given`` the attributes that it was given.
    """

    role: str = ""
    name: str = ""
    dtype: str = ""
    rank: int | None = None
    lazy: bool = False
    sizes: tuple[int | None, ...] | None = None
    filling: Value | None = None
    several: bool = False
    outside: bool = False
    grad: bool | None = None
    given: frozenset[str] = frozenset()

    @property
    def takes_gradients(self) -> bool:
        """As it was asked to, or as parameters do."""
        return self.role == "parameter" if self.grad is None else self.grad


@dataclass(eq=False, slots=True)
class TupleValue(Value):
    items: tuple[Value, ...]
    open: bool = False
    cls: ClassValue | None = None


@dataclass(eq=False, slots=True)
class ListValue(Value):
    """A list; ``open`` when it may hold any number of values like those in ``items``."""

    items: list[Value]
    open: bool = False


@dataclass(eq=False, slots=True)
class IteratorValue(ListValue):
    """What is left of what is iterated once; of a list, ``source``, what it holds then, past the ``taken``."""

    source: ListValue | None = None
    taken: int = 0


@dataclass(eq=False, slots=True)
class SetValue(Value):
    """A set; of equal constants it holds one."""

    items: list[Value]
    open: bool = False

    def __post_init__(self) -> None:
        self.items = distinct(self.items)


@dataclass(eq=False, slots=True)
class DictValue(Value):
    """A dict by hashable constant keys; ``open`` when it may hold other keys.

    ``registry_of`` is the module that registers what it holds (its ``_buffers``, say), ``names_of`` the one whose names they are.
    ``filled_by`` tells who adds to a table at module level: where it is defined, and what does so there.  ``untold`` are the
    keys that are no constants, by what stands for them; ``factory`` makes what is not there; ``rest`` was not read but is in it.
    """

    items: dict[object, Value]
    open: bool = False
    ordered: bool = False
    registry_of: ModuleValue | None = None
    filled_by: tuple[Module, frozenset[str]] | None = None
    untold: dict[object, Value] = field(default_factory=dict)
    factory: Value | None = None
    names_of: Module | None = None
    rest: Unknown | None = None


@dataclass(eq=False, slots=True)
class RangeValue(Value):
    start: Value
    stop: Value
    step: Value


@dataclass(eq=False, slots=True)
class SliceValue(Value):
    start: Value
    stop: Value
    step: Value


@dataclass(eq=False, slots=True)
class ModuleReference(Value):
    """A Python module of the project or of a read package."""

    module: Module


@dataclass(frozen=True, slots=True)
class External(Value):
    """A name in a package that the tables describe or that is not read."""

    name: str


@dataclass(eq=False, slots=True, repr=False)
class FunctionValue(Value):
    """A function by its source.

    ``marks`` are the decorators that torch.jit heeds, by short name ("ignore",
    "unused", "export", "script", "no_grad", ...).  ``wrapped`` is the function that
    ``functools.wraps`` names in a wrapper: torch compiles its source, with the names
    of the wrapper.  ``behind`` is the module of the outermost wrapper, where that is one of
    a package that is not read, ``unread`` is one of its decorators that is not.  ``attributes``
    are those that were set on it, ``defaults`` those of its parameters' defaults that were evaluated with its ``def``.
    """

    node: FunctionNode
    scope: Scope
    name: str
    owner: ClassValue | None = None
    marks: frozenset[str] = frozenset()
    wrapped: FunctionValue | None = None
    behind: str = ""
    unread: Gap | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    defaults: dict[str, Value] = field(default_factory=dict)

    @property
    def module(self) -> Module:
        return self.scope.module


@dataclass(eq=False, slots=True, repr=False)
class ClassValue(Value):
    """A class by its source; ``bases`` are evaluated, ``members`` its body's names.

    ``overloads`` are the declarations under ``@torch.jit._overload_method``, ``unread`` is a decorator
    that was not read; ``is_whole`` once its body has run.
    """

    node: ast.ClassDef
    scope: Scope
    name: str
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict)
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    overloads: dict[str, list[FunctionValue]] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()
    unread: Gap | None = None
    cached_mro: tuple[Value, ...] | None = None
    is_whole: bool = False

    @property
    def module(self) -> Module:
        return self.scope.module


@dataclass(eq=False, slots=True, repr=False)
class ObjectValue(Value):
    """An instance of a class of the project, or of an External class.

    ``contents`` is what an instance of a class derived from ``dict`` holds.
    """

    cls: Value
    attributes: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    contents: DictValue | None = None


@dataclass(eq=False, slots=True, repr=False)
class ModuleValue(ObjectValue):
    """An ``nn.Module`` instance: its registries, in the order of registration.

    ``arguments`` are the constructor arguments of the torch.nn class in its ancestry, ``initialized`` tells whether
    ``nn.Module.__init__`` ran, ``hooks`` its forward hooks by kind, ``backward_hooks`` how many others it has,
    ``scripted`` whether torch.jit has compiled it, ``traced`` whether by tracing, so that it is no code any more,
    ``place`` the call that made it, ``training`` the mode that ``switched`` put it in while it was made.
    """

    parameters: dict[str, Value] = field(default_factory=dict)
    buffers: dict[str, Value] = field(default_factory=dict)
    children: dict[str, Value] = field(default_factory=dict)
    arguments: dict[str, Value] = field(default_factory=dict)
    initialized: bool = False
    hooks: dict[str, list[Value]] = field(default_factory=dict)
    backward_hooks: int = 0
    parametrized: dict[str, str] = field(default_factory=dict)
    scripted: bool = False
    traced: bool = False
    place: tuple[ast.AST, Module] | None = None
    training: bool | None = None
    switched: ast.AST | None = None


@dataclass(eq=False, slots=True)
class BoundMethod(Value):
    function: Value
    receiver: Value


@dataclass(eq=False, slots=True)
class Partial(Value):
    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(eq=False, slots=True)
class SuperValue(Value):
    cls: ClassValue
    receiver: Value


@dataclass(eq=False, slots=True)
class PropertyValue(Value):
    getter: Value
    setter: Value | None = None
    is_cached: bool = False


@dataclass(eq=False, slots=True)
class StaticMethod(Value):
    function: Value


@dataclass(eq=False, slots=True)
class ClassMethod(Value):
    function: Value


@dataclass(eq=False, slots=True)
class EnumMember(Value):
    """A member of an enumeration; ``alike`` is the number or text that it also is."""

    cls: ClassValue
    name: str
    value: Value
    alike: Const | None = None


def is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def plain(value: Value) -> Value:
    """A value as operators take it: a member that is also a number or text is that."""
    return value.alike if isinstance(value, EnumMember) and value.alike is not None else value


def mapped(value: Value) -> Value:
    """The items of an instance of a class that derives from ``dict``; any other value as it is."""
    held = value.contents if isinstance(value, ObjectValue) else None
    return value if held is None else held


def distinct(items: list[Value]) -> list[Value]:
    """The items of which no earlier one is an equal constant."""
    kept: dict[object, Value] = {}
    for item in items:
        kept.setdefault(item.value if isinstance(item, Const) else item, item)
    return list(kept.values())


def constant(value: Value) -> object:
    """The Python constant that a value is; ``Unknown`` itself where it is none."""
    value = plain(value)
    return value.value if isinstance(value, Const) else value


def slice_of(key: SliceValue) -> slice | None:
    """The slice that a subscript is; None where a bound is no constant number, or the step zero."""
    bounds = [constant(part) for part in (key.start, key.stop, key.step)]
    numbers = [bound for bound in bounds if bound is None or isinstance(bound, int)]
    return slice(*numbers) if len(numbers) == len(bounds) and numbers[2] != 0 else None


def by_name(items: Mapping[str, Value], is_open: bool = False) -> DictValue:
    """A dict whose keys are names, such as ``vars(object)``."""
    return DictValue(dict(items.items()), is_open)


@dataclass(eq=False, slots=True, repr=False)
class Scope:
    """One namespace and the one that encloses it.

    The outermost scope of a module has no ``parent``; its names are evaluated from the module's bindings
    when they are first asked for.  The frame of a generator function collects what it has ``yielded``.
    """

    module: Module
    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    function: FunctionValue | None = None
    cls: ClassValue | None = None
    yielded: ListValue | None = None

    @property
    def is_global(self) -> bool:
        return self.parent is None


# The scope of classes that a call makes: no file defines them.
SOURCELESS = Scope(Module("", SourceFile("", ""), Path()))
