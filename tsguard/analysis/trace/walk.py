"""One target traced: its inputs, its forward, its outputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.exploration import Way, anywhere
from tsguard.analysis.export import data
from tsguard.analysis.export import types as exported
from tsguard.analysis.python import Interpreter, classes
from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace import examples, inputs, kinds, outputs, properties, refused_modules, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.inputs import Given, Inputs
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.rulebook import CHANGED_STATE
from tsguard.analysis.trace.shapes.dims import Symbol
from tsguard.analysis.trace.shapes.facts import Facts
from tsguard.analysis.trace.tracer import ForwardTracer
from tsguard.analysis.trace.values import Traced
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.report.records import dataclass, replace
from tsguard.source.functions import takes_positional

if TYPE_CHECKING:
    from tsguard.project import Target


@dataclass(frozen=True, slots=True)
class TraceResult:
    """What following a target showed: what its trace bakes, and what could not be followed.

    ``parts`` are the modules in whose forward the events happen, in their order; ``outputs``
    what its returns give, ``facts`` what was learned of the inputs' sizes, ``raised`` whether
    it ends in an error, ``asked_ranks`` the ranks that it asks for of the first input of which nothing tells the rank.
    ``asks_for_run`` tells that the code asks which kind of run it is, ``exports`` is what it means for torch.export (``harmless`` are the gaps that hide nothing of that), of which ``doubtful`` lies on
    ways that the example may not take, ``by_kind`` only for inputs of some dtypes, ``export_gaps`` what is not known of that alone; ``is_asked_of_compile`` that all that
    is called is known to be followed by torch.compile, or not; ``numbers`` the inputs that turned out to be numbers;
    ``ways`` what was taken for so of constructor arguments on the way to the events of these keys, ``ran`` the classes of the modules called.
    """

    events: tuple[Event, ...] = ()
    parts: tuple[py.ModuleValue | None, ...] = ()
    gaps: tuple[Gap, ...] = ()
    outputs: tuple[py.Value, ...] = ()
    facts: Facts = field(default_factory=Facts)
    raised: bool = False
    asked_ranks: tuple[Symbol, tuple[int, ...]] | None = None
    exports: tuple[Event, ...] = ()
    harmless: frozenset[Hashable] = frozenset()
    doubtful: tuple[Event, ...] = ()
    export_gaps: tuple[Gap, ...] = ()
    is_asked_of_compile: bool = False
    asks_for_run: bool = False
    by_kind: tuple[Event, ...] = ()
    numbers: frozenset[str] = frozenset()
    ways: Mapping[Hashable, tuple[Way, ...]] = field(default_factory=dict)
    ran: frozenset[Hashable] = frozenset()

    @property
    def when(self) -> Mapping[Hashable, str]:
        """What constructor arguments must be for the events that are not there in any case."""
        return {key: anywhere(ways) for key, ways in self.ways.items() if all(way.turned for way in ways)}

    @classmethod
    def of(cls, tracer: Tracer, *, raised: bool = False) -> TraceResult:
        """What a tracer has met."""
        tracer.drop_what_is_constant()
        parts = tuple(tracer.parts[key] for key in tracer.events)
        outputs = tuple(value for _, _, value in tracer.outputs)
        facts = shaping.input_facts(tracer.facts)
        tracer.exports.finish()
        told = tracer.exports.told()
        by_kind = tuple(told.pop(key) for key in tuple(told) if key in tracer.exports.by_kind)
        events = tuple(_settled(tracer, event) for event in tracer.events.values())
        ways = zip(events, map(tracer.assumptions.__getitem__, tracer.events), strict=True)
        return cls(
            events,
            parts,
            tuple(tracer.gaps),
            outputs,
            facts,
            raised,
            next(((tensor, tuple(sorted(asked))) for tensor, asked in tracer.asked_ranks.items()), None),
            tuple(e for key, e in told.items() if key not in tracer.exports.doubtful),
            frozenset(tracer.exports.harmless),
            tuple(e for key, e in told.items() if key in tracer.exports.doubtful),
            tuple(tracer.exports.gaps),
            tracer.exports.is_asked_of_compile,
            tracer.asks_for_run,
            by_kind,
            ways={event.key: tuple(map(Way, assumed)) for event, assumed in ways},
            ran=frozenset(tracer.ran),
        )

    def of_rules(self, are_meant: Callable[[str], bool]) -> TraceResult:
        """The walk with the events of some rules only."""
        kept = [i for i, event in enumerate(self.events) if are_meant(event.rule)]
        events, parts = tuple(self.events[i] for i in kept), tuple(self.parts[i] for i in kept)
        exports, doubtful, by_kind = (
            tuple(e for e in of if are_meant(e.rule)) for of in (self.exports, self.doubtful, self.by_kind)
        )
        return replace(self, events=events, parts=parts, exports=exports, doubtful=doubtful, by_kind=by_kind)

    def together(self, others: list[TraceResult]) -> TraceResult:
        """What this walk and others showed of one target with other inputs."""
        pairs = [pair for walk in (self, *others) for pair in zip(walk.events, walk.parts, strict=True)]
        found = {event.key: (event, part) for event, part in reversed(pairs)}
        events, parts = zip(*reversed(found.values()), strict=True) if found else ((), ())
        gaps = {gap.key: gap for walk in (self, *others) for gap in walk.gaps}
        ways: dict[Hashable, tuple[Way, ...]] = {}
        for walk in (self, *others):
            for key, found_on in walk.ways.items():
                ways[key] = tuple(dict.fromkeys((*ways.get(key, ()), *found_on)))
        return replace(self, events=events, parts=parts, gaps=tuple(gaps.values()), ways=ways)


def _settled(tracer: Tracer, event: Event) -> Event:
    """An event as the whole of the forward makes it: state that a call changes is another at the next."""
    if event.rule in CHANGED_STATE and event.facts.get("source") in tracer.changed:
        return replace(event, rule=CHANGED_STATE[event.rule])
    return event


def trace_target(
    interp: Interpreter,
    target: Target,
    subject: py.Value,
    facts: Facts | None = None,
    optional: Given = "none",
    *,
    is_export: bool = False,
) -> TraceResult:
    """Follow a module instance or a function as ``torch.jit.trace`` would run it.

    ``facts`` are those of an earlier walk: what holds of the inputs holds from the start.
    ``optional`` says which of the optional tensors of its signature are given, too.  For ``is_export``
    the code that asks which kind of run it is goes the way of torch.export.
    """
    tracer = ForwardTracer(interp.program, interp.world, target, facts, is_export=is_export)
    function, receiver = _entry(tracer, subject)
    if function is None and not isinstance(subject, py.ModuleValue):
        why = f"{target.qualname} has no forward that can be read"
        unread = subject.unread if isinstance(subject, py.Unknown) else None
        return TraceResult(gaps=(unread or Gap(target.module, target.line, why),))
    tracer.state.own(subject)
    data.are_outside(tracer.state.owned.values())
    refused_modules.check(tracer, target)
    refused_modules.check_export(tracer, target, subject)
    properties.check(tracer, interp, target)
    stopped = False
    try:
        if function is None:
            _call_layer(tracer, target, subject)
        elif receiver and not takes_positional(function.node):
            tracer.gap(function.node, "its forward takes no self: calling it raises")
            return TraceResult.of(tracer)
        else:
            taking = _taking(tracer, subject, function)
            given = _inputs(tracer, target, subject, taking, receiver, optional)
            result = tracer.call(_called(tracer, subject, function, receiver), given.args, given.kwargs)
            outputs.check_kind(tracer, function, result)
            exported.check_kind(tracer, function)
    except Raised as raised:
        stopped = True
        why = f"it seems to raise {raised.name}".rstrip()
        tracer.gap(raised.node or target.node, why, raised.module if raised.node is not None else None)
    except BudgetExceeded:
        tracer.gap(target.node, "it is too large to be analysed completely")
    if function is not None:
        with tracer.running(Frame(function.name, function.module)):
            kinds.report(tracer)
    for frame, node, value in tracer.outputs:
        with tracer.running(Frame(frame.label, frame.module, frame.called, frame.receiver)):
            outputs.check(tracer, value, node)
            exported.check(tracer, value, node)
    followed = TraceResult.of(tracer, raised=stopped)
    return followed if function is None else replace(followed, numbers=kinds.numbers(tracer, function))


def _call_layer(tracer: Tracer, target: Target, layer: py.Value) -> None:
    """Call a module whose forward is torch's own, as nn.Sequential's is, with one tensor."""
    with tracer.running(Frame("forward", target.module)) as frame:
        given = Traced(origin=Origin("the input"), extent=shaping.of_input(tracer.facts, "input"))
        tracer.outputs.append((frame, target.node, tracer.call(layer, [given], {}, target.node)))


def _entry(tracer: Tracer, subject: py.Value) -> tuple[py.FunctionValue | None, bool]:
    """The function that a call of the subject runs, and whether it takes the subject first."""
    if isinstance(subject, py.ModuleValue):
        own_call = classes.class_member(tracer, subject.cls, "__call__")
        own = subject.attributes.get("forward")  # set on the instance
        if own_call is None and isinstance(own, py.BoundMethod) and own.receiver is subject:
            return (own.function if isinstance(own.function, py.FunctionValue) else None), True
        found = own_call or classes.class_member(tracer, subject.cls, "forward")
        member = found[0] if found is not None else None
        return (member if isinstance(member, py.FunctionValue) else None), True
    return (subject if isinstance(subject, py.FunctionValue) else None), False


def _called(tracer: Tracer, subject: py.Value, function: py.FunctionValue, receiver: bool) -> py.Value:
    """What is called: the function itself, or the module, unless its class says what a call of it does."""
    if not receiver or not isinstance(subject, py.ModuleValue):
        return function
    own_call = classes.class_member(tracer, subject.cls, "__call__")
    is_own = own_call is not None and own_call[0] is function
    return classes.bind(function, subject, subject.cls) if is_own else subject


def _taking(tracer: Tracer, subject: py.Value, function: py.FunctionValue) -> py.FunctionValue:
    """The function that says what inputs there are: a ``__call__`` of any leaves that to the forward."""
    spec = function.node.args
    if (
        spec.vararg is None
        or len(spec.posonlyargs) + len(spec.args) > 1
        or not isinstance(subject, py.ModuleValue)
    ):
        return function
    found = classes.class_member(tracer, subject.cls, "forward")
    return found[0] if found is not None and isinstance(found[0], py.FunctionValue) else function


def _inputs(
    tracer: Tracer,
    target: Target,
    subject: py.Value,
    function: py.FunctionValue,
    receiver: bool,
    optional: Given,
) -> Inputs:
    found = examples.read(tracer, target, subject)
    with tracer.running(Frame(function.name, function.module)):
        if found.given is not None and _fits(function, receiver, len(found.given)):
            return inputs.of_examples(tracer, function, int(receiver), found)
        return inputs.of_signature(tracer, function, int(receiver), optional)


def _fits(function: py.FunctionValue, receiver: bool, count: int) -> bool:
    """Whether examples of a file with several targets may be this one's."""
    spec = function.node.args
    most = len(spec.posonlyargs) + len(spec.args) - receiver
    return most - len(spec.defaults) <= count and (count <= most or spec.vararg is not None)
