"""The context of the walk of modes: the state of one walk, and what it reports."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tsguard.analysis.budgets import MODE_STEPS
from tsguard.analysis.events import Event, Gap, text_of
from tsguard.analysis.mode.choices import Mode
from tsguard.analysis.mode.memory import Memory
from tsguard.analysis.mode.recording import Recording
from tsguard.analysis.mode.tree import Tree
from tsguard.analysis.python import Program
from tsguard.analysis.python.following import Follower, Frame, Place
from tsguard.analysis.values import (
    DictValue,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    SetValue,
    Value,
)
from tsguard.analysis.worlds import World
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.project import Target


# What is said of the code of another package that does what is told elsewhere by a rule of its own.
_OF_DEPENDENCY: dict[str, RuleName] = {
    "random-in-eval": "mode-dependent-layer/dependency-random",
    "state-updated-in-eval": "mode-dependent-layer/dependency-state",
}


class ModeInterpreter(Follower):
    """One target in one world, followed in both modes at once.

    ``mode`` is the mode of the code that runs: "both", or one of them past a test of
    ``self.training``.  ``dependent`` are the modules found to depend on it, one again each time,
    ``changes`` counts what is done to modules, ``catching`` the blocks around whose exceptions are
    caught, ``is_met`` tells that the code of this frame has come upon a value that differs by mode,
    ``following`` are the statements of the block after the ``statement`` that runs, ``renewed`` the
    attributes that this call has set anew on every way to it, ``read`` the names of attributes that
    it reads, ``kept`` the events of branches that only set attributes, with their names, ``recording`` what the
    call comes upon that may be remembered.
    """

    def __init__(self, program: Program, target: Target, world: World) -> None:
        super().__init__(program, world, target)
        self.mode: Mode = "both"
        self.tree = Tree()
        self.done: dict[tuple[ModuleValue, Mode], tuple[Value, tuple[ModuleValue, ...]]] = {}
        self.memory = Memory(program.structural_keys)
        self.dependent: list[ModuleValue] = []
        self.changes = 0
        self.following: list[ast.stmt] = []
        self.statement: ast.stmt | None = None
        self.catching = 0
        self.is_met = False
        self.read: set[str] = set()
        self.renewed: frozenset[tuple[ObjectValue, str]] = frozenset()
        self.events: dict[tuple[object, ...], Event] = {}
        self.conditional: dict[tuple[object, ...], tuple[Event, str]] = {}
        self.kept: dict[tuple[object, ...], tuple[frozenset[str], ModuleValue | None]] = {}
        self.gaps: dict[tuple[str, int, str], Gap] = {}
        self.recording: Recording | None = None
        self.steps = MODE_STEPS
        self._changed: dict[ObjectValue, list[dict[str, Value]]] = {}
        self._containers: dict[int, tuple[DictValue | ListValue | SetValue, Any, bool]] = {}

    def report(self, rule: RuleName, node: ast.AST | None, when: str | None = None, /, **facts: str) -> None:
        """Record what a rule finds at a node of the code that runs."""
        self.report_at(
            rule, [Place(self.module, node)] if node is not None else [], self.receiver, when, **facts
        )

    def report_keeping(self, rule: RuleName, node: ast.AST, names: frozenset[str], /, **facts: str) -> None:
        """Record what a rule finds at code that only sets attributes, which matters if one of them is read."""
        if not names:
            self.report(rule, node, **facts)
            return
        certain = self.events.keys() - self.kept.keys()
        kept = dict(self.kept)
        event = self.report_at(rule, [Place(self.module, node)], None, **facts)
        self.kept = kept
        if event is not None and event.key not in certain:
            others = kept[event.key][0] if event.key in kept else frozenset()
            self.kept[event.key] = names | others, self.receiver

    def report_at(
        self,
        rule: RuleName,
        places: list[Place],
        reported: ModuleValue | None,
        when: str | None = None,
        /,
        **facts: str,
    ) -> Event | None:
        """Record what a rule finds at the first of some places that the user can edit, else where
        the target's own code leads to it; the event, or None for none.

        Args:
            reported: the module that it makes dependent on the mode.
            when: a condition on constructor arguments that the defaults do not meet.
        """
        self.show()
        if self.tree.is_switching:
            return None
        if reported is not None and when is None:
            self.depend([reported])
        own = self.editable(places) or self.way_in()
        if own is None:
            return None
        if own not in places[:1]:
            rule = _OF_DEPENDENCY.get(rule.partition("/")[0], "mode-dependent-layer/dependency")
            facts = {"name": text_of(own.node)}
        event = Event(rule, own.module, own.module.file.span(own.node), facts, self.chain)
        if when is None:
            self.events.setdefault(event.key, event)
            self.kept.pop(event.key, None)
        else:
            self.conditional.setdefault(event.key, (event, when))
        return event

    def show(self) -> None:
        """Note that more comes of the calls that run than what they return."""
        if self.recording is not None:
            self.recording.is_whole = False

    def depend(self, layers: Iterable[ModuleValue]) -> None:
        """Record that modules depend on the mode."""
        self.dependent.extend(layers)

    @property
    def layers(self) -> list[ModuleValue]:
        """The modules found to depend on the mode."""
        return list(dict.fromkeys(self.dependent))

    def editable(self, places: Iterable[Place]) -> Place | None:
        """The first place that the user can edit."""
        return next((place for place in places if self.is_own(place.module)), None)

    def gap(self, node: ast.AST | None, why: str) -> None:
        """Note that something on the way cannot be followed."""
        self.unread(Gap(self.module, getattr(node, "lineno", self.target.line), why))

    def unread(self, gap: Gap) -> None:
        """Note what was not read."""
        self.show()
        self.gaps.setdefault(gap.key, gap)

    @contextmanager
    def entered(
        self, function: FunctionValue, node: ast.AST | None, receiver: ModuleValue | None
    ) -> Iterator[Frame]:
        """Run code of a function; a mode that it narrows down to ends with it."""
        owner = f"{function.owner.name}." if function.owner is not None else ""
        label, called, renewed, is_met = owner + function.name, self.place(node), self.renewed, self.is_met
        with (
            self.within(Frame(label, function.module, called, receiver, function.node)) as frame,
            self.only(self.mode),
        ):
            if self.recording is not None:
                self.recording.enter(function, self.depth)
            yield frame
        self.is_met = is_met
        if frame.returned:
            self.renewed = renewed

    @contextmanager
    def only(self, mode: Mode) -> Iterator[None]:
        """Run code that only one mode reaches."""
        before, self.mode = self.mode, mode
        try:
            yield
        finally:
            self.mode = before

    @abstractmethod
    def ways(self, module: ModuleValue, node: ast.AST | None) -> tuple[Place | None, Place | None]:
        """The places to which what is found in a module goes, unless it is found at a place of its own."""
