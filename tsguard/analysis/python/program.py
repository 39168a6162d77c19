"""A project as evaluated so far, shared by all runs over it."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis.python.keeping import Keeper
from tsguard.analysis.python.shared_state import SharedState
from tsguard.analysis.python.structural_keys import StructuralKeys
from tsguard.analysis.values import ClassValue, FunctionValue, Scope, Value
from tsguard.language import tables as torch_tables
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import children

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from tsguard.analysis.observer import Observer
    from tsguard.project import Project
    from tsguard.project.modules import Module
    from tsguard.settings.dynamic import OpenSizes


class Program(Keeper):
    """A project as evaluated so far: the global scopes of its modules.

    Module-level names do not depend on a target's constructor arguments, so they are
    evaluated once and shared by all runs.  ``kept`` is what later stages find
    out about such shared values and nodes; ``structural_keys`` are those of one
    target's modules; ``members`` are those that were found of classes, until one is changed.
    ``shared_state`` is what the code of targets may change of what modules define, ``patches`` what that of one
    puts on classes that are not read, by the names of both.
    ``open_sizes`` are those that torch.export is to leave open, () for the first of each tensor, None where
    nobody asks what it makes of the code.
    """

    def __init__(
        self, project: Project, release: str | None = None, open_sizes: tuple[OpenSizes, ...] | None = ()
    ) -> None:
        super().__init__()
        self.project = project
        self.open_sizes = open_sizes
        self.tables = torch_tables.tables(release) if release else torch_tables.tables()
        self.externals: dict[str, Value] = {}
        self.patches: dict[tuple[str, str], Value] = {}
        self.members: dict[ClassValue, dict[str, tuple[Value, Value] | None]] = {}
        self.kin: dict[Value, tuple[str, ...]] = {}
        self.ancestries: dict[str, tuple[Value, ...]] = {}
        self._scopes: dict[int, Scope] = {}
        self.structural_keys = StructuralKeys()
        self.shared_state = SharedState()
        self.observer: Observer | None = None
        self._generators: dict[FunctionNode, bool] = {}

    def scope(self, module: Module) -> Scope:
        """The global scope of a module."""
        scope = self._scopes.get(id(module))
        if scope is None:
            scope = self._scopes[id(module)] = Scope(module)
        return scope

    def put_back(self) -> None:
        """Make what modules define what it was before the code of a target changed it."""
        self.patches.clear()
        if self.shared_state.put_back():
            self.members.clear()

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Undo what is bound anew meanwhile: who only follows a target leaves it as it was made."""
        with self.shared_state.followed() as is_bound:
            yield
        if is_bound():
            self.members.clear()

    def forget(self, paths: Iterable[Path]) -> Collection[Path]:
        """Forget files that have changed, and what rests on them: which these are."""
        gone = self.project.forget(paths)
        self.members.clear()
        self.kin.clear()
        for module in gone.values():
            self._scopes.pop(id(module), None)
        return gone.keys()

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Judge what is soon replaced: what is found out of shared values meanwhile is not kept."""
        size = len(self._generators)
        kept = {kind: dict(known) for kind, known in self.kept.items() if kind.lasting}
        try:
            yield
        finally:
            for node in list(self._generators)[size:]:
                del self._generators[node]
            self.kept = kept

    def is_generator(self, function: FunctionValue) -> bool:
        """Whether calling a function only makes a generator or coroutine."""
        node = function.node
        known = self._generators.get(node)
        if known is None:
            known = isinstance(node, ast.AsyncFunctionDef) or (function.module.may_yield and _yields(node))
            self._generators[node] = known
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
