"""The task of one target: prepare it, then make the attempts that were asked for."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from tsguard.runtime.channel import Channel
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


_MOST_GUESSES = 3
_REFUSED_TYPE = re.compile(
    r"\w+\(\) Expected a value of type '(?P<wanted>.+?)(?: \(inferred\))?' for argument '(?P<argument>\w+)'"
    r" but instead found type '(?P<found>.+?)'"
)


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
        last = prepared.source != "inferred" or len(compiled) >= _MOST_GUESSES
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
    error = described(stop.cause, code)
    channel.send(
        "stopped",
        step=stop.step,
        error=asdict(error),
        needed=list(stop.needed),
        fault=not isinstance(stop.cause, Exception),
        places=user_places(stop.cause, code),
    )
    for spec in specs if stop.callee is not None else ():
        if spec.backend == "script" and spec.device == "cpu":
            if isinstance(stop.callee, nn.Module):
                stop.callee.train(spec.mode == "train")
            why = "the inputs that were given do not fit" if stop.given else "there are no inputs"
            result = compiled_only(stop.callee, spec, channel, code, why)
            channel.send("attempt", spec=asdict(spec), **result)


def _attempt_group(
    prepared: Prepared,
    specs: list[AttemptSpec],
    where: tuple[str, str, str | None],
    settings: Settings,
    channel: Channel,
    code: UserCode,
    again: bool,
) -> None:
    device, mode, dtype = where
    eager = None
    try:
        eager, note = _run_eager(prepared, where, channel)
        fields: dict[str, Any] = {"status": "ok", "note": note}
        if not settings.only_time and not eager.is_deterministic():
            fields["note"] = "the result differs from call to call with the same inputs, seed and state"
    except BaseException as error:
        fields = {
            "status": "failed",
            "error": asdict(described(error, code)),
            "places": user_places(error, code),
        }
    passes = "forward+backward" if eager is not None and eager.backward else "forward"
    spec = {"backend": "eager", "device": device, "mode": mode, "dtype": dtype}
    channel.send("attempt", spec=spec, passes=passes, **fields)
    for wanted in specs:
        send = functools.partial(channel.send, "attempt", spec=asdict(wanted), passes=passes)
        if fields["status"] == "ok" and eager is not None:
            bench = Bench(eager, settings, channel, code)
            result = attempt(bench, wanted, lambda known, send=send: send(**known))  # type: ignore[misc]
            if prepared.guessed_inputs:
                result = _held_against_guess(result, again)
        elif wanted.backend == "script":
            why = "eager itself fails on these inputs"
            result = compiled_only(prepared.callee, wanted, channel, code, why)
        else:
            result = {"status": "skipped", "note": "eager itself fails on these inputs"}
        send(**result)


def _run_eager(
    prepared: Prepared, where: tuple[str, str, str | None], channel: Channel
) -> tuple[Eager, str | None]:
    """Eager after its first run, and what is to be said of its inputs: in training a guess may need more.

    Raises:
        BaseException: it fails, in training on every guess.
    """
    phase = AttemptSpec("eager", *where).phase  # type: ignore[arg-type]
    channel.phase(phase)
    try:
        eager = _eager(prepared, *where)
        _ = eager.first
    except Exception:
        trains = where[1] == "train" and prepared.guessed_inputs
        other = guess_for_training(prepared, channel) if trains else None
        channel.phase(phase)
        if other is None:
            raise
        eager = _eager(other, *where)
        _ = eager.first
        return eager, f"called in training with {', '.join(other.inputs or ())}"
    return eager, None


def _held_against_guess(result: dict[str, Any], again: bool) -> dict[str, Any]:
    """A refusal of the type of a guessed input tells of the guess, not of the target.

    Raises:
        _WrongGuess: there is another guess to be made.
    """
    match = _REFUSED_TYPE.match(result["error"]["message"]) if result["status"] == "failed" else None
    if match is None:
        return result
    if again:
        raise _WrongGuess(match["argument"], in_python(match["wanted"]))
    note = (
        f"not run: it compiles and takes {match['wanted']} for {match['argument']}, where eager was found"
        f" to run with {match['found']} only; give the inputs with --input"
    )
    return {"status": "skipped", "note": note, "compile_seconds": result.get("compile_seconds", 0.0)}


def _eager(prepared: Prepared, device: str, mode: str, dtype: str | None) -> Eager:
    callee = place_on(prepared.callee, device, dtype)
    number = getattr(torch, dtype) if dtype else None
    args, kwargs = moved((prepared.call.args, prepared.call.kwargs), device, number)
    if isinstance(callee, nn.Module):
        callee.train(mode == "train")
    call = Call(args, kwargs)
    backward = mode == "train" and _can_learn(callee, call)
    return Eager(callee, call, backward=backward)


def _can_learn(callee: Any, call: Call) -> bool:
    """Whether a backward pass means anything: parameters, or inputs that gradients may reach."""
    if learnable(callee):
        return True
    inputs = floating((call.args, call.kwargs))
    for tensor in inputs:
        tensor.requires_grad_(True)
    return bool(inputs)
