"""The interpreter: one run over abstract values, in one world, within a budget.

The work is in the sibling files, each a table from what is met (a node, a name) to
the function that handles it; here is what they share.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis.python import (
    attributes,
    calls,
    containers,
    expressions,
    library,
    names,
    operations,
    statements,
)
from tsguard.analysis.python.likeness import Likenesses
from tsguard.analysis.scopes import Scope
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    BoundMethod,
    FunctionNode,
    FunctionValue,
    ModuleValue,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import Exhausted, World
from tsguard.language.tables import Tables, tables
from tsguard.source.walking import children

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator
    from pathlib import Path
    from typing import Any

    from tsguard.analysis.events import Gap
    from tsguard.analysis.observer import Observer
    from tsguard.analysis.python.constructions import Pattern
    from tsguard.project import Project
    from tsguard.project.modules import Module

_BUDGET = 200_000
_DEPTH = 48


class Raised(Exception):
    """The evaluated code raises; ``name`` is the exception's class where known."""

    def __init__(self, name: str, node: ast.AST | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.node = node


class Program:
    """A project as evaluated so far: the global scopes of its modules.

    Module-level names do not depend on a target's constructor arguments, so they are
    evaluated once and shared by all runs.  ``memory`` is for later stages to keep what
    they find out about such shared values and nodes; ``likenesses`` are those of one
    target's modules.
    """

    def __init__(self, project: Project, release: str | None = None) -> None:
        self.project = project
        self.tables: Tables = tables(release) if release else tables()
        self.memory: dict[object, object] = {}
        self.externals: dict[str, Value] = {}
        self.ancestries: dict[str, tuple[Value, ...]] = {}
        self._scopes: dict[int, Scope] = {}
        self.constructions: dict[Hashable, list[Pattern]] = {}
        self.likenesses = Likenesses()
        self.observer: Observer | None = None
        self.black_boxes: set[int] = set()
        self._generators: dict[FunctionNode, bool] = {}

    def scope(self, module: Module) -> Scope:
        """The global scope of a module."""
        scope = self._scopes.get(id(module))
        if scope is None:
            scope = self._scopes[id(module)] = Scope(module)
        return scope

    def forget(self, paths: Iterable[Path]) -> Collection[Path]:
        """Forget files that have changed, and what rests on them: which these are."""
        gone = self.project.forget(paths)
        for module in gone.values():
            self._scopes.pop(id(module), None)
        return gone.keys()

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Judge what is soon replaced: what is found out of shared values meanwhile is not kept."""
        stores: tuple[dict[Any, Any], ...] = (self.memory, self.constructions, self._generators)
        sizes = [len(store) for store in stores]
        boxes = set(self.black_boxes)
        grown = {key: set(known) for key, known in self.memory.items() if isinstance(known, set)}
        try:
            yield
        finally:
            for store, size in zip(stores, sizes, strict=True):
                for key in list(store)[size:]:
                    del store[key]
            self.memory.update(grown)
            self.memory.pop("built", None)
            self.black_boxes = boxes

    def is_generator(self, node: FunctionNode) -> bool:
        """Whether calling a function only makes a generator or coroutine."""
        known = self._generators.get(node)
        if known is None:
            known = self._generators[node] = isinstance(node, ast.AsyncFunctionDef) or _yields(node)
        return known


def _yields(node: FunctionNode) -> bool:
    stack: list[ast.AST] = [] if isinstance(node, ast.Lambda) else list(node.body)
    while stack:
        current = stack.pop()
        if isinstance(current, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(children(current))
    return False


def _too_deep(function: Value, node: ast.AST | None) -> Gap | None:
    if isinstance(function, BoundMethod):
        return _too_deep(function.function, node)
    return unread.depth(function.module, function.node) if isinstance(function, FunctionValue) else None


class Interpreter:
    """One run.  ``world`` answers what constructor arguments decide.

    ``active`` counts the calls of each function that are running, ``branches`` how many
    branches are running of which another may be taken instead, ``frames_read`` how often
    the constructor that runs has had its frame looked into.
    """

    def __init__(self, program: Program, world: World | None = None) -> None:
        self.program = program
        self.world = world if world is not None else World()
        self.active: dict[FunctionNode, int] = {}
        self.depth = 0
        self.open_loops = 0
        self.branches = 0
        self.tries = 0
        self.frames_read = 0
        self._limit = _BUDGET

    @property
    def tables(self) -> Tables:
        return self.program.tables

    @property
    def is_lenient(self) -> bool:
        """Whether a statement that raises is passed over: outside any try, where the world is lenient."""
        return self.world.lenient and not self.tries

    def spend(self, steps: int = 1) -> None:
        """Count work against the budget.

        Raises:
            Exhausted: nothing is left.
        """
        self.world.spent += steps
        if self.world.spent > self._limit:
            raise Exhausted

    @contextmanager
    def limited(self, steps: int) -> Iterator[None]:
        """Do something that is worth no more steps than these.

        Raises:
            Exhausted: it takes more; ``is_exhausted`` tells whether the whole budget is used up.
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

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        world = self.world
        world.spent += 1
        if world.spent > self._limit:
            raise Exhausted
        handler = expressions.HANDLERS.get(type(node))
        if handler is None:
            return Unknown(placed(node))
        return handler(self, node, scope)

    def execute(self, body: list[ast.stmt], scope: Scope) -> statements.Signal:
        """Run statements; the signal tells how they ended."""
        return statements.execute(self, body, scope)

    def lookup(self, name: str, scope: Scope) -> Value | None:
        """The value of a name, from the innermost scope outwards to the builtins."""
        return names.lookup(self, name, scope)

    def call(
        self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """The result of calling a value."""
        self.depth += 1
        try:
            if self.depth > _DEPTH:
                return Unknown(None, unread=_too_deep(function, node))
            return calls.call(self, function, args, kwargs, node)
        finally:
            self.depth -= 1

    def attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute of a value, or None where it certainly has none."""
        return attributes.get(self, owner, name)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        attributes.set_(self, owner, name, value)

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """``owner[key] = value``."""
        containers.set_item(self, owner, key, value)

    def items(self, value: Value, wanted: int | None) -> tuple[list[Value], bool] | None:
        """The items of an iterable as this run sees it, or None for Python's own way; see ``iterate``."""
        return None

    def forward(
        self, module: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        """The result of calling a module; constructors do so only to learn sizes."""
        return Unknown()

    def module_method(
        self, name: str, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        """The result of a method that a module has from torch.nn."""
        if name.endswith((".train", ".eval")):
            return library.switch(owner, name.endswith(".train"), [*args, *kwargs.values()], node)
        return library.method(self, name, owner, args, kwargs)

    @contextmanager
    def branching(self) -> Iterator[None]:
        """Run a branch that may not be taken."""
        self.branches += 1
        try:
            yield
        finally:
            self.branches -= 1

    def settled(self, value: Value) -> Value:
        """A value in this world: an unknown that an answer has fixed is that constant."""
        if isinstance(value, Unknown) and value.term is not None:
            fixed = self.world.known(value.term)
            if fixed is not None:
                return operations.value_of(fixed)
        return value

    def truth(self, value: Value, node: ast.AST | None = None) -> bool:
        """Whether a value is true; this world decides where only arguments tell."""
        return operations.truth(self, value, node)

    def raise_(self, name: str, node: ast.AST | None = None) -> Raised:
        return Raised(name, node)
