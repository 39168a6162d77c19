"""From a target to something that can be called: imported, constructed, with inputs."""

from __future__ import annotations

import difflib
import functools
import inspect
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch
from torch import nn

from tsguard.runtime.budgets import MOST_CONSTRUCTIONS, SECONDS_FOR_OTHERS, TRIES_FOR_OTHERS
from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Constructed, InputsFound, InputSource
from tsguard.runtime.subject import Subject
from tsguard.runtime.worker import lazy_layers
from tsguard.runtime.worker.conditions import is_unwritten
from tsguard.runtime.worker.constructing.construct import CannotConstruct, candidates
from tsguard.runtime.worker.errors import message_of
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.inputs import search
from tsguard.runtime.worker.inputs.specs import Guess
from tsguard.runtime.worker.loading import evaluate, import_file, look_up, parts_told
from tsguard.runtime.worker.rationing import rationed
from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.state import State, seed_everything
from tsguard.runtime.worker.values import cloned

_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", re.DOTALL)


class Stopped(Exception):
    """A target that cannot be attempted further: the step, the cause, what to add.

    ``callee`` is what there is all the same: a module that no inputs were found for;
    ``given`` tells that the inputs were the user's.
    """

    def __init__(
        self,
        step: str,
        cause: BaseException,
        needed: tuple[str, ...] = (),
        callee: Any = None,
        *,
        given: bool = False,
    ) -> None:
        super().__init__(step)
        self.step = step
        self.cause = cause
        self.needed = needed
        self.callee = callee
        self.given = given


