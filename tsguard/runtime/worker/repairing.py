"""The task of one step of a repair: is the code still what it was to its callers, and does torch take it now?

The first time, what eager answers is kept in a file, with the types that its functions are called with.
Later copies of the code are held against that.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn

from tsguard.report import AttemptError
from tsguard.runtime import events
from tsguard.runtime.budgets import SECONDS_FOR_PARTS, SEEN_ELEMENTS
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import RepairJudged, Seen, SeenFunction
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.backends import forget_failures
from tsguard.runtime.worker.comparison import compare
from tsguard.runtime.worker.errors import described, first_line, user_places
from tsguard.runtime.worker.loading import parts_told
from tsguard.runtime.worker.parity import Eager, check
from tsguard.runtime.worker.prepare import Prepared, Stopped, prepare
from tsguard.runtime.worker.running import run


def judge(argument: dict[str, Any], channel: Channel) -> None:
    """Send what became of the code (``RepairJudged``), what eager was seen to pass (``Seen``) and what was imported."""
    with parts_told(channel):
        _judge(argument, channel)


def _judge(argument: dict[str, Any], channel: Channel) -> None:
    subject = Subject.from_json(argument["subject"])
    code = UserCode.around(subject.file, subject.module)
    kept = Path(argument["kept"])
    torch.set_num_threads(1)
    try:
        prepared = prepare(subject, channel)
    except Stopped as stop:
        channel.send(events.Stopped(stop.step, described(stop.cause, code), stop.needed))
        return
    channel.phase("eager")
    changed = None
    with torch.no_grad():
        eager = Eager(prepared.callee, prepared.call, backward=False)
        if not kept.exists():
            _keep(eager, prepared, kept)
        else:
            changed = _changed(eager, prepared, kept)
        channel.send(Seen(_observed(eager, code) if changed is None else ()))
        if changed is not None:
            channel.send(RepairJudged("changed", changed=changed))
            return
        channel.phase("script")
        channel.send(_scripted(eager, prepared, code))


def _parameters(callee: Any) -> list[inspect.Parameter]:
    function = callee.forward if isinstance(callee, nn.Module) else callee
    return list(inspect.signature(function).parameters.values())


def _signature(callee: Any) -> list[tuple[str, bool]]:
    """The named parameters of what is called, each with whether it may be left out."""
    found = _parameters(callee)
    return [
        (p.name, p.default is not p.empty) for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def _takes_any(callee: Any) -> bool:
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in _parameters(callee))


def _keys(callee: Any) -> list[str]:
    return list(callee.state_dict()) if isinstance(callee, nn.Module) else []


def _keep(eager: Eager, prepared: Prepared, kept: Path) -> None:
    # As it is before the first call, which may make parameters: the state dict of the mended code is read then, too.
    state = copy.deepcopy(prepared.callee.state_dict()) if isinstance(prepared.callee, nn.Module) else {}
    answers = {variant.name: result.output for variant, result in eager.answers}
    torch.save(
        {
            "answers": answers if eager.is_deterministic else {},
            "state": state,
            "signature": _signature(prepared.callee),
            "takes_any": _takes_any(prepared.callee),
        },
        kept,
    )


def _changed(eager: Eager, prepared: Prepared, kept: Path) -> str | None:
    """What callers of the code would see that was not so before; None where it is all the same."""
    before = torch.load(kept, weights_only=False)
    if list(before["state"]) != _keys(prepared.callee):
        return "the keys of its state dict differ"
    # What took any arguments may name those that it is given; the parameters that had names keep them.
    now = _signature(prepared.callee)
    named = [parameter for parameter in now if parameter in before["signature"]]
    if named != before["signature"] or (now != named and not before["takes_any"]):
        return "its parameters differ"
    if isinstance(prepared.callee, nn.Module):
        prepared.callee.load_state_dict(before["state"])
        eager = Eager(prepared.callee, prepared.call, backward=False)
    try:
        answers = {variant.name: result.output for variant, result in eager.answers}
    except Exception as error:
        return f"eager raises {first_line(error)}"
    for name, expected in before["answers"].items():
        if name in eager.unasked:
            continue  # there was no time for it, which says nothing of the code
        if name not in answers:
            return f"eager raises with {name}"
        outcome = compare(expected, answers[name], lambda: None)
        if not outcome.equal:
            return f"eager gives another result with {name}: {outcome.note}"
    return None


def _scripted(eager: Eager, prepared: Prepared, code: UserCode) -> RepairJudged:
    number = len(eager.answers)
    try:
        scripted = torch.jit.script(prepared.callee)
    except BaseException as error:
        forget_failures()
        failed, places = described(error, code), user_places(error, code)
        return RepairJudged("refused", failed, places, inputs=number, parts=_parts(prepared.callee))
    try:
        for _ in range(3):
            run(scripted, eager.call, eager.state, backward=False)
    except BaseException as error:
        return RepairJudged("raises", described(error, code), user_places(error, code), inputs=number)
    outcome = check(eager, scripted)
    if outcome.ok:
        return RepairJudged("ok", inputs=number)
    wrong = next((v for v in outcome.variants if not v.equal), None)
    text = (
        f"with {wrong.name}: {wrong.note or 'another result'}" if wrong is not None else "its buffers differ"
    )
    return RepairJudged("diverges", AttemptError("Divergence", text), inputs=number)


def _parts(callee: Any) -> tuple[str, ...]:
    """The outermost submodules that script by themselves, those with most parameters first."""
    found: dict[str, int] = {}
    started = time.monotonic()
    for path, module in callee.named_modules() if isinstance(callee, nn.Module) else ():
        if not path or any(path.startswith(f"{above}.") for above in found):
            continue
        if time.monotonic() - started > SECONDS_FOR_PARTS:
            break
        try:
            torch.jit.script(module)
        except BaseException:
            forget_failures()
            continue
        found[path] = sum(p.numel() for p in module.parameters())
    return tuple(sorted(found, key=lambda path: -found[path]))


# -- what eager passes -----------------------------------------------------------------------


def _observed(eager: Eager, code: UserCode) -> tuple[SeenFunction, ...]:
    """The functions of the user's code that one call of the target reaches, with the types that they take and give."""
    seen: dict[CodeType, dict[str, set[str]]] = {}
    results: dict[CodeType, set[tuple[str, int, str]]] = {}

    def watch(frame: FrameType, event: str, value: Any) -> None:
        made = frame.f_code
        known = event in ("call", "return") and not made.co_name.startswith("<")
        if not known or not code.owns(made.co_filename):
            return
        if event == "return":
            caller = frame.f_back
            while caller is not None and not code.owns(caller.f_code.co_filename):
                caller = caller.f_back
            if caller is not None:
                place = (caller.f_code.co_filename, caller.f_lineno, _type_of(value))
                results.setdefault(made, set()).add(place)
            return
        names = made.co_varnames[: made.co_argcount + made.co_kwonlyargcount]
        types = seen.setdefault(made, {})
        for name in names:
            if name in frame.f_locals:
                types.setdefault(name, set()).add(_type_of(frame.f_locals[name]))
        for name, given in _any_number(frame):
            types.setdefault(name, set()).add(given)

    _ = eager.first  # it tells how to call
    sys.setprofile(watch)
    try:
        run(eager.module, eager.call, eager.state, backward=False)
    finally:
        sys.setprofile(None)
    return tuple(
        SeenFunction(
            made.co_filename,
            made.co_firstlineno,
            made.co_name,
            {name: tuple(sorted(found)) for name, found in types.items()},
            tuple(sorted(results.get(made, ()))),
        )
        for made, types in seen.items()
    )


