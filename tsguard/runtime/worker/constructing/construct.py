"""An instance of a module class, with arguments found by trying."""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from torch import nn

from tsguard.runtime.worker.conditions import memberships, violated
from tsguard.runtime.worker.constructing.arguments import Parameter, named_class, required
from tsguard.runtime.worker.constructing.literals import calls_of
from tsguard.runtime.worker.errors import message_of
from tsguard.runtime.worker.loading import evaluate

_MOST_TRIES = 60
_SECONDS = 20.0
_DEEPEST = 2

_CLASS_PARAMETERS = ("block", "layer", "norm_layer", "attn_layer", "block_fn")
_STUB = "nn.Identity()"
_WANTS_SEVERAL = re.compile(r"'int' object is not (iterable|subscriptable)|no len\(\)|non-iterable int")

Chosen = dict[str, str]


@dataclass(frozen=True, slots=True)
class Constructed:
    """The instance, the expression that makes it, and whether arguments were guessed."""

    instance: Any
    expression: str
    guessed: bool


class CannotConstruct(Exception):
    """No arguments were found; ``needed`` are the parameters that must be given."""

    def __init__(self, error: Exception, needed: tuple[str, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.needed = needed


def candidates(module: ModuleType, qualname: str, cls: type) -> Iterator[Constructed]:
    """Instances of ``cls``, which the file knows as ``qualname``, the most plausible first.

    Raises:
        CannotConstruct: nothing that was tried works.
    """
    needed = required(cls, module)
    known = [f"{qualname}()"] * (not needed) + calls_of(qualname.rpartition(".")[2], _source(module))
    any_built = False
    for call in known:
        try:
            instance = evaluate(module, call)
        except Exception:
            continue
        if isinstance(instance, nn.Module):
            any_built = True
            yield Constructed(instance, call, guessed=bool(needed))
    search = _Search(module, qualname)
    for parameters in (needed, required(cls, module, optional=True)) if not any_built or needed else ():
        for built in search.run(parameters):
            any_built = True
            yield built
        if any_built:
            return
    if not any_built:
        names = tuple(parameter.name for parameter in needed)
        raise CannotConstruct(search.first or TypeError(f"{qualname} gives no module"), names)


def _source(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""


class _Search:
    """Starts from the likeliest values and changes what the errors are about."""

    def __init__(self, module: ModuleType, qualname: str) -> None:
        self.module = module
        self.qualname = qualname
        self.first: Exception | None = None
        self.tries = 0
        self.started = time.monotonic()

    def run(self, needed: list[Parameter]) -> Iterator[Constructed]:
        """Every instance that comes of it, until tries or time are used up."""
        order = itertools.count()
        queue: list[tuple[float, int, Chosen]] = [(0.0, next(order), {p.name: p.values[0] for p in needed})]
        seen = set()
        while queue and self.tries < _MOST_TRIES and time.monotonic() - self.started < _SECONDS:
            cost, _, chosen = heapq.heappop(queue)
            expression = _call(self.qualname, chosen, self.module)
            if expression in seen:
                continue
            seen.add(expression)
            self.tries += 1
            try:
                instance = evaluate(self.module, expression)
            except Exception as error:
                self.first = self.first or error
                changes = _changes(chosen, needed, error)
            else:
                if isinstance(instance, nn.Module):
                    yield Constructed(instance, expression, guessed=True)
                changes = _others(chosen, needed)
            for more, changed in changes:
                heapq.heappush(queue, (cost + more, next(order), changed))


def _changes(chosen: Chosen, needed: list[Parameter], error: Exception) -> Iterator[tuple[float, Chosen]]:
    """Other values, those first that the failed check or the message asks for."""
    frame, line = _innermost(error)
    for name, options in memberships(frame, line):
        if name in chosen:
            for rank, option in enumerate(options):
                yield 0.1 + rank / 100, {**chosen, name: option}
    for condition in violated(frame, line):
        if isinstance(condition.left, int) and isinstance(condition.right, int):
            yield from _resized(chosen, condition.left, condition.right, condition.divisor)
    message = message_of(error)
    for parameter in needed:
        mentioned = _mentioned(parameter.name, message)
        stub = chosen[parameter.name] == _STUB and ("Identity" in message or isinstance(error, StopIteration))
        several = _WANTS_SEVERAL.search(message) is not None
        for rank, value in enumerate(parameter.values):
            if value != chosen[parameter.name]:
                likely = mentioned or stub or (several and value.startswith("("))
                yield (0.3 if likely else 1.0) + rank / 10, {**chosen, parameter.name: value}


def _others(chosen: Chosen, needed: list[Parameter]) -> Iterator[tuple[float, Chosen]]:
    """Neighbours of arguments that construct; a stub in the place of a module is replaced first."""
    for parameter in needed:
        for rank, value in enumerate(parameter.values):
            if value != chosen[parameter.name]:
                cost = 0.2 if chosen[parameter.name] == _STUB else 1.0
                yield cost + rank / 10, {**chosen, parameter.name: value}


def _resized(chosen: Chosen, left: int, right: int, divisor: int | None) -> Iterator[tuple[float, Chosen]]:
    pairs = [(left, math.lcm(left, divisor))] if divisor else [(left, right), (right, left)]
    for got, want in pairs:
        for name, text in chosen.items():
            if text == str(got) and want <= 4096:
                yield 0.2, {**chosen, name: str(want)}
            elif text.startswith("(") and text.count(",") + 1 == got and 0 < want <= 8:
                items = text.strip("()").split(", ")
                yield 0.4, {**chosen, name: f"({', '.join((items * want)[:want])})"}


def _innermost(error: Exception) -> tuple[FrameType | None, int]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (trace.tb_frame, trace.tb_lineno) if trace is not None else (None, 0)


def _mentioned(name: str, message: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", message)) or name.replace("_", " ") in message


def _call(qualname: str, chosen: Chosen, module: ModuleType, depth: int = 0) -> str:
    arguments = (f"{name}={_value(text, name, module, depth)}" for name, text in chosen.items())
    return f"{qualname}({', '.join(arguments)})"


def _value(text: str, name: str, module: ModuleType, depth: int) -> str:
    """A class stands for itself where a class is asked for, else for an instance of it."""
    found = named_class(text, module)
    if found is None or depth >= _DEEPEST or name in _CLASS_PARAMETERS:
        return text
    return _call(text, {p.name: p.values[0] for p in required(found, module)}, module, depth + 1)
