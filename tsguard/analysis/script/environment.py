"""Environments: the variables of each block, and what control flow does to them.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (Environment).
"""

from __future__ import annotations

import ast
import dataclasses
from dataclasses import field

from tsguard.analysis.script.sugared import ABSENT, Simple, Sugared, Value
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a variable cannot be used after an if: a rule and what fills its wording.

    ``node`` is where the rule is broken, None for the use itself.
    """

    rule: RuleName
    node: ast.AST | None
    facts: dict[str, str]


@dataclass(eq=False, slots=True)
class Frame:
    """One block.  ``exits`` tells that it ends in return or raise on every path."""

    parent: Frame | None = None
    variables: dict[str, Value] = field(default_factory=dict)
    sugared: dict[str, Sugared] = field(default_factory=dict)
    unusable: dict[str, Unusable] = field(default_factory=dict)
    exits: bool = False

    def here(self, name: str) -> Sugared | None:
        """The variable as this block knows it; constants are not seen through names."""
        if name in self.sugared:
            return self.sugared[name]
        if name in self.variables:
            value = self.variables[name]
            if value.const is not ABSENT or value.empty_list or value.static is not None:
                value = dataclasses.replace(value, const=ABSENT, empty_list=False, static=None)
            return Simple(value)
        return None

    def find(self, name: str) -> Sugared | None:
        """The variable in this block or one around it."""
        runner: Frame | None = self
        while runner is not None:
            found = runner.here(name)
            if found is not None:
                return found
            runner = runner.parent
        return None

    def find_outside(self, name: str) -> Sugared | None:
        return self.parent.find(name) if self.parent is not None else None

    @property
    def root(self) -> Frame:
        runner = self
        while runner.parent is not None:
            runner = runner.parent
        return runner

    def leave_open(self, name: str) -> None:
        """Make the type of a variable unknown wherever it is known."""
        runner: Frame | None = self
        while runner is not None:
            if name in runner.variables:
                runner.variables[name] = Value(t.UNKNOWN)
            runner = runner.parent

    def forget(self, name: str) -> bool:
        """Remove a variable from every block; False unless the function's own block had it."""
        runner: Frame | None = self
        removed = False
        while runner is not None:
            removed = runner.variables.pop(name, None) is not None
            removed |= runner.sugared.pop(name, None) is not None
            runner = runner.parent
        return removed
