"""What a class is derived from, and by that what kind of class it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tsguard.analysis import unread
from tsguard.analysis.events import Gap
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import (
    ClassValue,
    External,
    Unknown,
    Value,
)
from tsguard.project.modules import Module
from tsguard.project.targets import MODULE_BASES


def mro(interp: Interpreter, cls: Value) -> tuple[Value, ...]:
    """The method resolution order; classes of torch.nn bring their own bases."""
    if isinstance(cls, ClassValue):
        if cls.cached_mro is None:
            cls.cached_mro = (cls,)
            cls.cached_mro = (cls, *_merged(interp, cls.bases))
        return cls.cached_mro
    if isinstance(cls, External):
        known = interp.program.ancestries.get(cls.name)
        if known is None:
            known = interp.program.ancestries[cls.name] = _ancestry(interp, cls)
        return known
    return (cls,)


def _ancestry(interp: Interpreter, cls: External) -> tuple[Value, ...]:
    entry = interp.tables.modules.get(cls.name)
    if entry is not None:
        return (cls, *(External(interp.tables.canonical(base)) for base in entry["bases"]))
    if cls.name == "torch.nn.Module":
        return (cls,)
    described = interp.tables.entry(cls.name)
    if cls.name in MODULE_BASES or (isinstance(described, dict) and described.get("class") == "module"):
        return (cls, External("torch.nn.Module"))
    return (cls,)


def _merged(interp: Interpreter, bases: tuple[Value, ...]) -> Iterable[Value]:
    """The orders of the bases in one: of a single base, its own."""
    if len(bases) == 1:
        return mro(interp, bases[0])
    return _merge([[*mro(interp, base)] for base in bases] + [list(bases)])


def _merge(sequences: list[list[Value]]) -> list[Value]:
    result: list[Value] = []
    sequences = [list(s) for s in sequences if s]
    while sequences:
        for sequence in sequences:
            head = sequence[0]
            if not any(_contains(other[1:], head) for other in sequences):
                break
        else:
            head = sequences[0][0]
        result.append(head)
        for sequence in sequences:
            if is_same_class(sequence[0], head):
                del sequence[0]
        sequences = [s for s in sequences if s]
    return result


def _contains(classes: list[Value], cls: Value) -> bool:
    return any(is_same_class(other, cls) for other in classes)


def is_same_class(a: Value, b: Value) -> bool:
    return a is b or (isinstance(a, External) and a == b)


def is_module_class(interp: Interpreter, cls: Value) -> bool:
    """Whether a class derives from ``nn.Module``."""
    return "torch.nn.Module" in kin(interp, cls)


_UNKNOWN = "?"
_KINDS = {
    "enum.Enum": frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}),
}


def derives_from(interp: Interpreter, cls: Value, name: str) -> bool:
    """Whether a class is, or derives from, the External of this name."""
    kinds = _KINDS.get(name)
    return name in kin(interp, cls) if kinds is None else not kinds.isdisjoint(kin(interp, cls))


def has_unknown_base(interp: Interpreter, cls: Value) -> bool:
    return _UNKNOWN in kin(interp, cls)


# Classes of torch whose forward only raises, or is not there.
WITHOUT_FORWARD = frozenset(
    {
        "torch.nn.Module",
        "torch.nn.ModuleList",
        "torch.nn.ModuleDict",
        "torch.nn.ParameterList",
        "torch.nn.ParameterDict",
        "torch.jit.ScriptModule",
        "torch.jit._script.ScriptModule",
    }
)


def kin(interp: Interpreter, cls: Value) -> tuple[str, ...]:
    """The names of all External classes that a class derives from, ``?`` for one that is not known."""
    known = interp.program.kin.get(cls)
    if known is None:
        bases = (base for base in mro(interp, cls) if isinstance(base, (External, Unknown)))
        known = tuple([base.name if isinstance(base, External) else _UNKNOWN for base in bases])
        interp.program.kin[cls] = known
    return known


def unread_base(interp: Interpreter, cls: ClassValue) -> Gap:
    """Why a base of a class that has an unknown one is not read."""
    gaps = (base.unread for base in mro(interp, cls) if isinstance(base, Unknown))
    return next(filter(None, gaps), None) or unread.base(cls.module, cls.node)


def not_read(interp: Interpreter, cls: ClassValue) -> Gap | None:
    """What was not read of a class and may change anything: a base, a decorator; None for nothing."""
    if has_unknown_base(interp, cls):
        return unread_base(interp, cls)
    return next(
        (base.unread for base in mro(interp, cls) if isinstance(base, ClassValue) and base.unread), None
    )


def may_lend_forward(name: str) -> bool:
    """Whether a class that is not read may have a forward: only those of torch do."""
    return name.startswith("torch.") and name not in WITHOUT_FORWARD


def without_forward(interp: Interpreter, cls: Value, module: Module, node: ast.AST) -> Gap | None:
    """Why there is no forward to follow in a class that neither defines one nor has one of a table.

    ``module`` and ``node`` are the place of the call, for a class of torch itself.
    """
    if isinstance(cls, ClassValue):
        if has_unknown_base(interp, cls):
            return unread_base(interp, cls)
        module, node = cls.module, cls.node
    if not any(map(may_lend_forward, kin(interp, cls))):
        name = cls.name if isinstance(cls, (ClassValue, External)) else "the module"
        return unread.no_forward(module, node, name.rpartition(".")[2])
    return unread.inherited(module, node, cls.name) if isinstance(cls, ClassValue) else None


MAPPINGS = frozenset(
    {"builtins.dict", "collections.OrderedDict", "collections.UserDict", "typing.Dict", "typing.OrderedDict"}
)


def is_mapping(interp: Interpreter, cls: Value) -> bool:
    """Whether instances of a class hold items as a dict does."""
    return any(isinstance(base, External) and base.name in MAPPINGS for base in mro(interp, cls))
