"""Mixed advice: the parts of a target that are to be scripted and the rest traced, or the other way round."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from tsguard.analysis.events import Event
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.script import compile_target, compiles
from tsguard.analysis.subjects import first_built
from tsguard.analysis.trace.walk import TraceResult, trace_target
from tsguard.analysis.values import External, ModuleValue, TensorValue, Unknown, Value
from tsguard.analysis.worlds import BudgetExceeded, World
from tsguard.language.rule_names import RuleName
from tsguard.project import Target
from tsguard.report.records import dataclass
from tsguard.rules import rule

# Each is compiled by itself, and again with what is below it: enough for what people put together by hand.
_MOST_PARTS = 200


def script_parts(
    program: Program, target: Target, world: World, subject: Value, walk: TraceResult
) -> Event | None:
    """Advice to script the submodules in which all that goes wrong in a trace lies; None where that is no way."""
    if not isinstance(subject, ModuleValue):
        return None
    paths = {id(module): path for path, module in _submodules(subject)}
    chosen: dict[str, None] = {}
    for event, part in zip(walk.events, walk.parts, strict=True):
        if rule(event.rule).outcome == "hazardous":
            path = paths.get(id(part))
            if part is None or path is None:
                return None
            if path not in chosen and not _scripts(program, target, world, part):
                return None
            chosen[path] = None
    if not chosen:
        return None
    return _advice("script-part", target, list(chosen))


def trace_parts(program: Program, target: Target) -> Event | None:
    """Advice to trace the submodules in which all that torch.jit.script refuses lies; None where that is no way."""
    try:
        found = first_built(program, target)
        if found is None or not isinstance(found.value, ModuleValue):
            return None
        world, subject = found.world, found.value
        search = _Search(program, target, world)
        if len(list(_submodules(subject))) > _MOST_PARTS or search.refuses_itself(subject):
            return None
        chosen = list(search.below(subject))
        with _traced(program, chosen):
            if not chosen or not _scripts(program, target, world, subject):
                return None
    except BudgetExceeded:
        return None
    if not all(_traces_tensor_to_tensor(program, target, world, place.part) for place in chosen):
        return None
    return _advice("script-part/rest", target, [place.path for place in chosen])


def _advice(rule_name: RuleName, target: Target, names: list[str]) -> Event:
    facts = {"parts": " and ".join(f'"{name}"' for name in names), "first": names[0]}
    return Event(rule_name, target.module, target.module.file.span(target.node), facts)


@dataclass(frozen=True, slots=True)
class _Place:
    """A submodule and where it hangs."""

    path: str
    parent: ModuleValue
    name: str
    part: ModuleValue


class _Search:
    """The smallest submodules that keep the modules above them from being scripted; one may hold itself.

    Submodules that nothing tells apart are asked once.
    """

    def __init__(self, program: Program, target: Target, world: World) -> None:
        self._program = program
        self._scripts: Callable[[ModuleValue], bool] = partial(_scripts, program, target, world)
        self._refuses: Callable[[ModuleValue], bool] = partial(_refuses, program, target, world)
        self._alone: dict[Hashable, bool] = {}
        self._without: dict[Hashable, bool] = {}

    def refuses_itself(self, module: ModuleValue) -> bool:
        """Whether a module's own code keeps it from being scripted, whatever its submodules are."""
        places = [
            _Place("", module, name, child)
            for name, child in module.children.items()
            if isinstance(child, ModuleValue)
        ]
        with _replaced(self._program, places, Unknown):
            return self._refuses(module)

    def below(
        self, root: ModuleValue, prefix: str = "", above: tuple[ModuleValue, ...] = ()
    ) -> Iterator[_Place]:
        above = (*above, root)
        for name, child in root.children.items():
            if not isinstance(child, ModuleValue) or any(child is module for module in above):
                continue
            key = self._program.structural_keys.of(child)
            if key not in self._alone:
                self._alone[key] = self._scripts(child)
            if self._alone[key]:
                continue
            path = f"{prefix}.{name}" if prefix else name
            if key not in self._without and self.refuses_itself(child):
                self._without[key] = False
            below = list(self.below(child, path, above)) if self._without.get(key, True) else []
            if key not in self._without:
                self._without[key] = bool(below) and self._scripts_without(child, below)
            yield from below if self._without[key] else [_Place(path, root, name, child)]

    def _scripts_without(self, module: ModuleValue, places: list[_Place]) -> bool:
        """Whether a module scripts once submodules of it are traced."""
        with _traced(self._program, places):
            return self._scripts(module)


def _traced(program: Program, places: list[_Place]) -> AbstractContextManager[None]:
    """With the submodules in these places traced: to who calls it, a trace is a module that takes a tensor."""
    return _replaced(program, places, lambda: ModuleValue(External("torch.nn.Identity"), initialized=True))


@contextmanager
def _replaced(program: Program, places: list[_Place], other: Callable[[], Value]) -> Iterator[None]:
    """With other values in these places."""
    for place in places:
        place.parent.children[place.name] = other()
    program.structural_keys.forget()
    try:
        yield
    finally:
        for place in places:
            place.parent.children[place.name] = place.part
        program.structural_keys.forget()


def _traces_tensor_to_tensor(program: Program, target: Target, world: World, part: ModuleValue) -> bool:
    """Whether the trace of a submodule goes well, takes one tensor and returns one."""
    walk = trace_target(PythonInterpreter(program, World({**world.given, **world.answers})), target, part)
    harmless = not any(rule(event.rule).outcome == "hazardous" for event in walk.events)
    returned = [isinstance(value, TensorValue) for value in walk.outputs]
    return harmless and not walk.gaps and bool(returned) and all(returned)


def _submodules(root: ModuleValue) -> Iterator[tuple[str, ModuleValue]]:
    """The modules below a module, each once and with its path; one may hold itself."""
    seen = {id(root)}
    pending = [("", root)]
    while pending:
        prefix, module = pending.pop()
        for name, child in module.children.items():
            if isinstance(child, ModuleValue) and id(child) not in seen:
                seen.add(id(child))
                path = f"{prefix}.{name}" if prefix else name
                yield path, child
                pending.append((path, child))


def _scripts(program: Program, target: Target, world: World, part: ModuleValue) -> bool:
    """Whether torch.jit.script takes a submodule."""
    interp = PythonInterpreter(program, World({**world.given, **world.answers}))
    try:
        return compiles(interp, target, part, _is_refusal)
    except BudgetExceeded:
        return False


def _refuses(program: Program, target: Target, world: World, part: ModuleValue) -> bool:
    """Whether torch.jit.script refuses a submodule for what is known of it."""
    interp = PythonInterpreter(program, World({**world.given, **world.answers}))
    return any(map(_is_refusal, compile_target(interp, target, part).events))


def _is_refusal(event: Event) -> bool:
    return rule(event.rule).outcome in ("blocked", "broken")
