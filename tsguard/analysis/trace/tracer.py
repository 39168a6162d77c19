"""The tracer: the Python interpreter with inputs of unknown content, its own handlers first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export import attributes as exported
from tsguard.analysis.export import data, indices, state
from tsguard.analysis.python import classes, names
from tsguard.analysis.python import statements as python_statements
from tsguard.analysis.python.context import Signal
from tsguard.analysis.trace import (
    assigned_items,
    attributes,
    calls,
    conditions,
    expressions,
    items,
    iteration,
    kept_constants,
    listed_shapes,
    operators,
    sizes_in_place,
    statements,
    unrecorded,
    uses,
    writing,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import is_of_sizes
from tsguard.analysis.trace.values import (
    Derived,
    Number,
    Shape,
    Traced,
    is_live,
    is_symbolic,
    made_of,
    parts,
    plainly,
)

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope


# What these tell of a container does not rest on the values in it.
_OF_STRUCTURE = frozenset({"builtins.len", "builtins.isinstance", "builtins.type", "builtins.callable"})


class ForwardTracer(Tracer):
    """A tracer with the handlers bound to what it meets."""

    def evaluate(self, node: ast.expr, scope: Scope) -> py.Value:
        world = self.world
        world.spent += 1
        if world.spent > self._limit or world.spent > self.limit:
            self.spend(0)
        handler = expressions.HANDLERS.get(type(node))
        value = py.Unknown() if handler is None else handler(self, node, scope)
        if self.overwritten and isinstance(value, Number):
            sizes_in_place.read(self, [value])
        if self.program.observer is not None and not self.is_export:
            self.program.observer.traced(self.module, node, value)
        return value

    def execute(self, body: list[ast.stmt], scope: Scope) -> Signal:
        outer, following = self.statement, self.following
        self.enclosing.append(outer)
        try:
            world = self.world
            for position, node in enumerate(body, 1):
                world.spent += 1
                if world.spent > self._limit or world.spent > self.limit:
                    self.spend(0)
                self.statement, self.following = node, body[position:]
                handler = statements.HANDLERS.get(type(node)) or python_statements.HANDLERS.get(type(node))
                signal = handler(self, node, scope) if handler is not None else None
                if signal is not None:
                    return signal
        finally:
            self.statement, self.following = outer, following
            self.enclosing.pop()
        return None

    def lookup(self, name: str, scope: Scope) -> py.Value | None:
        value = scope.names.get(name)
        if value is None:
            value = names.lookup(self.plain, name, scope)
        if isinstance(value, py.DictValue) and not self.is_own(self.module):
            found = self.memos.as_seen(name, value, scope)
            if found is not value:
                if self.state.shares(found):
                    self.state.look_up(self, name, found, scope)
                return found
        if isinstance(value, (py.ListValue, py.DictValue, py.SetValue)):
            self.state.look_up(self, name, value, scope)
        elif isinstance(value, py.TensorValue) and not isinstance(value, Traced):
            data.looked_up(name, value, scope)
            return self.now(value) if self.written else value
        return value

    def call(
        self,
        function: py.Value,
        args: list[py.Value],
        kwargs: dict[str, py.Value],
        node: ast.AST | None = None,
    ) -> py.Value:
        self.node = node if node is not None else self.node
        if self.overwritten and isinstance(function, py.External):
            sizes_in_place.read(self, [*args, *kwargs.values()])
        answer = calls.call(self, self.settled(function), args, kwargs, node)
        if answer is None:
            answer = self._call_plainly(function, args, kwargs, node)
        if isinstance(function, py.External):
            kept_constants.called(self, function.name, args, kwargs, answer, node)
        return answer

    def _call_plainly(
        self, function: py.Value, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST | None
    ) -> py.Value:
        """The result of a call that tracing does not change."""
        if isinstance(function, (py.External, py.BoundMethod)):
            args, kwargs = (
                [plainly(arg) for arg in args],
                {key: plainly(value) for key, value in kwargs.items()},
            )
        result = super().call(function, args, kwargs, node)
        if isinstance(function, py.External) and isinstance(result, py.ListValue) and result.open:
            self._count(args, node)
        if isinstance(function, py.External) and function.name in _OF_STRUCTURE:
            return result
        if isinstance(function, (py.External, py.BoundMethod, py.ObjectValue)):
            receiver = [function.receiver] if isinstance(function, py.BoundMethod) else []
            return made_of(result, [*receiver, *args, *kwargs.values()], node)
        return result

    def _count(self, args: list[py.Value], node: ast.AST | None) -> None:
        """A function makes as many items as a number among what it is given says."""
        for arg in args:
            if isinstance(arg, Number) and is_live(arg):
                operators.report_number(self, "range", arg, node)
            elif isinstance(arg, Number):
                uses.lost_sight(self, [arg])

    def forward(
        self, module: py.ModuleValue, args: list[py.Value], kwargs: dict[str, py.Value], node: ast.AST | None
    ) -> py.Value:
        return calls.call_module(self, module, args, kwargs, node)

    def default(self, function: py.FunctionValue, name: str, value: py.Value) -> py.Value:
        """A list that is a default is one list for all calls: of the run for a function that is defined in it."""
        if not isinstance(value, (py.ListValue, py.DictValue, py.SetValue)):
            return value
        value = self.defaults.setdefault((function, name), value)
        if function.scope.function is None:
            self.state.share(self, name, value)
        return value

    def managed(self, manager: py.Value, node: ast.AST) -> py.Value:
        """What ``__enter__`` gives where it is read; what is not followed rests on what made the manager."""
        found = (
            classes.class_member(self, manager.cls, "__enter__")
            if isinstance(manager, py.ObjectValue)
            else None
        )
        if found is not None and isinstance(found[0], py.FunctionValue) and found[0].module is self.module:
            return self.call(py.BoundMethod(found[0], manager), [], {}, node)
        return manager if isinstance(manager, Derived) else super().managed(manager, node)

    def attribute(self, owner: py.Value, name: str) -> py.Value | None:
        return attributes.get(self, self.settled(owner), name)

    def set_attribute(self, owner: py.Value, name: str, value: py.Value) -> None:
        owner = self.settled(owner)
        if isinstance(owner, py.ModuleValue) and (name in owner.buffers or name in owner.parameters):
            self._note_change(f"self.{name}")
            state.assigned(self, owner.buffers.get(name), value, name)
            state.kept(self, owner, value, name)
        self.state.write(self, owner, name, value)
        if name == "data" and isinstance(owner, py.TensorValue):
            exported.data_set(self, owner, self.node)
            unrecorded.replaced(self, owner, value)
        super().set_attribute(owner, name, value)

    def keep(self, owner: py.ObjectValue, name: str, value: py.Value) -> None:
        self.state.write(self, owner, name, value)
        super().keep(owner, name, value)

    def set_item(self, owner: py.Value, key: py.Value, value: py.Value) -> None:
        still = isinstance(owner, Traced) and is_of_sizes([owner, key, value])
        unrecorded.changed(self, owner, [value], "__setitem__")
        kept_constants.set_item(self, owner, key)
        if isinstance(owner, Shape):
            listed_shapes.set_item(owner, key, value)
            if owner.open:  # which of its sizes that is, is not followed
                uses.used(self, [value], self.node)
            return
        if isinstance(owner, Traced):
            owner.sizes_only = still
        if isinstance(owner, py.TensorValue):
            is_assigned = isinstance(self.statement, (ast.Assign, ast.AugAssign))
            node = self.statement if is_assigned else self.node
            given = [key, *items.bounds(key), value]
            uses.used(self, given, node)
            indices.set_(self, owner, key, value, node)
            items.listed(self, key, node)
            assigned_items.assigned(self, owner, key, value, node)
            writing.written(self, owner, given, node)
        keyed_by_size = isinstance(owner, py.DictValue) and any(
            is_live(part) or is_symbolic(part) for part in parts([key])
        )
        is_shared = self.state.shares(owner)
        if keyed_by_size and isinstance(owner, py.DictValue):
            owner.open = owner.open or not is_shared
            if isinstance(key, Number):
                self.keyed[owner, key] = value
        if isinstance(owner, py.DictValue) and owner.registry_of is not None and isinstance(key, py.Const):
            self.state.write(self, owner.registry_of, str(key.value), value)
        memo = self.memos.name(owner)
        if memo and isinstance(value, Traced) and not keyed_by_size:
            self.state.share(self, memo, owner)
            self.state.mutate(self, owner, value)
            super().set_item(owner, key, value)
            return
        self.state.fill(self, owner, key)
        # What a file keeps by sizes, no target leaves for another.
        is_table = keyed_by_size and not self.state.keeps(self, owner, value)
        is_left = is_shared if is_table else self.state.mutate(self, owner, value)
        if not is_left:
            super().set_item(owner, key, value)

    def items(self, value: py.Value, wanted: int | None) -> tuple[list[py.Value], bool] | None:
        return iteration.items(self, value, wanted)

    def truth(self, value: py.Value, node: ast.AST | None = None) -> bool:
        answer = conditions.decide(self, value, node, "condition")
        return True if answer is None else answer