@contextmanager
def _step(name: str, callee: Any = None, *, given: bool = False) -> Iterator[None]:
    """Run the user's code for one step: whatever it raises stops the target there."""
    try:
        yield
    except CannotConstruct as error:
        raise Stopped(name, error.error, error.needed) from None
    except BaseException as error:
        raise Stopped(name, error, callee=callee, given=given) from None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Something callable and the arguments of a call.

    ``expression`` makes it, ``inputs`` make the arguments; either is None when it comes
    from ``get_module()`` or ``example_inputs()`` of the file, as ``source`` says.  Where layers
    had no parameters before their first call, ``uncalled`` is what there was.
    """

    callee: Any
    call: Call
    expression: str | None
    inputs: tuple[str, ...] | None
    source: InputSource
    module: ModuleType
    guessed_inputs: bool = False
    uncalled: nn.Module | None = None


def prepare(subject: Subject, channel: Channel) -> Prepared:
    """Import, construct and find inputs, in this order.

    Raises:
        Stopped: one of the steps fails.
    """
    module = _imported(subject, channel)
    stopped: Stopped | None = None
    heard: list[str] = []
    started = time.monotonic()
    for made in itertools.islice(_made(subject, module, channel, heard), MOST_CONSTRUCTIONS):
        if isinstance(made.callee, nn.Module):
            made.callee.eval()
        channel.send(Constructed(made.expression, made.guessed))
        channel.phase("inputs")
        try:
            tries = TRIES_FOR_OTHERS if stopped is not None else search.MOST_TRIES
            call, inputs, source = _inputs(subject, module, made, channel, tries)
        except Stopped as stop:
            if not isinstance(stop.cause, Exception):
                raise
            # Other constructor arguments may do, unless these were given or need no guess.
            stopped = stopped or stop
            heard.append(message_of(stop.cause))
            if time.monotonic() - started > SECONDS_FOR_OTHERS:
                break
            continue
        channel.send(InputsFound(inputs, source))
        uncalled = lazy_layers.before_calling(made.callee, call)
        own = source == "inferred" or (subject.guessed and source == "given")
        return Prepared(made.callee, call, made.expression, inputs, source, module, own, uncalled)
    assert stopped is not None
    raise stopped


def guess_again(prepared: Prepared, compiled: Mapping[str, Any], channel: Channel) -> Prepared | None:
    """The same with inputs of the types that the compiled target takes; None if eager runs with none.

    Args:
        compiled: those types, by argument.
    """
    if isinstance(prepared.callee, nn.Module):
        prepared.callee.eval()
    found = _searched(prepared, compiled, channel, search.MOST_TRIES)
    if found is not None:
        channel.send(InputsFound(found.inputs, "inferred"))
    return found


def guess_for_training(prepared: Prepared, channel: Channel) -> Prepared | None:
    """The same with inputs that it takes in training, where it asks for more; None if there are none."""
    if not isinstance(prepared.callee, nn.Module):
        return None
    prepared.callee.train()
    return _searched(prepared, {}, channel, TRIES_FOR_OTHERS)


def _searched(
    prepared: Prepared, compiled: Mapping[str, Any], channel: Channel, tries: int
) -> Prepared | None:
    channel.phase("inputs")
    look = functools.partial(search.find, prepared.callee, prepared.module, _teller(channel), compiled, tries)
    with rationed(channel.process, channel.memory_mb):
        found = value_or(None, look)
    if found is None or isinstance(found, search.NotFound):
        return None
    inputs = found.expressions()
    return replace(prepared, call=search.build(found, prepared.module), inputs=inputs)


def constructed(subject: Subject, channel: Channel) -> tuple[ModuleType, Any]:
    """The file's module and the target in it, constructed and not called.

    Raises:
        Stopped: the file cannot be imported or the target not constructed.
    """
    module = _imported(subject, channel)
    for made in _made(subject, module, channel, []):
        return module, made.callee
    raise Stopped("construct", TypeError(f"{subject.qualname} does not return a module"))


def _imported(subject: Subject, channel: Channel) -> ModuleType:
    channel.phase("import")
    seed_everything(0)
    with parts_told(channel), _step("import"):
        return import_file(subject)


@dataclass(frozen=True, slots=True)
class _Made:
    """A callee, the expression that made it, whether that was guessed, inputs that came with it."""

    callee: Any
    expression: str | None = None
    guessed: bool = False
    call: Call | None = None


def _made(subject: Subject, module: ModuleType, channel: Channel, heard: list[str]) -> Iterator[_Made]:
    """What the target is, or may be where constructor arguments have to be guessed.

    Args:
        heard: what calls of those that were made so far ended in.
    """
    ways = _ways(subject, module, channel, heard)
    while True:
        channel.phase("construct")
        seed_everything(0)
        with _step("construct"):
            made = next(ways, None)
        if made is None:
            return
        yield made


def _ways(subject: Subject, module: ModuleType, channel: Channel, heard: list[str]) -> Iterator[_Made]:
    if subject.constructor is not None:
        yield _Made(_original(evaluate(module, subject.constructor)), subject.constructor)
        return
    found = look_up(module, subject.qualname)
    if not isinstance(found, type):
        yield _Made(_original(found))
        return
    supplied = _from_get_module(module, found)
    if supplied is not None:
        yield _Made(supplied[0], call=supplied[1])
        return
    tell = functools.partial(_tell_construction, channel)
    for built in candidates(module, subject.qualname, found, tell, heard):
        yield _Made(built.instance, built.expression, built.guessed)


def _tell_construction(channel: Channel, expression: str) -> None:
    channel.phase("construct", tried=(expression,))


def _original(found: Any) -> Any:
    """The Python function behind a scripted one: that is what it is compared with."""
    original = getattr(found, "_torchdynamo_inline", None)
    return original if callable(original) and not isinstance(found, nn.Module) else found


def _from_get_module(module: ModuleType, cls: type) -> tuple[Any, Call] | None:
    function = vars(module).get("get_module")
    if not callable(function):
        return None
    supplied = function()
    if not isinstance(supplied, tuple) or len(supplied) != 2 or type(supplied[0]) is not cls:
        return None
    return supplied[0], _as_call(supplied[1])


def _as_call(inputs: Any) -> Call:
    """Example inputs as torch's benchmark suite gives them: a tuple, a dict, or one value."""
    if isinstance(inputs, dict):
        return Call((), inputs)
    return Call(tuple(inputs)) if isinstance(inputs, (tuple, list)) else Call((inputs,))