def _any_number(frame: FrameType) -> Iterator[tuple[str, str]]:
    """How many arguments ``*args`` of a function was given, and which names ``**kwargs`` was."""
    made = frame.f_code
    names = list(made.co_varnames[made.co_argcount + made.co_kwonlyargcount :])
    if made.co_flags & inspect.CO_VARARGS:
        name = names.pop(0)
        yield f"*{name}", str(len(frame.f_locals.get(name, ())))
    if made.co_flags & inspect.CO_VARKEYWORDS:
        name = names.pop(0)
        yield f"**{name}", ", ".join(frame.f_locals.get(name, ()))


def _type_of(value: Any) -> str:
    """What TorchScript calls the type of a value; "?" where it has none."""
    if value is None:
        return "NoneType"
    if isinstance(value, torch.Tensor):
        return "Tensor"
    if type(value) in (bool, int, float, str):
        return type(value).__name__
    if isinstance(value, torch.Size):
        return "List[int]"
    if type(value) is tuple and 0 < len(value) <= SEEN_ELEMENTS:
        return f"Tuple[{', '.join(map(_type_of, value))}]"
    if type(value) is list and value:
        inner = {_type_of(element) for element in value[:SEEN_ELEMENTS]}
        return f"List[{inner.pop()}]" if len(inner) == 1 else "?"
    if type(value) is dict and value:
        pairs = {(_type_of(key), _type_of(element)) for key, element in list(value.items())[:SEEN_ELEMENTS]}
        return f"Dict[{', '.join(pairs.pop())}]" if len(pairs) == 1 else "?"
    return "?"
