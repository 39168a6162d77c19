"""A look at a module that a file makes: whether it is one, its mode, what depends on the mode."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.mode import ModeInterpreter, follow
from tsguard.analysis.python import PythonInterpreter, Raised, ancestry
from tsguard.analysis.values import ModuleValue
from tsguard.analysis.worlds import BudgetExceeded, Impossible
from tsguard.project import Target
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project.modules import Module


@dataclass(frozen=True, slots=True)
class Look:
    """``value`` is the module as its constructor leaves it, None where it cannot be told.

    ``layers`` are the paths of the submodules that depend on the mode, ``is_eager`` tells
    that it is certainly not compiled.
    """

    value: ModuleValue | None = None
    in_training: bool = False
    layers: tuple[str, ...] = ()
    depends: bool = False
    is_eager: bool = False


class Looks:
    """Looks at the modules of one file, each taken once."""

    def __init__(self, program: Program, module: Module) -> None:
        self._program = program
        self._module = module
        self._taken: dict[ast.expr, Look] = {}

    def at(self, expression: ast.expr) -> Look:
        """What an expression that makes a module makes."""
        if expression not in self._taken:
            try:
                self._taken[expression] = self._look(expression)
            except (Raised, Impossible, BudgetExceeded, RecursionError):
                self._taken[expression] = Look()
        return self._taken[expression]

    def _look(self, expression: ast.expr) -> Look:
        statement = ast.Expr(expression)
        target = Target(
            f"{self._module.file.path}:{expression.lineno}",
            self._module,
            "",
            ast.copy_location(statement, expression),
            "module",
        )
        interp = PythonInterpreter(self._program)
        value = interp.evaluate(expression, self._program.scope(self._module))
        if not isinstance(value, ModuleValue):
            return Look()
        walk = follow(self._program, target, interp.world, value)
        paths = [walk.tree.path(module) for module in walk.layers]
        is_eager = not value.scripted and not _compiles_itself(walk, value)
        return Look(
            value,
            value.training is not False,
            tuple(path for path in paths if path),
            bool(walk.layers),
            is_eager,
        )


def _compiles_itself(walk: ModeInterpreter, module: ModuleValue) -> bool:
    """Whether a module is, or may be, a ScriptModule."""
    is_script_module = ancestry.derives_from(walk, module.cls, "torch.jit.ScriptModule")
    return is_script_module or ancestry.has_unknown_base(walk, module.cls)
