"""The walk: the Python interpreter in both modes at once, its own handlers first."""

from __future__ import annotations

import ast
from copy import copy
from typing import TYPE_CHECKING, TypeGuard

from tsguard.analysis import unread
from tsguard.analysis.events import Gap, text_of
from tsguard.analysis.mode import (
    calls,
    expressions,
    keeping,
    modules,
    overrides,
    paths,
    recording,
    state,
    switching,
    uses,
)
from tsguard.analysis.mode.choices import ByMode, differs, differs_within, in_mode
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import Program, Raised, names
from tsguard.analysis.python.context import Signal
from tsguard.analysis.python.following import Place
from tsguard.analysis.python.methods import CHANGING
from tsguard.analysis.values import (
    BoundMethod,
    DictValue,
    External,
    ListValue,
    ModuleValue,
    ObjectValue,
    SetValue,
    TensorValue,
    Unknown,
    Value,
)
from tsguard.analysis.worlds import BudgetExceeded, World

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope
    from tsguard.project import Target


class ModeWalk(ModeInterpreter):
    """A walk with the handlers bound to what it meets."""

    def follow(self, subject: Value) -> None:
        """Follow a module, or a function, and leave it as it was."""
        try:
            if isinstance(subject, ModuleValue):
                switching.of(self, subject)
                overrides.check(self)
                overrides.report_thawed(self, subject)
            modules.run_target(self, subject)
        except Raised:
            pass
        except (BudgetExceeded, RecursionError):
            self.gap(self.target.node, "it is too large to be analysed completely")
        finally:
            state.drop_unread_counters(self)
            keeping.drop_unread(self)
            self._restore()

    def change(self, tensor: Value) -> None:
        """Its elements are no matter of the mode."""

    def _restore(self) -> None:
        for owner, before in self._changed.items():
            for registry, kept in zip(_registries(owner), before, strict=True):
                registry.clear()
                registry.update(kept)
        for container, held, is_open in self._containers.values():
            container.items.clear()
            if isinstance(container, DictValue):
                container.items.update(held)
            else:
                container.items.extend(held)
            container.open = is_open
        self.memory.structural_keys.forget()

    def ways(self, module: ModuleValue, node: ast.AST | None) -> tuple[Place | None, Place | None]:
        """The places to which what is found in a module goes, unless it is found at a place of its own."""
        return self.editable(uses.places(self, module, node)), self.way_in()

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        world = self.world
        world.spent += 1
        if world.spent > self._limit:
            raise BudgetExceeded
        handler = expressions.HANDLERS.get(type(node))
        return handler(self, node, scope) if handler is not None else Unknown()

    def execute(self, body: list[ast.stmt], scope: Scope) -> Signal:
        return super().execute(body, scope) if scope.function is None else paths.execute(self, body, scope)

    def lookup(self, name: str, scope: Scope) -> Value | None:
        # What a module's globals are does not depend on how a forward is followed.
        value = scope.names.get(name)
        if value is not None and scope.parent is not None:
            return value
        value = names.lookup(self.plain, name, scope)
        if self.recording is not None and value is not None and recording.is_defined_outside(name, scope):
            self.recording.meet(value)
        return value

    def call(
        self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        if _is_changing(function):
            self._keep(function.receiver)
        answer = calls.call(self, self.settled(function), args, kwargs, node)
        return super().call(function, args, kwargs, node) if answer is None else answer

    def too_deep(self, gap: Gap | None) -> Value:
        self.unread(gap or unread.depth(self.module, self.target.node))
        return super().too_deep(gap)

    def forward(
        self, module: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        return modules.call(self, module, args, kwargs, node)

    def module_method(
        self, name: str, owner: ModuleValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
    ) -> Value:
        answer = modules.method(self, name, owner, args, kwargs, node)
        if answer is not None:
            return answer
        self._remember(owner)  # the method may register something
        return super().module_method(name, owner, args, kwargs, node)

    def attribute(self, owner: Value, name: str) -> Value | None:
        self.read.add(name)
        answer = state.attribute(self, self.settled(owner), name)
        value = super().attribute(owner, name) if answer is None else answer
        if self.recording is not None and value is not None and recording.is_from_outside(owner, name, value):
            self.recording.meet(value)
        return value

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        if name == "training" and isinstance(owner, ModuleValue):
            self.changes += 1
            switching.store(self, owner, value)
            return
        if isinstance(owner, ObjectValue):
            self.changes += 1
            self.memory.structural_keys.forget()
            self._remember(owner)
        super().set_attribute(owner, name, value)
        if isinstance(value, ModuleValue):
            self.tree.register()

    def keep(self, owner: ObjectValue, name: str, value: Value) -> None:
        self.changes += 1
        self.memory.structural_keys.forget()
        self._remember(owner)
        super().keep(owner, name, value)

    def _remember(self, owner: ObjectValue) -> None:
        """Keep what an object holds, to put it back in the end."""
        self._changed.setdefault(owner, [dict(names) for names in _registries(owner)])

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        self._keep(owner)
        by_mode = differs_within([self.settled(key), self.settled(value)])
        if by_mode and isinstance(owner, TensorValue) and self.statement is not None:
            self.report("training-branch", self.statement, test=text_of(self.statement))
        super().set_item(owner, key, value)

    def _keep(self, container: Value) -> None:
        """Keep what a container holds, to put it back in the end."""
        if isinstance(container, (DictValue, ListValue, SetValue)) and id(container) not in self._containers:
            self._containers[id(container)] = (container, copy(container.items), container.open)

    def items(self, value: Value, wanted: int | None) -> tuple[list[Value], bool] | None:
        if isinstance(value, TensorValue):
            return [TensorValue()] * (1 if wanted is None else wanted), wanted is None
        if differs([value]) and self.statement is not None and not isinstance(self.statement, ast.For):
            self.report("training-branch", self.statement, test=text_of(self.statement))
        return None

    def truth(self, value: Value, node: ast.AST | None = None) -> bool:
        train, other = paths.truths(self, value)
        if train != other and self.mode == "both" and node is not None and differs([value]):
            self.report("training-branch", node, test=text_of(node))
        answer = train if self.mode != "eval" else other
        return True if answer is None else answer

    def settled(self, value: Value) -> Value:
        if not isinstance(value, Unknown):
            return value
        if not isinstance(value, ByMode):
            return super().settled(value)
        self.is_met = self.is_met or not value.known
        return in_mode(value, self.mode)


def _registries(owner: ObjectValue) -> list[dict[str, Value]]:
    if isinstance(owner, ModuleValue):
        return [owner.attributes, owner.parameters, owner.buffers, owner.children]
    return [owner.attributes]


def _is_changing(function: Value) -> TypeGuard[BoundMethod]:
    """Whether a method changes what it is called on."""
    if not isinstance(function, BoundMethod) or not isinstance(function.function, External):
        return False
    return function.function.name.rpartition(".")[2] in CHANGING


def follow(program: Program, target: Target, world: World, subject: Value) -> ModeWalk:
    """Follow what a target's constructor made in a world; it is left as it was."""
    walk = ModeWalk(program, target, world)
    walk.follow(subject)
    return walk