def _inputs(
    subject: Subject, module: ModuleType, made: _Made, channel: Channel, tries: int
) -> tuple[Call, tuple[str, ...] | None, InputSource]:
    callee = made.callee
    if subject.inputs is not None:
        with _step("inputs", callee, given=True):
            call = _given(subject.inputs, module)
            _fits(call, callee)
        return call, subject.inputs, "given"
    if made.call is not None:
        return made.call, None, "get_module()"
    supplied = _from_example_inputs(module, callee, channel)
    channel.phase("inputs")
    if supplied is not None:
        return supplied, None, "example_inputs()"
    return _inferred(callee, module, channel, tries)


def _given(expressions: tuple[str, ...], module: ModuleType) -> Call:
    seed_everything(0)
    args, kwargs = [], {}
    for expression in expressions:
        keyword = _KEYWORD.fullmatch(expression)
        if keyword is not None:
            kwargs[keyword[1]] = evaluate(module, keyword[2])
        else:
            args.append(evaluate(module, expression))
    return Call(tuple(args), kwargs)


def _fits(call: Call, callee: Any) -> None:
    """Hold given inputs against the signature.

    Raises:
        TypeError: there are too many, too few, or one has a name that no parameter has.
    """
    if isinstance(callee, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        return
    try:
        signature = inspect.signature(callee.forward if isinstance(callee, nn.Module) else callee)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*call.args, **call.kwargs)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        unknown = next((name for name in call.kwargs if name not in signature.parameters), "")
        near = difflib.get_close_matches(unknown, signature.parameters, 1) if unknown else []
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        wrong = f"there is no parameter {unknown!r}" if unknown else str(error)
        raise TypeError(f"{wrong}: it takes {takes}{meant}") from None


def _from_example_inputs(module: ModuleType, callee: Any, channel: Channel) -> Call | None:
    """The file's own example inputs, if this target runs on them.

    Raises:
        Stopped: they cannot be made, or can be meant for no other target and it fails on them.
    """
    function: Callable[[], Any] | None = vars(module).get("example_inputs")
    if not callable(function) or function is callee:
        return None
    channel.phase("example_inputs")
    with _step("example_inputs", callee):
        call = _as_call(function())
    meant = _is_the_only_module(module, callee)
    if not meant:
        channel.phase("inputs")
    state = State.of(callee)
    try:
        with _step("example_inputs", callee):
            Call(cloned(call.args), cloned(call.kwargs)).on(lazy_layers.apart(callee))
    except Stopped as stop:
        if meant or not isinstance(stop.cause, Exception):
            raise
        return None
    finally:
        state.restore(callee)
    return call


def _is_the_only_module(module: ModuleType, callee: Any) -> bool:
    classes = (value for value in vars(module).values() if isinstance(value, type))
    modules = {c for c in classes if issubclass(c, nn.Module) and c.__module__ == module.__name__}
    return modules == {type(callee)}


def _inferred(
    callee: Any, module: ModuleType, channel: Channel, tries: int
) -> tuple[Call, tuple[str, ...], InputSource]:
    with _step("inputs", callee), rationed(channel.process, channel.memory_mb):
        found = search.find(callee, module, _teller(channel), most_tries=tries)
    if isinstance(found, search.NotFound):
        tried = () if is_unwritten(found.error) else found.best.expressions()
        raise Stopped("inputs", found.error, tried, callee)
    return search.build(found, module), found.expressions(), "inferred"


def _teller(channel: Channel) -> Callable[[Guess], None]:
    """Says of each guess that it is tried, so that what does not survive it can be named."""
    return lambda guess: channel.phase("inputs", tried=guess.expressions())
