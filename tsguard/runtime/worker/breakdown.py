"""Where a model's time goes, submodule by submodule, and which are worth scripting.

Predictions from parts are too optimistic (scripting two neighbours does not add up), so
what is recommended is put together and measured end to end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from tsguard.report import AttemptError, AttemptStatus, Breakdown, Speedup, Submodule
from tsguard.runtime.budgets import ENOUGH_OF_THE_GAIN, LEAST_SHARE, MOST_SUBMODULES
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import BrokenDown
from tsguard.runtime.plan import Settings
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.applicable import NotApplicable
from tsguard.runtime.worker.backends import BACKENDS, forget_failures
from tsguard.runtime.worker.comparison import compare
from tsguard.runtime.worker.errors import TracerWarnings, described, first_line
from tsguard.runtime.worker.parity import Eager
from tsguard.runtime.worker.prepare import Stopped, prepare
from tsguard.runtime.worker.running import Call, run
from tsguard.runtime.worker.state import State
from tsguard.runtime.worker.timing import clock_for, measure, warm_up
from tsguard.runtime.worker.values import cloned, tensors


@dataclass(slots=True)
class _Node:
    """One distinct submodule: those of the same class, sizes and inputs count as one."""

    path: str
    module: nn.Module
    call: Call
    paths: list[str] = field(default_factory=list)
    seconds: float = 0.0
    statuses: dict[str, AttemptStatus] = field(default_factory=dict)
    speedup: Speedup | None = None
    errors: dict[str, AttemptError] = field(default_factory=dict)
    note: str | None = None
    scripted: Any = None


def breakdown(argument: dict[str, Any], channel: Channel) -> None:
    """Take a target apart and send its rows, then the recommendation."""
    subject = Subject.from_json(argument["subject"])
    settings = Settings(**argument["settings"])
    code = UserCode.around(subject.file, subject.module)
    torch.set_num_threads(settings.threads)
    try:
        prepared = prepare(subject, channel)
    except Stopped:
        return
    if isinstance(prepared.callee, nn.Module):
        eager = Eager(prepared.callee, prepared.call, backward=False)
        _ = eager.first
        with eager.call.in_mode(backward=False), TracerWarnings(code):
            _break_down(prepared.callee, eager.call, settings, channel, code)


def _break_down(root: nn.Module, call: Call, settings: Settings, channel: Channel, code: UserCode) -> None:
    channel.phase("look at the submodules")
    nodes = _observed(root, call)
    total = _seconds(root, call)
    for node in nodes:
        channel.phase(f"time {node.path}")
        node.seconds = _seconds(node.module, node.call)
    nodes.sort(key=lambda node: -node.seconds * len(node.paths))
    budget = settings.timing_seconds / max(len(nodes), 1)
    for node in nodes[MOST_SUBMODULES:]:
        node.note = f"not attempted: the {MOST_SUBMODULES} that take the most time are"
    for node in nodes[:MOST_SUBMODULES]:
        _try(node, channel, code, budget, worthwhile=node.seconds * len(node.paths) > LEAST_SHARE * total)
    rows = tuple(_row(node, total) for node in nodes)
    channel.send(BrokenDown(Breakdown(rows)))
    channel.phase("measure the recommendation end to end")
    found = _recommended(root, call, _choose(nodes), settings.timing_seconds)
    channel.send(BrokenDown(replace(found, submodules=rows)))


def _observed(root: nn.Module, call: Call) -> list[_Node]:
    """The distinct submodules that one call reaches, each with its first inputs."""
    nodes: dict[Any, _Node] = {}
    handles = []

    def watch(path: str) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            key = (type(module), _sizes(module), str([t.shape for t in tensors((args, kwargs))]))
            node = nodes.setdefault(
                key, _Node(path, module, replace(call, args=cloned(args), kwargs=cloned(kwargs)))
            )
            node.paths.append(path)

        return hook

    for path, module in _with_paths(root):
        if path:
            handles.append(module.register_forward_pre_hook(watch(path), with_kwargs=True))
    try:
        call.cloned().on(root)
    finally:
        for handle in handles:
            handle.remove()
    return list(nodes.values())


def _with_paths(root: nn.Module) -> list[tuple[str, nn.Module]]:
    return list(root.named_modules())


def _sizes(module: nn.Module) -> str:
    return f"{module.extra_repr()} {[(n, tuple(p.shape)) for n, p in module.named_parameters()]}"


def _seconds(module: nn.Module, call: Call) -> float:
    """The median of a few calls."""
    module(*call.args, **call.kwargs)
    times: list[float] = []
    started = time.monotonic()
    while len(times) < 5 or (time.monotonic() - started < 0.05 and len(times) < 100):
        before = time.thread_time()
        module(*call.args, **call.kwargs)
        times.append(time.thread_time() - before)
    return sorted(times)[len(times) // 2]


def _try(node: _Node, channel: Channel, code: UserCode, budget: float, *, worthwhile: bool) -> None:
    """Script and trace one submodule; time the scripted one where that may matter."""
    state = State.of(node.module)
    try:
        expected = run(node.module, node.call, state, backward=False)
    except Exception as error:
        # What its parent does around the call is missing: nothing is said of the submodule.
        node.note = f"not attempted: it does not run by itself, {first_line(error)}"
        return
    for backend in ("script", "trace"):
        channel.phase(f"{backend} {node.path}")
        try:
            built = BACKENDS[backend].make(node.module, node.call).callee
            actual = run(built, node.call, state, backward=False)
        except NotApplicable as reason:
            node.note = f"{backend}: {reason}"
            continue
        except Exception as error:
            forget_failures()
            node.statuses[backend] = "failed"
            node.errors[backend] = described(error, code)
            continue
        finally:
            state.restore(node.module)
        outcome = compare(expected.output, actual.output, lambda: None)
        node.statuses[backend] = "ok" if outcome.equal else "diverged"
        if not outcome.equal:
            node.errors[backend] = AttemptError("Divergence", outcome.note or "the result differs from eager")
        elif backend == "script" and worthwhile:
            node.scripted = built
            node.speedup = _paired(node.module, built, node.call, budget)
            node.note = None if node.speedup else "not timed: a call takes too long for --time-budget"
    if node.statuses.get("script") == "ok" and not worthwhile:
        node.note = f"not timed: below {LEAST_SHARE:.0%} of the time"


def _paired(eager: Any, attempt: Any, call: Call, budget: float) -> Speedup | None:
    def step(callee: Any) -> Any:
        return lambda: callee(*call.args, **call.kwargs)

    clock = clock_for("cpu", step(eager))
    for callee in (attempt, eager):
        warm_up(step(callee), clock, 5)
    found = measure(step(eager), step(attempt), clock, budget)
    return found.ratio.speedup() if found.ratio is not None else None


def _row(node: _Node, total: float) -> Submodule:
    return Submodule(
        path=node.path,
        type=f"{type(node.module).__module__}.{type(node.module).__qualname__}",
        calls=len(node.paths),
        share=node.seconds * len(node.paths) / total if total else None,
        script=node.statuses.get("script", "skipped"),
        trace=node.statuses.get("trace", "skipped"),
        speedup=node.speedup,
        error=node.errors.get("script") or node.errors.get("trace"),
        trace_error=node.errors.get("trace") if "script" in node.errors else None,
        note=node.note,
    )


def _choose(nodes: list[_Node]) -> list[_Node]:
    """The outermost submodules that are faster scripted, the fewest that give most of the gain."""
    faster = {path: n for n in nodes if _gain(n) > 0 for path in n.paths}
    outermost = {
        id(node): node for path, node in faster.items() if not any(p in faster for p in _parents(path))
    }
    ranked = sorted(outermost.values(), key=lambda n: -_gain(n))
    wanted = ENOUGH_OF_THE_GAIN * sum(map(_gain, ranked))
    chosen: list[_Node] = []
    while ranked and sum(map(_gain, chosen)) < wanted:
        chosen.append(ranked.pop(0))
    return chosen


def _parents(path: str) -> Iterator[str]:
    while "." in path:
        path = path.rpartition(".")[0]
        yield path


def _gain(node: _Node) -> float:
    """CPU seconds of one call of the whole that scripting this submodule saves, by itself."""
    if node.speedup is None or node.speedup.conclusion != "faster":
        return 0.0
    return node.seconds * len(node.paths) * (1 - 1 / node.speedup.median)


def _recommended(root: nn.Module, call: Call, chosen: list[_Node], budget: float) -> Breakdown:
    """The whole with the chosen submodules scripted, against the whole without."""
    if not chosen:
        return Breakdown(note="no submodule is faster when scripted by itself")
    paths = tuple(dict.fromkeys(path for node in chosen for path in node.paths))
    state = State.of(root)
    expected = run(root, call, state, backward=False)
    try:
        mixed = _Mixed(root, chosen)
        actual = run(mixed, call, state, backward=False)
    except Exception as error:
        return Breakdown(note=f"with {', '.join(paths)} scripted the whole raises {first_line(error)}")
    equal = compare(expected.output, actual.output, lambda: None).equal
    return Breakdown((), paths, _paired(root, mixed, call, budget), equal)


class _Mixed:
    """The root with submodules replaced by scripted ones while it is called."""

    def __init__(self, root: nn.Module, chosen: list[_Node]) -> None:
        self.root = root
        self.slots: list[tuple[dict[str, Any], str, Any, Any]] = []
        for node in chosen:
            for path in dict.fromkeys(node.paths):
                owner, _, name = path.rpartition(".")
                slots = root.get_submodule(owner)._modules
                original = slots[name]
                scripted = node.scripted if original is node.module else torch.jit.script(original)
                self.slots.append((slots, name, original, scripted))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for slots, name, _, scripted in self.slots:
            slots[name] = scripted
        try:
            return self.root(*args, **kwargs)
        finally:
            for slots, name, original, _ in self.slots:
                slots[name] = original
