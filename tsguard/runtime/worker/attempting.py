"""One attempt: built, compared with eager, saved, timed."""

from __future__ import annotations

import contextlib
import copy
import fcntl
import inspect
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.jit._fuser import optimized_execution

from tsguard.answer.facts import COMPILED_ALREADY, NOT_RUN
from tsguard.report import Attempt, AttemptError, Parity
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Artifact, Attempted
from tsguard.runtime.plan import AttemptSpec, Passes, Settings
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker import parity as compare
from tsguard.runtime.worker.applicable import NotApplicable
from tsguard.runtime.worker.backends import BACKENDS, forget_failures
from tsguard.runtime.worker.built import Built
from tsguard.runtime.worker.comparison import compare as close
from tsguard.runtime.worker.errors import TracerWarnings, described, first_line, user_places
from tsguard.runtime.worker.exporting import OpenCall
from tsguard.runtime.worker.opening import is_covered, opened, tries_others
from tsguard.runtime.worker.running import Call, learnable, run, scalar_loss
from tsguard.runtime.worker.saving import FORMS
from tsguard.runtime.worker.state import State
from tsguard.runtime.worker.timing import clock_for, measure, warm_up
from tsguard.runtime.worker.values import moved
from tsguard.runtime.worker.variants import InputVariant

_JIT = frozenset({"script", "trace", "freeze", "optimize_for_inference", "onednn"})
_REORDERED = "torch's optimiser draws random numbers in another order: compared without it"
_FEWEST_CALLS = {"eval": 5, "train": 8}


@dataclass(slots=True)
class Bench:
    """Eager on one device in one mode, and what attempts on it need.

    ``uncalled`` is the module before its first call where that made its parameters.
    """

    eager: compare.Eager
    settings: Settings
    channel: Channel
    code: UserCode
    uncalled: Any = None
    eager_warm: bool = False

    def subject(self, backend: str) -> Any:
        """What an attempt is made of: torch.jit is given what nobody has called before, as the linter is."""
        return self.uncalled if self.uncalled is not None and backend in _JIT else self.module

    @property
    def module(self) -> Any:
        return self.eager.module

    @property
    def passes(self) -> Passes:
        return "forward+backward" if self.eager.backward else "forward"


def attempt(
    bench: Bench, spec: AttemptSpec, report: Callable[[Attempted], None] = lambda known: None
) -> Attempted:
    """Make one attempt.

    Args:
        report: hears what is known before the attempt is timed.
    """
    settings, backend = bench.settings, BACKENDS[spec.backend]
    bench.channel.phase(spec.phase)
    if spec.mode == "train" and not backend.trains:
        note = f"{spec.backend} is tried in inference only"
        return Attempted(spec.ended("skipped", note=note, passes=bench.passes))
    known = spec.ended("ok", passes=bench.passes)
    with TracerWarnings(bench.code) as tracer:
        bench.eager.state.restore(bench.module)
        started = time.process_time()
        try:
            with bench.eager.call.in_mode(spec.mode == "train"):
                call = (
                    opened(bench.eager, settings.open_sizes) if backend.sizes == "open" else bench.eager.call
                )
                built = backend.make(bench.subject(spec.backend), call)
        except NotApplicable as reason:
            return Attempted(replace(known, status="skipped", note=str(reason)))
        except BaseException as error:
            failed = _failed(replace(known, warnings=tuple(tracer.found)), error, bench.code)
            forget_failures()
            return failed
        finally:
            bench.eager.state.restore(bench.module)
        seconds = time.process_time() - started
        known = replace(
            known, compile_seconds=seconds, warnings=tuple(tracer.found), breaks=tuple(built.breaks)
        )
        is_same = built.callee is bench.module
        if is_same:
            made = Attempted(replace(known, note=COMPILED_ALREADY))
        else:
            made = Attempted(known) if settings.only_time else _compared(known, bench, built.callee, call)
    if made.attempt.status != "ok":
        return made
    made = _saved(made, bench, built)
    if settings.timing_seconds > 0 and not is_same:
        # What is known stays known if timing does not survive.
        report(made)
        try:
            made = replace(made, attempt=_timed(made.attempt, bench, built.callee))
        except Exception as error:  # as a graph that was kept from the step before, and is used up
            note = f"not timed, a second step fails: {first_line(error)}"
            made = replace(made, attempt=replace(made.attempt, note=note))
    return made


