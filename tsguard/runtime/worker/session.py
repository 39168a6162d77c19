"""The task of one target: prepare it, then make the attempts that were asked for."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import nn

from tsguard.report import Attempt
from tsguard.runtime import events
from tsguard.runtime.budgets import MOST_GUESSES
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Attempted
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.attempting import Bench, attempt, compiled_only, place_on
from tsguard.runtime.worker.errors import described, user_places
from tsguard.runtime.worker.inputs.declared import in_python
from tsguard.runtime.worker.parity import Eager
from tsguard.runtime.worker.prepare import Prepared, Stopped, guess_again, guess_for_training, prepare
from tsguard.runtime.worker.running import Call, learnable
from tsguard.runtime.worker.values import floating, moved

__all__ = ["attempts"]


_REFUSED_TYPE = re.compile(
    r"\w+\(\) Expected a value of type '(?P<wanted>.+?)(?: \(inferred\))?' for argument '(?P<argument>\w+)'"
    r" but instead found type '(?P<found>.+?)'"
)


_VARIES = "the result differs from call to call with the same inputs, seed and state"


class _WrongGuess(Exception):
    """The compiled target takes another type for an argument that was guessed."""

    def __init__(self, argument: str, wanted: Any) -> None:
        super().__init__(argument)
        self.argument = argument
        self.wanted = wanted


def attempts(argument: dict[str, Any], channel: Channel) -> None:
    """Make the attempts on one target, sending each as it is done."""
    subject = Subject.from_json(argument["subject"])
    settings = Settings(**argument["settings"])
    specs = [AttemptSpec(**spec) for spec in argument["attempts"]]
    code = UserCode.around(subject.file, subject.module)
    torch.set_num_threads(settings.threads)
    try:
        prepared = prepare(subject, channel)
    except Stopped as stop:
        _report_stop(stop, specs, channel, code)
        return
    compiled: dict[str, Any] = {}
    while True:
        last = prepared.source != "inferred" or len(compiled) >= MOST_GUESSES
        try:
            _attempt_all(prepared, specs, settings, channel, code, again=not last)
            return
        except _WrongGuess as wrong:
            known = wrong.argument in compiled
            compiled[wrong.argument] = wrong.wanted
        found = None if known else guess_again(prepared, compiled, channel)
        if found is None:
            _attempt_all(prepared, specs, settings, channel, code, again=False)
            return
        prepared = found


def _attempt_all(
    prepared: Prepared,
    specs: list[AttemptSpec],
    settings: Settings,
    channel: Channel,
    code: UserCode,
    *,
    again: bool,
) -> None:
    """Make the attempts; raise what shows inputs to be guessed wrong, if they can be guessed ``again``."""
    for (device, mode, dtype), group in itertools.groupby(specs, lambda s: (s.device, s.mode, s.dtype)):
        _attempt_group(prepared, list(group), (device, mode, dtype), settings, channel, code, again)


def _report_stop(stop: Stopped, specs: list[AttemptSpec], channel: Channel, code: UserCode) -> None:
    """Say why there is no call; what needs none is attempted all the same."""
    is_fault = not isinstance(stop.cause, Exception)
    channel.send(events.Stopped(stop.step, described(stop.cause, code), stop.needed, is_fault))
    for spec in specs if stop.callee is not None else ():
        if spec.backend == "script" and spec.device == "cpu":
            if isinstance(stop.callee, nn.Module):
                stop.callee.train(spec.mode == "train")
            why = "the given inputs do not fit" if stop.given else "no inputs were found"
            channel.send(compiled_only(spec.ended("ok"), stop.callee, channel, code, why))


def _attempt_group(
    prepared: Prepared,
    specs: list[AttemptSpec],
    where: tuple[str, Literal["eval", "train"], str | None],
    settings: Settings,
    channel: Channel,
    code: UserCode,
    again: bool,
) -> None:
    spec = AttemptSpec("eager", *where)
    eager, passes = None, spec.ended("ok").passes
    try:
        eager, note = _run_eager(prepared, spec, channel)
        passes = "forward+backward" if eager.backward else "forward"
        ran = Attempted(spec.ended("ok", note=note, passes=passes))
    except BaseException as error:
        failed = spec.ended("failed", described(error, code), passes=passes)
        ran = Attempted(failed, user_places(error, code))
    channel.send(ran)
    why = "eager itself fails on these inputs"
    compared, repeated = False, settings.only_time
    for wanted in specs:
        if ran.attempt.status == "ok" and eager is not None:
            bench = Bench(eager, settings, channel, code, prepared.uncalled)
            made = attempt(bench, wanted, channel.send)
            compared |= made.attempt.parity is not None
            repeated |= _repeats(made.attempt)
            channel.send(_held_against_guess(made, again) if prepared.guessed_inputs else made)
        elif wanted.backend == "script":
            known = wanted.ended("ok", passes=passes)
            channel.send(compiled_only(known, prepared.callee, channel, code, why))
        else:
            channel.send(Attempted(wanted.ended("skipped", note=why, passes=passes)))
    if eager is not None and compared and not repeated:
        channel.phase(spec.phase)
        if not eager.is_deterministic:
            channel.send(Attempted(replace(ran.attempt, note=_VARIES)))


def _repeats(made: Attempt) -> bool:
    """Whether an attempt gave what eager did to the last bit, so that eager does not differ from call to call."""
    parity = made.parity
    return parity is not None and parity.ok and all(variant.max_error == 0 for variant in parity.variants)


def _run_eager(prepared: Prepared, spec: AttemptSpec, channel: Channel) -> tuple[Eager, str | None]:
    """Eager after its first run, and what is to be said of its inputs: in training a guess may need more.

    Raises:
        BaseException: it fails, in training on every guess.
    """
    channel.phase(spec.phase)
    try:
        return _ran(prepared, spec), None
    except Exception:
        trains = spec.mode == "train" and prepared.guessed_inputs
        other = guess_for_training(prepared, channel) if trains else None
        channel.phase(spec.phase)
        if other is None:
            raise
        return _ran(other, spec), f"called in training with {', '.join(other.inputs or ())}"


def _ran(prepared: Prepared, spec: AttemptSpec) -> Eager:
    """Eager after its first run.

    Raises:
        BaseException: it fails.
    """
    eager = _eager(prepared, spec)
    try:
        _ = eager.first
    except Exception:
        if not eager.backward or learnable(eager.module):
            raise
        # Its inputs were made to require gradients only for there to be any.
        eager = _eager(prepared, spec, learns=False)
        _ = eager.first
    return eager


def _held_against_guess(made: Attempted, again: bool) -> Attempted:
    """A refusal of the type of a guessed input tells of the guess, not of the target.

    Raises:
        _WrongGuess: there is another guess to be made.
    """
    error = made.attempt.error
    failed = error is not None and made.attempt.status == "failed"
    match = _REFUSED_TYPE.match(error.message) if failed and error is not None else None
    if match is None:
        return made
    if again:
        raise _WrongGuess(match["argument"], in_python(match["wanted"]))
    note = (
        f"not run: it compiles and takes {match['wanted']} for {match['argument']}, where eager was found"
        f" to run with {match['found']} only; give the inputs with --input"
    )
    skipped = AttemptSpec.of(made.attempt).ended("skipped", note=note, passes=made.attempt.passes)
    return Attempted(replace(skipped, compile_seconds=made.attempt.compile_seconds))


def _eager(prepared: Prepared, spec: AttemptSpec, *, learns: bool = True) -> Eager:
    device, mode, dtype = spec.device, spec.mode, spec.dtype
    callee = place_on(prepared.callee, device, dtype)
    number = getattr(torch, dtype) if dtype else None
    args, kwargs = moved((prepared.call.args, prepared.call.kwargs), device, number)
    if isinstance(callee, nn.Module):
        callee.train(mode == "train")
    call = Call(args, kwargs).cloned()
    backward = mode == "train" and learns and _can_learn(callee, call)
    return Eager(callee, call, backward=backward)


def _can_learn(callee: Any, call: Call) -> bool:
    """Whether a backward pass means anything: parameters, or inputs that gradients may reach."""
    if learnable(callee):
        return True
    inputs = floating((call.args, call.kwargs))
    for tensor in inputs:
        tensor.requires_grad_(True)
    return bool(inputs)
