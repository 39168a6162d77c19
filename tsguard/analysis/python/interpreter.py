"""The interpreter: one run over abstract values, in one world, within a budget.

The work is in the sibling files, each a table from what is met (a node, a name) to
the function that handles it; here is what they share.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis.budgets import DEEPEST_CALL
from tsguard.analysis.python import (
    attributes,
    calls,
    containers,
    expressions,
    module_methods,
    names,
    object_truths,
    operations,
    statements,
)
from tsguard.analysis.python.context import Interpreter, Signal
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    External,
    FunctionValue,
    ModuleValue,
    ObjectValue,
    Scope,
    TensorValue,
    Unknown,
    Value,
    constant,
)
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.report.records import replace

if TYPE_CHECKING:
    from tsguard.analysis.events import Gap


def _too_deep(function: Value, node: ast.AST | None) -> Gap | None:
    if isinstance(function, BoundMethod):
        return _too_deep(function.function, node)
    return unread.depth(function.module, function.node) if isinstance(function, FunctionValue) else None


class PythonInterpreter(Interpreter):
    """One run, with the tables of handlers bound to what it meets."""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        world = self.world
        world.spent += 1
        if world.spent > self._limit:
            raise BudgetExceeded
        handler = expressions.HANDLERS.get(type(node))
        if handler is None:
            return Unknown(placed(node))
        return handler(self, node, scope)

    def execute(self, body: list[ast.stmt], scope: Scope) -> Signal:
        """Run statements; the signal tells how they ended."""
        return statements.execute(self, body, scope)

    def lookup(self, name: str, scope: Scope) -> Value | None:
        """The value of a name, from the innermost scope outwards to the builtins."""
        value = scope.names.get(name)
        return value if value is not None else names.lookup(self, name, scope)

    def call(
        self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        """The result of calling a value."""
        self.depth += 1
        try:
            if self.depth > DEEPEST_CALL:
                return self.too_deep(_too_deep(function, node))
            return calls.call(self, function, args, kwargs, node)
        finally:
            self.depth -= 1

    def too_deep(self, gap: Gap | None) -> Value:
        """The result of a call that nests too deeply to be followed."""
        return Unknown(None, unread=gap)

    def instantiate(
        self, cls: ClassValue, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None = None
    ) -> Value:
        return calls.instantiate(self, cls, args, kwargs, node)

    def attribute(self, owner: Value, name: str) -> Value | None:
        """An attribute of a value, or None where it certainly has none."""
        return attributes.get(self, owner, name)

    def keep(self, owner: ObjectValue, name: str, value: Value) -> None:
        owner.attributes[name] = value
        self.program.shared_state.used(owner)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        if isinstance(owner, External) and not self.is_defining:
            self.program.patches[owner.name, name] = value
        attributes.set_(self, owner, name, value)
        self.program.shared_state.used(owner)

    def set_item(self, owner: Value, key: Value, value: Value) -> None:
        """``owner[key] = value``."""
        containers.set_item(self, owner, key, value)
        self.program.shared_state.used(owner, self.is_defining)

    def change(self, tensor: Value) -> None:
        if isinstance(tensor, TensorValue):
            tensor.filling = None

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
            return module_methods.switch(owner, name.endswith(".train"), [*args, *kwargs.values()], node)
        return module_methods.method(self, name, owner, args, kwargs)

    def settled(self, value: Value) -> Value:
        """A value in this world: an unknown that an answer has fixed is that constant."""
        if isinstance(value, Unknown) and value.term is not None:
            fixed = self.world.known(value.term)
            if fixed is not None:
                return operations.value_of(fixed)
            if value.default is not None:
                if self.world.is_unusual(value.term):
                    return replace(value, hint="", default=None)
                if self.world.is_other(value.term):  # which of a number is another number
                    kind = type(constant(value.default))
                    named = kind.__name__ if kind in (bool, int, float) else ""
                    return replace(value, default=None, hint=value.hint or named)
        return value

    def truth(self, value: Value, node: ast.AST | None = None) -> bool:
        """Whether a value is true; this world decides where only arguments tell."""
        settled = self.settled(value)
        if isinstance(settled, ObjectValue):
            return object_truths.is_true(self, settled, node)
        return operations.truth(self, settled, node)

    def alone(self) -> PythonInterpreter:
        interp = PythonInterpreter(self.program)
        interp.is_defining = True
        return interp
