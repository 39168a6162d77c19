"""The script judge: what ``torch.jit.script`` would refuse, in every world of arguments."""

from __future__ import annotations

from collections.abc import Hashable, Set

from tsguard.analysis import unread
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.exploration import Shown, Way, anywhere, elsewhere, explore
from tsguard.analysis.ownership import is_own
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.script import Compilation, compile_target
from tsguard.analysis.subjects import built
from tsguard.analysis.terms import Question
from tsguard.analysis.values import ModuleValue, Value
from tsguard.analysis.worlds import Asked, BudgetExceeded, Uncallable, World
from tsguard.project import Target
from tsguard.report import ScriptVerdict
from tsguard.report.records import dataclass, replace
from tsguard.rules import holds, rule


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """The verdict, and the events it rests on with the condition of each (None: always)."""

    verdict: ScriptVerdict
    events: tuple[tuple[Event, str | None], ...] = ()
    gaps: tuple[Gap, ...] = ()


def judge_script(program: Program, target: Target) -> ScriptOutcome:
    """Compile a target in its worlds and weigh what they show."""
    runs: list[tuple[Way | None, Compilation]] = []
    guessed: set[Question] = set()
    at_first: frozenset[Question] = frozenset()
    is_made = is_usable = False
    too_large = Gap(target.module, target.line, "it is too large to be analysed completely")
    compiled: dict[Hashable, list[_Compiled]] = {}

    def run(world: World) -> Compilation:
        interp = PythonInterpreter(program, world)
        try:
            compilation = _compiled(interp, target, built(interp, target), compiled)
        except BudgetExceeded:
            # What is not seen to its end tells no condition: it stands as the first world does.
            events = runs[0][1].events if runs else ()
            return Compilation(events, gaps=(too_large,))
        if is_usable and compilation.raises:
            raise Uncallable  # what torch refuses there, nobody could call in Python either
        held = tuple(event for event in compilation.events if holds(event.rule, program.tables.release))
        held = tuple(event for event in held if _matters(event, compilation))
        if outcome_of(held) == "blocked":  # what is not made is not saved
            held = tuple(event for event in held if rule(event.rule).outcome != "unsaveable")
        return _of_own_code(target, replace(compilation, events=held))

    for way, world, compilation in explore(run, _shown):
        is_usable = is_usable or (way is None and not compilation.raises)
        if way is None:
            at_first = frozenset(world.guessed)
        runs.append((way, compilation))
        is_made = is_made or world.manner != "lenient"
        guessed |= world.guessed
    raises = unread.never_made(target)
    if not runs:
        return ScriptOutcome("unknown", gaps=(raises,))
    outcome = _weighed(runs, guessed, at_first)
    if is_made or outcome.verdict != "ok":
        return outcome
    return replace(outcome, verdict="unknown", gaps=(*outcome.gaps, raises))


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What became of a target that ``asked`` its world so, and got these answers; it took so many ``steps``."""

    asked: tuple[Asked, ...]
    compilation: Compilation
    steps: int


def _compiled(
    interp: PythonInterpreter, target: Target, subject: Value, known: dict[Hashable, list[_Compiled]]
) -> Compilation:
    """What compiling a target shows, which is ``known`` where nothing tells it from what another world made."""
    world = interp.world
    key = interp.program.structural_keys.of(subject) if isinstance(subject, ModuleValue) else subject
    for one in known.setdefault(key, []):
        if world.agrees(one.asked):
            world.spent += one.steps
            return one.compilation
    before = world.spent
    with world.heard() as asked:
        compilation = compile_target(interp, target, subject)
    known[key].append(_Compiled(tuple(asked), compilation, world.spent - before))
    return compilation


def _weighed(
    runs: list[tuple[Way | None, Compilation]], guessed: set[Question], at_first: frozenset[Question]
) -> ScriptOutcome:
    """What the worlds show; ``at_first`` are the guesses of the first, on which no ``ok`` is to rest."""
    first = runs[0][1]
    seen: dict[tuple[object, ...], Event] = {}
    for _, compilation in runs:
        for event in compilation.events:
            seen.setdefault(event.key, event)
    shown = [{event.key for event in compilation.events} for _, compilation in runs]
    events = [
        (event, _condition([way for way, _ in runs], [key in keys for keys in shown]))
        for key, event in seen.items()
    ]
    guesses = (
        run.gaps for way, run in runs if way is not None and not way.besides and _is_guess(way, at_first)
    )
    gaps = first.gaps or tuple({gap.key: gap for found in guesses for gap in found}.values())
    return ScriptOutcome(_verdict(runs, guessed, gaps), tuple(events), gaps)


def _is_guess(way: Way, guessed: Set[Question]) -> bool:
    return all(answer.asked in guessed for answer in way.turned)


def _condition(ways: list[Way | None], holds: list[bool]) -> str | None:
    """What tells the worlds in which something holds from the others; the first is by defaults."""
    if all(holds):
        return None
    there, away = (
        [way for way, is_held in zip(ways, holds, strict=True) if way is not None and is_held is wanted]
        for wanted in (True, False)
    )
    if not holds[0]:
        return anywhere(there, away)
    return elsewhere(away, there) if away else None


def _verdict(
    runs: list[tuple[Way | None, Compilation]], guessed: set[Question], gaps: tuple[Gap, ...]
) -> ScriptVerdict:
    """What all worlds show; the defaults decide where they decide every question."""
    outcomes = [outcome_of(compilation.events) for _, compilation in runs]
    first = runs[0][1]
    freed = [
        way
        for (way, _), outcome in zip(runs, outcomes, strict=True)
        if way is not None and outcome != "blocked"
    ]
    if outcomes[0] == "blocked" and not any(first.raises or _is_guess(way, guessed) for way in freed):
        return "blocked"
    if "blocked" in outcomes:
        return "depends"
    if all(outcome == "broken" for outcome in outcomes):
        return "broken"
    if "broken" in outcomes:
        return "depends"
    return "unknown" if gaps else "ok"


def _shown(way: Way | None, compilation: Compilation) -> Shown:
    """What a world shows against a target: whether it is always ``blocked`` hangs on what is guessed."""
    outcome = outcome_of(compilation.events)
    if outcome == "blocked":
        return "refused"
    return "settled" if outcome or (way is None and compilation.gaps) else "nothing"


def _of_own_code(target: Target, compilation: Compilation) -> Compilation:
    """What a compilation shows, with a gap for what makes a package's code go wrong if it is run: whether it is is not followed."""
    open_ones = [event for event in compilation.events if _only_breaks_elsewhere(target, event)]
    if not open_ones:
        return compilation
    gaps = []
    for event in open_ones:
        where = event.cause or event
        package, function = where.module.name.partition(".")[0], ".".join(where.chain[-1:]) or "code"
        why = f"{function} of {package} may go wrong when it is compiled, and whether it comes to that is not followed"
        gaps.append(Gap(event.module, event.span.line, why))
    events = tuple(event for event in compilation.events if event not in open_ones)
    return replace(compilation, events=events, gaps=(*compilation.gaps, *gaps))


def _only_breaks_elsewhere(target: Target, event: Event) -> bool:
    """Whether nothing but a run of another package's compiled code goes wrong."""
    where = event.cause or event
    return not is_own(target, where.module) and rule(where.rule).outcome == "broken"


def _matters(event: Event, compilation: Compilation) -> bool:
    """Whether something comes of an event: what a property computes that nobody reads makes no call wrong."""
    return event.key not in compilation.unread or rule(event.rule).outcome != "broken"


def outcome_of(events: tuple[Event, ...]) -> str:
    """What the events of one world mean: "blocked", "broken" or ""."""
    outcomes = {rule(event.rule).outcome for event in events}
    return "blocked" if "blocked" in outcomes else "broken" if "broken" in outcomes else ""
