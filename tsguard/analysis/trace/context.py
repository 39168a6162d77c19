"""What every handler of the tracer works with: the state of one run of a forward, and what it reports."""

from __future__ import annotations

import ast
import sys
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Event, Gap, text_of
from tsguard.analysis.export.record import Record
from tsguard.analysis.python import Program
from tsguard.analysis.python.following import Follower, Frame
from tsguard.analysis.terms import question, rests_on_place
from tsguard.analysis.trace.filled import Cell
from tsguard.analysis.trace.joins import joined
from tsguard.analysis.trace.memory import Memory
from tsguard.analysis.trace.memos import Memos
from tsguard.analysis.trace.rulebook import raises_in_trace
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.state import State
from tsguard.analysis.trace.values import Change, Constant, Debt, Fixed, Number, Traced
from tsguard.analysis.worlds import Answer
from tsguard.language.rule_names import RuleName
from tsguard.project.modules import Module
from tsguard.source.functions import FunctionNode

if TYPE_CHECKING:
    from tsguard.analysis.trace.origins import Origin
    from tsguard.analysis.trace.shapes.dims import Symbol
    from tsguard.analysis.trace.values import Property
    from tsguard.analysis.worlds import World
    from tsguard.project import Target


class LocalBudgetExceeded(Exception):
    """A function of another package takes more steps than it is worth."""


