"""The reports of a compilation, at places where the user can act, and their replay.

Functions of a module's top level compile alike for every target, methods alike for all
modules of one type: what one reports is recorded, and reported again wherever it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import field
from typing import Protocol

from tsguard.analysis import values as py
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.ownership import is_own
from tsguard.analysis.script.refusals import Refusal
from tsguard.language.rule_names import RuleName
from tsguard.project import Target
from tsguard.project.modules import Module
from tsguard.report.records import dataclass, replace

Property = tuple[py.Value, str]
"""A property of a class."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A function on the way to the place under compilation, and the call that entered it."""

    label: str
    call: ast.AST | None = None
    caller: Module | None = None


class Running(Protocol):
    """A function under compilation, at the place that is compiled now."""

    @property
    def is_certain(self) -> bool: ...

    @property
    def is_passed_by(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Report:
    """A refusal, and the calls that lead to it from the recorded function, that one included.

    ``if_reached`` ones count only where the call is sure to run; ``is_certain`` where it always comes to them then;
    an ``is_note`` goes wrong only where it runs.
    """

    refusal: Refusal
    module: Module
    chain: tuple[Entered, ...]
    if_reached: bool
    is_certain: bool
    is_note: bool


@dataclass(slots=True)
class Recording:
    """Everything that compiling one function reports, and the properties that it reads.

    ``is_target_specific`` tells that another target might see something else.
    """

    depth: int
    reports: list[_Report] = field(default_factory=list)
    gaps: dict[tuple[str, int, str], Gap] = field(default_factory=dict)
    reported: set[Refusal] = field(default_factory=set)
    read: set[Property] = field(default_factory=set)
    is_target_specific: bool = False


class Settled(Exception):
    """What was asked of a compilation is answered before its end."""


@dataclass(eq=False, slots=True)
class Reporter:
    """The events and gaps of one target, and the calls that lead to the place under compilation.

    ``shown`` are the refusals that are events at their own places, whatever leads there, ``aside`` the events in
    properties that are compiled for whoever asks, ``read`` the properties that compiled code asks for, ``met`` the
    refusals that each call of the target itself comes to, with their modules.
    With ``settles`` it raises Settled at the first event that this is true of, and at the first gap.
    """

    target: Target
    events: dict[tuple[object, ...], Event] = field(default_factory=dict)
    gaps: dict[tuple[str, int, str], Gap] = field(default_factory=dict)
    stack: list[Entered] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)
    shown: set[Refusal] = field(default_factory=set)
    aside: dict[tuple[object, ...], Property] = field(default_factory=dict)
    read: set[Property] = field(default_factory=set)
    met: list[tuple[Refusal, Module]] = field(default_factory=list)
    property: Property | None = None
    is_called: bool = False
    is_trying: bool = False
    settles: Callable[[Event], bool] | None = None

    @contextmanager
    def compiling_property(self, cls: py.Value, name: str) -> Iterator[None]:
        """Compile a property for whoever may ask a scripted module for it."""
        self.property = (cls, name)
        try:
            yield
        finally:
            self.property = None

    @contextmanager
    def compiling_forward(self) -> Iterator[None]:
        """Compile what a call of the target runs."""
        self.is_called = True
        try:
            yield
        finally:
            self.is_called = False

    def unread(self) -> frozenset[tuple[object, ...]]:
        """The keys of events in properties that no compiled code reads."""
        return frozenset(key for key, asked in self.aside.items() if asked not in self.read)

    @contextmanager
    def entering(self, entered: Entered) -> Iterator[None]:
        """Compile inside a function that a call has entered."""
        self.stack.append(entered)
        try:
            yield
        finally:
            self.stack.pop()

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Record what is reported meanwhile, to be replayed."""
        recording = Recording(len(self.stack))
        self.recordings.append(recording)
        running, self.running = self.running, []
        try:
            yield recording
        finally:
            self.running = running
            self.recordings.pop()

    def refuses(self, compile_: Callable[[], object]) -> bool:
        """Whether compiling something refuses it; nothing of it is reported, and it ends at the first refusal."""
        kept = self.events, self.gaps, self.recordings, self.shown, self.settles, self.is_trying
        self.events, self.gaps, self.recordings, self.shown, self.settles = {}, {}, [], set(), None
        self.is_trying = True
        try:
            compile_()
        except Settled:
            return True
        else:
            return bool(self.events)
        finally:
            self.events, self.gaps, self.recordings, self.shown, self.settles, self.is_trying = kept

    def replay(self, recording: Recording, call: ast.AST | None = None, caller: Module | None = None) -> None:
        """Report what was recorded as what this call leads to."""
        known = self.recordings[-1].reported if self.recordings else self.shown
        first: Entered | None = None
        for report in recording.reports:
            if report.is_certain and self.is_called and not self.recordings:
                self.met.append((report.refusal, report.module))
            if report.refusal in known:
                continue
            chain = report.chain
            if chain and chain[0] is not first:
                first, led = chain[0], replace(chain[0], call=call, caller=caller)
            depth = len(self.stack)
            if chain:
                self.stack += (led, *chain[1:])
            self._report(
                report.refusal, report.module, report.if_reached, report.is_certain, is_note=report.is_note
            )
            del self.stack[depth:]
        for gap in recording.gaps.values():
            self.add_gap(gap)
        self.note_read(recording.read)
        if recording.is_target_specific:
            self.mark_target_specific()

    def note_read(self, properties: Set[Property]) -> None:
        """Note that compiled code asks for properties; what only other properties ask for is asked for by none."""
        if self.recordings:
            self.recordings[-1].read |= properties
        elif self.property is None:
            self.read |= properties

    def mark_target_specific(self) -> None:
        """Note that what is being recorded holds for this target only."""
        for recording in self.recordings:
            recording.is_target_specific = True

    def report(self, refusal: Refusal, module: Module, *, if_reached: bool = False) -> None:
        """Report a refusal; one that matters only ``if_reached`` counts where the place is sure to run."""
        self._report(refusal, module, if_reached, is_certain=True)

    def note(self, refusal: Refusal, module: Module) -> None:
        """Report what goes wrong where it runs."""
        self._report(refusal, module, if_reached=False, is_certain=True, is_note=True)

    def _report(
        self, refusal: Refusal, module: Module, if_reached: bool, is_certain: bool, *, is_note: bool = False
    ) -> None:
        is_certain = is_certain and all(function.is_certain for function in self.running)
        if if_reached and not is_certain:
            return
        if is_note and any(function.is_passed_by for function in self.running):
            return
        if self.is_trying and not if_reached:
            if refusal.is_of_saving:
                return
            raise Settled
        if not self.recordings:
            event = self._placed(refusal, module)
            if self.property is not None and event.key not in self.events:
                self.aside[event.key] = self.property
            elif self.property is None:
                self.aside.pop(event.key, None)
                if self.settles is not None and self.settles(event):
                    raise Settled
            self.events.setdefault(event.key, event)
            if is_own(self.target, module):
                self.shown.add(refusal)
            return
        recording = self.recordings[-1]
        if refusal not in recording.reported:
            # What is recorded stays, and its traceback would keep all frames between.
            refusal.__traceback__ = refusal.__context__ = None
            recording.reported.add(refusal)
            chain = tuple(self.stack[recording.depth :])
            recording.reports.append(_Report(refusal, module, chain, if_reached, is_certain, is_note))

    def add_gap(self, gap: Gap) -> None:
        gaps = self.recordings[-1].gaps if self.recordings else self.gaps
        gaps.setdefault(gap.key, gap)
        if self.settles is not None and not self.recordings:
            raise Settled

    def _placed(self, refusal: Refusal, module: Module) -> Event:
        chain = tuple(entered.label for entered in self.stack)
        event = Event(refusal.rule, module, module.file.span(refusal.node), refusal.facts, chain)
        if is_own(self.target, module):
            return event
        for depth in range(len(self.stack) - 1, -1, -1):
            entered = self.stack[depth]
            if (
                entered.caller is not None
                and entered.call is not None
                and is_own(self.target, entered.caller)
            ):
                facts = {"function": entered.label, "package": module.name.partition(".")[0]}
                span = entered.caller.file.span(entered.call)
                rule: RuleName = (
                    "unsaveable-script/dependency" if refusal.is_of_saving else "unscriptable-dependency"
                )
                return Event(rule, entered.caller, span, facts, chain[: depth + 1], event)
        return event

    def place_of(self, instance: py.ModuleValue) -> tuple[ast.AST, Module]:
        """Where to report what concerns a whole module: its class, where it is made, or the target."""
        if isinstance(instance.cls, py.ClassValue) and is_own(self.target, instance.cls.module):
            return instance.cls.node, instance.cls.module
        if instance.place is not None and is_own(self.target, instance.place[1]):
            return instance.place
        return self.target.node, self.target.module
