"""Where names live: module globals, class bodies, function frames and their closures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tsguard.project.modules import Module
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.values import ClassValue, FunctionValue, ListValue, Value


@dataclass(eq=False, slots=True, repr=False)
class Scope:
    """One namespace and the one that encloses it.

    The outermost scope of a module has no ``parent``; its names are evaluated from
    the module's bindings when they are first asked for.  The frame of a generator function
    collects what it has ``yielded``.
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