def _failed(known: Attempt, error: BaseException, code: UserCode) -> Attempted:
    failed = replace(known, status="failed", error=described(error, code))
    return Attempted(failed, user_places(error, code))


def compiled_only(known: Attempt, callee: Any, channel: Channel, code: UserCode, why: str) -> Attempted:
    """Script a module that cannot be run, as ``why`` says: whether it compiles does not depend on inputs."""
    channel.phase(AttemptSpec.of(known).phase)
    with TracerWarnings(code):
        started = time.process_time()
        try:
            torch.jit.script(callee)
        except Exception as error:
            forget_failures()
            return _failed(known, error, code)
    seconds = time.process_time() - started
    return Attempted(replace(known, compile_seconds=seconds, note=f"{NOT_RUN}, {why}"))


def _compared(known: Attempt, bench: Bench, built: Any, call: Call) -> Attempted:
    spec = AttemptSpec.of(known)
    try:
        first = run(built, bench.eager.call, bench.eager.state, backward=bench.eager.backward)
    except BaseException as error:
        return _failed(known, error, bench.code)
    outcome = compare.check(bench.eager, built, first=first, covers=_covers(bench, call, spec))
    drawn = None if outcome.ok else _as_drawn(bench, built, spec)
    known = replace(known, parity=drawn or outcome)
    if not outcome.ok and drawn is None:
        return Attempted(replace(known, status="diverged", error=_divergence(outcome)))
    notes = [_REORDERED] if drawn is not None else []
    if spec.backend == "trace" and spec.device != "cpu" and (wrong := _moved_from_cpu(bench, spec)):
        notes.append(f"a trace made on the CPU does not work on {spec.device}: {wrong}")
    elif spec.backend == "trace" and compare.follows_mode(bench.eager, built) is False:
        notes.append(f"the trace keeps the mode it was made in: {spec.mode}()")
    elif isinstance(call, OpenCall) and not tries_others(bench.eager, call):
        notes.append("eager accepted no other size in the dynamic dimensions: none was tried")
    return Attempted(replace(known, note="; ".join(notes) or None))


def _as_drawn(bench: Bench, built: Any, spec: AttemptSpec) -> Parity | None:
    """The parity of a compiled module that draws its random numbers as written; None if that is not the difference."""
    if not isinstance(built, (torch.jit.ScriptModule, torch.jit.ScriptFunction)) or not bench.eager.is_random:
        return None
    # What has run keeps the plan by which it ran: only what is read anew gets another.
    saved = io.BytesIO()
    try:
        torch.jit.save(built, saved)
        saved.seek(0)
        with optimized_execution(False):
            again = torch.jit.load(saved, map_location=spec.device)
            outcome = compare.check(bench.eager, again)
    except Exception:
        return None
    return outcome if outcome.ok else None


def _covers(bench: Bench, call: Call, spec: AttemptSpec) -> Callable[[InputVariant], bool]:
    if isinstance(call, OpenCall):
        return lambda variant: is_covered(variant, bench.eager.call, call)
    fixed = BACKENDS[spec.backend].sizes == "fixed"
    return lambda variant: not fixed or variant.note is None


def _moved_from_cpu(bench: Bench, spec: AttemptSpec) -> str | None:
    """What goes wrong with a trace that is made on the CPU and then moved to the device.

    Tensors that the code makes on a fixed device stay there, and a trace fixes the device.
    """
    args, kwargs = moved((bench.eager.call.args, bench.eager.call.kwargs), "cpu")
    try:
        bench.eager.state.restore()
        module = copy.deepcopy(bench.module).cpu()
        traced = (
            BACKENDS["trace"]
            .make(module, replace(bench.eager.call, args=args, kwargs=kwargs))
            .callee.to(spec.device)
        )
        actual = run(traced, bench.eager.call, State.of(traced), backward=False)
    except Exception as error:
        return first_line(error)
    outcome = close(bench.eager.first.output, actual.output, lambda: None)
    return None if outcome.equal else outcome.note


def _divergence(parity: Parity) -> AttemptError:
    shown = next((v for v in parity.variants if not v.equal), None)
    if shown is None:
        return AttemptError("Divergence", "gradients or buffers differ from eager's")
    return AttemptError("Divergence", f"with {shown.name}: {shown.note or 'the result differs from eager'}")


