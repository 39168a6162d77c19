"""What the walks through a forward share: the functions that run, who called them, whose code it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import ClassVar

from tsguard.analysis.ownership import is_own
from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.interpreter import PythonInterpreter
from tsguard.analysis.python.program import Program
from tsguard.analysis.values import ModuleValue, Value
from tsguard.analysis.worlds import World
from tsguard.project.modules import Module
from tsguard.project.targets import Target
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of a module's source."""

    module: Module
    node: ast.AST


@dataclass(eq=False, slots=True)
class Frame:
    """A function that runs.

    ``label`` is its name in messages, ``called`` the call that entered it, ``receiver`` the nn.Module
    that it is run for, ``returned`` what returns gave where other ways through it go on.
    """

    label: str
    module: Module
    called: Place | None = None
    receiver: ModuleValue | None = None
    function: FunctionNode | None = None
    returned: list[Value] = field(default_factory=list)


class Follower(PythonInterpreter):
    """A run of what one target calls, in one world; ``plain`` runs code that is no part of it."""

    is_plain: ClassVar[bool] = False

    def __init__(self, program: Program, world: World, target: Target) -> None:
        super().__init__(program, world)
        self.target = target
        self.plain = PythonInterpreter(program, world)
        self.frames: list[Frame] = []

    @property
    def module(self) -> Module:
        """The Python module whose code runs."""
        return self.frames[-1].module if self.frames else self.target.module

    @property
    def receiver(self) -> ModuleValue | None:
        """The innermost nn.Module that runs."""
        return next((f.receiver for f in reversed(self.frames) if f.receiver is not None), None)

    @property
    def chain(self) -> tuple[str, ...]:
        """The functions that run, the outermost first."""
        return tuple(frame.label for frame in self.frames)

    def is_own(self, module: Module) -> bool:
        """Whether a module belongs to the target's package rather than to a dependency."""
        return is_own(self.target, module)

    def place(self, node: ast.AST | None) -> Place | None:
        """A node of the code that runs; None for what stands in no source."""
        return Place(self.module, node) if node is not None and hasattr(node, "lineno") else None

    def way_in(self) -> Place | None:
        """The innermost call in the target's own code that leads to the code that runs."""
        called = (frame.called for frame in reversed(self.frames) if frame.called is not None)
        return next((place for place in called if self.is_own(place.module)), None)

    @contextmanager
    def within(self, frame: Frame) -> Iterator[Frame]:
        """Run the code of a function."""
        self.frames.append(frame)
        try:
            yield frame
        except Raised as raised:
            raised.module = raised.module or frame.module
            raise
        finally:
            self.frames.pop()
