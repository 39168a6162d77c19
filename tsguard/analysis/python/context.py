"""What every handler of the interpreter works with: the run's state, and the steps it can ask for.

The handlers, each a function in the file of what it handles, know this base only; the
interpreter binds their tables to it, and is the one place that imports them all.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from tsguard.analysis.budgets import FEW_TURNS
from tsguard.analysis.python.program import Program
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    ClassValue,
    DictValue,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Scope,
    SetValue,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import BudgetExceeded, World
from tsguard.language.tables import Tables
from tsguard.report.records import dataclass
from tsguard.source.functions import FunctionNode

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from tsguard.project.modules import Module


class Raised(Exception):
    """The evaluated code raises; ``name`` is the exception's class where known, ``kin`` what it derives from.

    ``module`` is the one whose function raises at ``node``, where one runs.
    """

    def __init__(self, name: str, node: ast.AST | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.node = node
        self.module: Module | None = None
        self.kin: tuple[str, ...] = ()

    def again(self) -> Raised:
        """The same exception without the frames that led to it, for one who keeps it or raises it anew."""
        twin = Raised(self.name, self.node)
        twin.module, twin.kin = self.module, self.kin
        return twin


@dataclass(frozen=True, slots=True)
class Return:
    """A statement has returned from its function, with this value."""

    value: Value


class _Jump:
    """A statement has left the round of a loop, or the loop."""

    __slots__ = ()


BREAK = _Jump()
CONTINUE = _Jump()
Signal = Return | _Jump | None

CHANGEABLE = (DictValue, ListValue, ObjectValue, SetValue)


class Interpreter(ABC):
    """One run.  ``world`` answers what constructor arguments decide.

    ``active`` counts the calls of each function, as its scope makes it, that are running, ``branches`` how many
    branches are running of which another may be taken instead, ``open_loops`` the loops around of
    which nobody counts the turns and ``outer_loops`` those that what runs has no part in, ``repeats`` whether a loop
    around takes more than FEW_TURNS, ``frames_read`` how often
    the constructor that runs has had its frame looked into, ``guards`` whether a call is running that may raise
    without ending what called it.  ``is_defining`` where it runs what a module defines, for whoever asks.
    ``results`` are those of calls that are run once; ``plain`` runs code of which nothing but values comes.
    ``is_plain`` where nothing but values comes of running a function.
    """

    is_plain: ClassVar[bool] = True

    def __init__(self, program: Program, world: World | None = None) -> None:
        self.program = program
        self.tables: Tables = program.tables
        self.world = world if world is not None else World()
        self.active: dict[tuple[FunctionNode, Scope], int] = {}
        self.depth = 0
        self.open_loops = 0
        self.outer_loops = 0
        self.repeats = False
        self.branches = 0
        self.tries = 0
        self.guards = 0
        self.is_defining = False
        self.frames_read = 0
        self.results: dict[Hashable, Value] = {}
        self.plain: Interpreter = self
        self._limit = self.world.limit

    @property
    def is_lenient(self) -> bool:
        """Whether a statement that raises is passed over: outside any try, where the world is lenient."""
        return self.world.manner == "lenient" and not self.tries

    def spend(self, steps: int = 1) -> None:
        """Count work against the budget.

        Raises:
            BudgetExceeded: nothing is left.
        """
        self.world.spent += steps
        if self.world.spent > self._limit:
            raise BudgetExceeded

    @contextmanager
    def limited(self, steps: int) -> Iterator[None]:
        """Do something that is worth no more steps than these.

        Raises:
            BudgetExceeded: it takes more; ``is_exhausted`` tells whether the whole budget is used up.
        """
        kept, self._limit = self._limit, min(self._limit, self.world.spent + steps)
        try:
            yield
        finally:
            self._limit = kept

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing more may be done."""
        return self.world.spent > self._limit

    @contextmanager
    def looping(self, turns: int, *, is_open: bool) -> Iterator[None]:
        """Run a loop of so many turns; ``is_open`` where there may be more, or fewer."""
        repeats = self.repeats
        self.repeats = repeats or turns > FEW_TURNS
        self.open_loops += is_open
        try:
            yield
        finally:
            self.open_loops -= is_open
            self.repeats = repeats

    @contextmanager
    def apart(self, given: list[Value]) -> Iterator[None]:
        """Run a function that changes nothing which the loops around its call go on with.

        So it is where it is given nothing that can be changed.
        """
        loops = 0 if any(isinstance(value, CHANGEABLE) for value in given) else self.open_loops
        self.open_loops -= loops
        self.outer_loops += loops
        try:
            yield
        finally:
            self.open_loops += loops
            self.outer_loops -= loops

    @contextmanager
    def branching(self, test: Value | None = None) -> Iterator[None]:
        """Run a branch that may not be taken, as ``test`` decides."""
        self.branches += 1
        try:
            yield
        finally:
            self.branches -= 1

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""

    @abstractmethod
    def execute(self, body: list[ast.stmt], scope: Scope) -> Signal:
        """Run statements; the signal tells how they ended."""

    @abstractmethod
    def lookup(self, name: str, scope: Scope) -> Value | None:
        """The value of a name, from the innermost scope outwards to the builtins."""

    @abstractmethod
    def call(
        self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """The result of calling a value."""

    @abstractmethod
    def instantiate(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """What ``type.__call__`` makes of a class."""

    @abstractmethod
    def attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute of a value, or None where it certainly has none."""

    def default(self, function: FunctionValue, name: str, value: Value) -> Value:
        """What a parameter is that a call leaves out; ``value`` is what its default comes to here."""
        return value

    def managed(self, manager: Value, node: ast.AST) -> Value:
        """What a ``with`` statement gives a name for a context manager."""
        return manager if isinstance(manager, ObjectValue) else Unknown(placed(node))

    @abstractmethod
    def set_attribute(self, owner: Value, name: str, value: Value) -> None: ...

    @abstractmethod
    def keep(self, owner: ObjectValue, name: str, value: Value) -> None:
        """``object.__setattr__(owner, name, value)``: as an attribute, whatever its class makes of one."""

    @abstractmethod
    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """``owner[key] = value``."""

    @abstractmethod
    def change(self, tensor: Value) -> None:
        """A tensor is changed in place; who follows a module leaves what it holds as it was."""

    @abstractmethod
    def items(self, value: Value, wanted: int | None) -> tuple[list[Value], bool] | None:
        """The items of an iterable as this run sees it, or None for Python's own way; see ``iterate``."""

    @abstractmethod
    def forward(
        self, module: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        """The result of calling a module; constructors do so only to learn sizes."""

    @abstractmethod
    def module_method(
        self, name: str, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        """The result of a method that a module has from torch.nn."""

    @abstractmethod
    def settled(self, value: Value) -> Value:
        """A value in this world: an unknown that an answer has fixed is that constant."""

    @abstractmethod
    def truth(self, value: Value, node: ast.AST | None = None) -> bool:
        """Whether a value is true; this world decides where only arguments tell."""

    @abstractmethod
    def alone(self) -> Interpreter:
        """Another run over the same program, in a world of its own."""