def _saved(made: Attempted, bench: Bench, built: Built) -> Attempted:
    """Save the artifact beside its inputs and eager's outputs, for a process without the code."""
    spec = AttemptSpec.of(made.attempt)
    folder, kind = bench.settings.folder, BACKENDS[spec.backend].saved_as
    if folder is None or kind is None or spec.mode == "train":
        return made
    stem = Path(folder) / spec.phase.replace(" ", "-").replace(":", "")
    form = FORMS[kind]
    path, example = f"{stem}{form.suffix}", f"{stem}.example.pt"
    try:
        form.write(built.callee if built.program is None else built.program, path)
        args, kwargs = _passed(bench)
        torch.save((args, kwargs, bench.eager.call.gradients, bench.eager.first.output), example)
        torch.load(example, weights_only=True)
    except Exception as error:
        if Path(path).exists() and not isinstance(error, RuntimeError):
            return replace(made, artifact=Artifact(path, kind))
        note = f"cannot be saved: {described(error, bench.code).message.partition(chr(10))[0]}"
        return replace(made, attempt=replace(made.attempt, saved=False, note=note))
    return replace(made, artifact=Artifact(path, kind, example))


def _passed(bench: Bench) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that a saved artifact needs: a function's file does not keep its defaults."""
    call = bench.eager.call
    if isinstance(bench.module, nn.Module):
        return call.args, call.kwargs
    bound = inspect.signature(bench.module).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _timed(known: Attempt, bench: Bench, built: Any) -> Attempt:
    settings, spec = bench.settings, AttemptSpec.of(known)
    fewest = _FEWEST_CALLS[spec.mode]
    with _alone(settings, bench.channel, spec), bench.eager.call.in_mode(spec.mode == "train"):
        eager, candidate = (_step(bench, callee, spec) for callee in (bench.module, built))
        clock = clock_for(spec.device, eager)
        warm = warm_up(candidate, clock, fewest)
        warm_up(eager, clock, 2 if bench.eager_warm else fewest)
        bench.eager_warm = True
        found = measure(eager, candidate, clock, settings.timing_seconds)
        _forget_gradients(bench.module, built)
    too_long = (
        f"not timed: one call takes {found.seconds:.1f} s, eager's {found.eager_seconds:.1f} s,"
        " too long for --time-budget"
    )
    return replace(
        known,
        warm_up_calls=warm.calls,
        first_call_seconds=warm.first,
        seconds=found.seconds,
        eager_seconds=found.eager_seconds,
        speedup=found.ratio.speedup() if found.ratio is not None else None,
        note=known.note if found.ratio is not None else too_long,
    )


@contextlib.contextmanager
def _alone(settings: Settings, channel: Channel, spec: AttemptSpec) -> Iterator[None]:
    """Hold the timing lock; waiting for it does not count against the attempt."""
    lock = settings.timing_lock
    # Timing limits itself; a busy machine may make it long.
    seconds = 120 + 20 * settings.timing_seconds
    if lock is None:
        channel.phase(f"time {spec.phase}", seconds)
        yield
        return
    with open(lock, "ab") as file:
        channel.phase(f"wait to time {spec.phase}", seconds=24 * 3600.0)
        # Unlike flock's, this lock is the process's own: what it forks cannot hold it.
        fcntl.lockf(file, fcntl.LOCK_EX)
        channel.phase(f"time {spec.phase}", seconds)
        yield


def _step(bench: Bench, callee: Any, spec: AttemptSpec) -> Callable[[], object]:
    """One call, or one call with its backward pass; changed inputs are copied each time."""
    call: Call = bench.eager.call.cloned()
    args, kwargs = call.args, call.kwargs
    if bench.eager.mutates_inputs:

        def forward() -> Any:
            fresh = call.cloned()
            return callee(*fresh.args, **fresh.kwargs)
    elif kwargs:

        def forward() -> Any:
            return callee(*args, **kwargs)
    else:

        def forward() -> Any:
            return callee(*args)

    if spec.mode == "eval" or not bench.eager.backward:
        return forward

    def training_step() -> None:
        loss = scalar_loss(forward())
        if loss is not None:
            loss.backward()

    return training_step


def _forget_gradients(*callees: Any) -> None:
    for callee in callees:
        for parameter in learnable(callee).values():
            parameter.grad = None


def place_on(callee: Any, device: str, dtype: str | None) -> Any:
    """The module on a device, or a copy of it in a dtype; functions are nowhere."""
    if not isinstance(callee, nn.Module):
        return callee
    return copy.deepcopy(callee).to(device, getattr(torch, dtype)) if dtype else callee.to(device)
