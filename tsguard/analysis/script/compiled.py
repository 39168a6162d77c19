"""What compilation finds out and keeps: signatures, modules as described, classes as compiled."""

from __future__ import annotations

import ast
from dataclasses import field

from tsguard.analysis import values as py
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Unlike, Value
from tsguard.language import types as t
from tsguard.language.schemas import Argument, Schema
from tsguard.project.modules import Module
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """``inferred`` are the un-annotated parameters, ``none_defaults`` those that default
    to None though their type cannot hold it."""

    arguments: tuple[Argument, ...]
    returns: t.Type | None
    receiver: str = ""
    inferred: frozenset[str] = frozenset()
    none_defaults: frozenset[str] = frozenset()
    positional_only: frozenset[str] = frozenset()
    refusals: tuple[Refusal, ...] = ()


@dataclass(eq=False, slots=True)
class ModuleInfo:
    """What torch knows of a module's type.

    ``attributes`` are first-class values by type, ``constants`` those whose value is
    known, ``functions`` callable attributes, ``failed`` the attributes of no type, with
    the reason; ``interfaces`` are those of submodules that are annotated with one, ``places``
    their annotations, ``unlike`` what attributes are given that is unlike Python's.
    """

    attributes: dict[str, t.Type] = field(default_factory=dict)
    constants: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, py.Value] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, t.ClassType] = field(default_factory=dict)
    places: dict[str, tuple[ast.AST, Module]] = field(default_factory=dict)
    unlike: dict[str, Unlike] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()


@dataclass(eq=False, slots=True)
class ScriptClass:
    """A class as compiled: its attributes by type, its methods by schema."""

    cls: py.ClassValue
    type: t.ClassType
    attributes: dict[str, t.Type] = field(default_factory=dict)
    schemas: dict[str, Schema] = field(default_factory=dict)
    compiling: set[str] = field(default_factory=set)
    initialized: bool = False


@dataclass(eq=False, slots=True)
class ConcreteType:
    """A type of modules, compared by identity; ``is_shared`` where other targets may have it too."""

    is_shared: bool = False