class Tracer(Follower):
    """One run of a forward, as torch.jit.trace would run it on inputs of unknown content.

    ``varying`` are the properties in which a file's ``other_inputs()`` differ from its
    ``example_inputs()``, by input; ``serves_others`` where it gives such.  ``facts`` is what must
    hold of the inputs' sizes, ``asked_ranks`` the numbers with which ranks of inputs are compared
    that nothing tells, ``filled`` the tensors whose elements were all alike when they were made, ``changed`` the parameters and buffers that a call changes, ``refilled`` those
    and others of which the elements are no longer what they were before, ``asked`` the statements
    that ask for some, ``open_ifs`` those of which either side may be taken, ``own_calls`` how many functions of the target's own package ran,
    ``state_met`` whether a parameter or buffer was met since that was last asked, ``gradients_met`` whether gradients were taken that no trace takes,
    ``scopes`` what modules have made inside of an autograd.Function, by the code that called them, ``crossed``
    whether code of another of these has computed with it, ``given_inside`` where the arguments of such a function
    come from, ``is_captured`` whether its code computed with something else of the trace,
    ``module_devices`` those that tensors of the module were asked for, by id, ``ran_code`` the functions that were followed, ``black_boxes`` the functions of others that were not followed to the end, ``untold`` the inputs
    without an annotation and ``told`` what the use of some says of them, ``exports`` what it means
    for torch.export, ``unrecorded`` the tensors that have the memory of a parameter or buffer through
    ``.data``, ``shares`` those that may be a share of it, ``renewed`` the parameters and buffers whose data
    the call has written anew, with the branches around that, ``seeded`` the
    generators of random numbers that the forward seeds, with the statements around that, ``defaults`` what parameters hold that calls leave out.  ``tellings`` counts how often anything
    was told of, whether or not that is news.  ``is_export`` tells that the
    code is told to be run by torch.export where it asks, and ``asks_for_run`` that it has asked.
    """

    def __init__(
        self,
        program: Program,
        world: World,
        target: Target,
        facts: Facts | None = None,
        *,
        is_export: bool = False,
    ) -> None:
        super().__init__(program, world, target)
        self.is_export = is_export
        self.asks_for_run = False
        self.outputs: list[tuple[Frame, ast.AST, py.Value]] = []
        self.deepest = 40
        self.limit = sys.maxsize
        self.events: dict[tuple[object, ...], Event] = {}
        self.parts: dict[tuple[object, ...], py.ModuleValue | None] = {}
        self.assumed: tuple[Answer, ...] = ()
        self.assumptions: dict[tuple[object, ...], dict[tuple[Answer, ...], None]] = {}
        self.gaps: list[Gap] = []
        self.tellings = 0
        self.ran: set[py.Value] = set()
        self.ran_code: set[FunctionNode] = set()
        self.exports = Record()
        self.varying: dict[str, frozenset[str]] = {}
        self.state = State()
        self.memory = Memory(program.structural_keys)
        self.memos = Memos()
        self.facts = facts.copy() if facts is not None else Facts()
        self.asked_ranks: dict[Symbol, set[int]] = {}
        self.untold: dict[str, ast.arg] = {}
        self.told: dict[str, RuleName] = {}
        self.filled: list[Traced] = []
        self.written: dict[py.TensorValue, Traced] = {}
        self.views: dict[py.TensorValue, py.TensorValue] = {}
        self.unrecorded: dict[py.TensorValue, Cell] = {}
        self.shares: set[py.TensorValue] = set()
        self.renewed: dict[Cell, tuple[int, ...]] = {}
        self.module_devices: dict[int, py.Atom] = {}
        self.scalars: set[str] = set()
        self.constants: dict[py.TensorValue, Constant] = {}
        self.overwritten: dict[object, Change] = {}
        self.keyed: dict[tuple[py.Value, Number], py.Value] = {}
        self.is_aside = False
        self.named_tensors = 0
        self.own_calls = 0
        self.state_met = False
        self.gradients_met = False
        self.scopes: list[list[py.Value]] = []
        self.crossed = False
        self.given_inside: list[Origin] | None = None
        self.is_captured = False
        self.black_boxes: set[int] = set()
        self.serves_others = False
        self.changed: set[str] = set()
        self.refilled: set[str] = set()
        self.defaults: dict[tuple[py.FunctionValue, str], py.Value] = {}
        self.seeded: dict[str, list[ast.AST | None]] = {}
        self.asked: dict[str, set[int]] = {}
        self.open_ifs: set[ast.AST] = set()
        self.settled_dims: dict[Hashable, list[Dim | None]] = {}
        self.node: ast.AST | None = None
        self.statement: ast.AST | None = None
        self.check: ast.expr | None = None
        self.following: list[ast.stmt] = []
        self.enclosing: list[ast.AST | None] = []

    def report(
        self, rule: RuleName, node: ast.AST | None, origin: Origin | None = None, **facts: str
    ) -> None:
        """Record an event where the user can act on it: in the target's own package.

        The facts of every event are the expression at the place and, with an origin, the
        input that it depends on and the path from there.
        """
        event = self.event(rule, node, origin, **facts)
        if event is not None:
            self.add(event)

    def add(self, event: Event) -> None:
        """Record an event, and the module in whose forward it happens."""
        if event.key not in self.events:
            self.events[event.key] = event
            self.parts[event.key] = self.receiver
            self.assumptions[event.key] = {}
        _come_to(self.assumptions[event.key], self.assumed)

    def drop(self, event: Event) -> None:
        """Take back an event: what it tells of has been undone."""
        self.events.pop(event.key, None)
        self.parts.pop(event.key, None)

    def debt(self, rule: RuleName, node: ast.AST | None, origin: Origin, **facts: str) -> Debt | None:
        """What ``report`` would record, for when something depends on a value."""
        event = self.event(rule, node, origin, **facts)
        return None if event is None else Debt(event, self.receiver)

    def settle(self, debt: Debt, dim: Dim | None = None) -> None:
        """Record what a value owes on which something depends; it owes nothing if its ``dim`` turns out to be a number."""
        self.add(debt.event)
        self.parts[debt.event.key] = debt.part
        self.settled_dims.setdefault(debt.event.key, []).append(dim)

    def drop_what_is_constant(self) -> None:
        """Take back what is told of sizes that the rest of the forward lets be one number only."""
        for key, dims in self.settled_dims.items():
            numbers = [None if dim is None else self.facts.number(dim) for dim in dims]
            if None not in numbers and key in self.events:
                self.drop(self.events[key])

    def event(
        self, rule: RuleName, node: ast.AST | None, origin: Origin | None = None, **facts: str
    ) -> Event | None:
        """An event as ``report`` would record it; None where no place in a source stands for it."""
        self.tellings += 1
        is_reachable = len(self.frames) <= 1 or self.is_own(self.module)
        place = self.place(node) if is_reachable else self.way_in()
        if place is None:
            return None
        facts.setdefault("expression", text_of(place.node))
        if origin is not None:
            facts.update(source=origin.root.name, path=origin.path())
        return Event(rule, place.module, place.module.file.span(place.node), facts, self.chain)

    def is_akin(self, module: Module) -> bool:
        """Whether a module belongs to the package whose code is running, or to the target's."""
        return self.is_own(module) or module.name.partition(".")[0] == self.module.name.partition(".")[0]

    def spend(self, steps: int = 1) -> None:
        super().spend(steps)
        if self.world.spent > self.limit:
            raise LocalBudgetExceeded

    @contextmanager
    def allowed(self, steps: int) -> Iterator[None]:
        """Run within so many steps.

        Raises:
            LocalBudgetExceeded: they were used up.
        """
        outer = self.limit
        self.limit = min(outer, self.world.spent + steps)
        try:
            yield
        finally:
            self.limit = outer

    def gap(self, node: ast.AST | None, why: str, module: Module | None = None) -> None:
        """Note that something on the way could not be followed, in the code that runs or in a module's."""
        where = module or self.module
        line = self.target.line if where is self.target.module else 1
        gap = Gap(where, getattr(node, "lineno", line), why)
        self.exports.harmless.discard(gap.key)
        self.note(gap)

    def note(self, gap: Gap) -> None:
        """Note what is not known, once."""
        self.tellings += 1
        if gap not in self.gaps:
            self.gaps.append(gap)

    def unread(self, called: py.Unknown, node: ast.AST | None) -> None:
        """Note a call of what was not read, or of an argument that may be anything."""
        if unread.may_do_anything(called):
            gap = unread.what(called, self.target, self.module, node or self.target.node)
            if self._is_of_tensor(node):
                self.exports.harmless.add(gap.key)
            else:
                self.exports.harmless.discard(gap.key)
            self.note(gap)

    def _is_of_tensor(self, node: ast.AST | None) -> bool:
        """Whether a call is of a method that tensors have and that gives tensors."""
        name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
        return self.tables.tensor.get(name) == "method" and name not in ("item", "tolist", "numpy")

    def varies(self, origin: Origin, what: Property) -> bool:
        """Whether the file's own inputs differ in a property of the input that a value comes from."""
        return what in self.varying.get(origin.root.name, ())

    @contextmanager
    def branching(self, test: py.Value | None = None) -> Iterator[None]:
        """Run a branch that may not be taken: by some dtypes, where the test asks for that of an input."""
        by_kind = isinstance(test, Fixed) and test.about == "dtype"
        self.exports.kinds += by_kind
        try:
            with super().branching():
                yield
        finally:
            self.exports.kinds -= by_kind

    def drop_events(self, known: int) -> None:
        """Forget what was recorded beyond the ``known`` first events, but for what raises while tracing."""
        for key in list(self.events)[known:]:
            if not raises_in_trace(self.events[key].rule):
                del self.events[key], self.parts[key]

    @contextmanager
    def running(self, frame: Frame) -> Iterator[Frame]:
        """Run the code of a function, which is no part of a check that its call may be in."""
        check, self.check = self.check, None
        assumed = self.assumed
        try:
            with self.within(frame):
                yield frame
        finally:
            self.check = check
            self.assumed = assumed

    @contextmanager
    def assuming(self, test: py.Value | None, holds: bool) -> Iterator[None]:
        """Run the branch of a test of what a constructor argument decides."""
        assumed = self.assumed
        self.assume(test, holds)
        try:
            yield
        finally:
            self.assumed = assumed

    def assumption(self, test: py.Unknown) -> bool | None:
        """How a branch that is running, or one that returned, has answered a test; None where none has."""
        if test.term is None or rests_on_place(test.term):
            return None
        asked, wanted = question(test.term)
        return next((answer.yes is wanted for answer in self.assumed if answer.asked == asked), None)

    def assume(self, test: py.Value | None, holds: bool) -> None:
        """Go on as where a test has this answer."""
        if isinstance(test, py.Unknown) and test.term is not None and not rests_on_place(test.term):
            asked, wanted = question(test.term)
            self.assumed = (*self.assumed, Answer(asked, wanted is holds))

    def change(self, tensor: py.Value) -> None:
        """A tensor is changed in place: what is module state counts."""
        if isinstance(tensor, py.TensorValue):
            for filled in [tensor] if tensor in self.filled else self.filled:  # of which it may be a view
                filled.filling = None
            self.state.change(self, tensor)
        if isinstance(tensor, Traced) and tensor.of == "inputs":
            tensor.sizes_only = False
        if isinstance(tensor, Traced) and tensor.of == "state":
            self.refilled.add(tensor.origin.root.name)
            self._note_change(tensor.origin.root.name)

    def _note_change(self, name: str) -> None:
        """State changes; what is only set where it asks for it (``if not self.ready:``) settles."""
        if not any(id(outer) in self.asked.get(name, ()) for outer in self.enclosing):
            self.changed.add(name)

    @contextmanager
    def checking(self, test: ast.expr) -> Iterator[None]:
        """Evaluate what an ``assert`` checks: all that decides it is one check."""
        outer, self.check = self.check, test
        try:
            yield
        finally:
            self.check = outer

    def by_size(self, table: py.Value, key: py.Value) -> py.Value | None:
        """What a table holds under the very size by which it was put there."""
        return self.keyed.get((table, key)) if self.keyed and isinstance(key, Number) else None

    def now(self, value: py.Value) -> py.Value:
        """A value as it is now: a constant that data was written into is one no more."""
        return self.written.get(value, value) if isinstance(value, py.TensorValue) else value

    def join(self, left: py.Value, right: py.Value) -> py.Value:
        """A value that is one of two."""
        return joined(left, right)


def _come_to(ways: dict[tuple[Answer, ...], None], way: tuple[Answer, ...]) -> None:
    """Add a way: with the one that differs in its last answer, it is what leads to both."""
    if way:
        other = (*way[:-1], Answer(way[-1].asked, not way[-1].yes))
        if other in ways:
            del ways[other]
            _come_to(ways, way[:-1])
            return
    ways[way] = None
