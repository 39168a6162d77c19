"""An instance of a module class, with arguments found by trying."""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from torch import nn
from torch.nn.parameter import is_lazy

from tsguard.runtime.budgets import (
    CONSTRUCTION_LESSONS,
    CONSTRUCTION_SECONDS,
    CONSTRUCTION_TRIES,
    MOST_HOLLOW,
)
from tsguard.runtime.worker.conditions import innermost_frame, memberships, violated
from tsguard.runtime.worker.constructing.arguments import STUB, Parameter, Path, required
from tsguard.runtime.worker.constructing.lessons import learned
from tsguard.runtime.worker.constructing.literals import calls_of
from tsguard.runtime.worker.constructing.written import Chosen, written
from tsguard.runtime.worker.errors import message_of
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.loading import evaluate


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


def candidates(
    module: ModuleType,
    qualname: str,
    cls: type,
    on_try: Callable[[str], None] = lambda expression: None,
    heard: Sequence[str] = (),
) -> Iterator[Constructed]:
    """Instances of ``cls``, which the file knows as ``qualname``, the most plausible first.

    Args:
        on_try: hears of each expression before it is evaluated.
        heard: grows by what calls of the instances end in, which tells what else to try.

    Raises:
        CannotConstruct: nothing that was tried works.
    """
    needed = required(cls, module)
    known = [f"{qualname}()"] * (not needed) + calls_of(qualname.rpartition(".")[2], _source(module))
    any_built = False
    for call in known:
        on_try(call)
        instance = value_or(None, partial(evaluate, module, call))
        if isinstance(instance, nn.Module):
            any_built = True
            yield Constructed(instance, call, guessed=bool(needed))
    search = _Search(module, qualname, cls, on_try, heard)
    for parameters in (needed, required(cls, module, optional=True)) if not any_built or needed else ():
        for built in search.run(parameters):
            any_built = True
            yield built
        if any_built:
            return
    if not any_built:
        names = tuple(parameter.name for parameter in needed if len(parameter.path) == 1)
        raise CannotConstruct(search.first or TypeError(f"{qualname} does not return a module"), names)


def _source(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""


class _Search:
    """Starts from the likeliest values and changes what the errors are about."""

    def __init__(
        self,
        module: ModuleType,
        qualname: str,
        cls: type,
        on_try: Callable[[str], None],
        heard: Sequence[str],
    ) -> None:
        self.module = module
        self.qualname = qualname
        self.cls = cls
        self.on_try = on_try
        self.heard = heard
        self.first: Exception | None = None
        self.tries = 0
        self.lessons = 0
        self.started = time.monotonic()

    def run(self, needed: list[Parameter]) -> Iterator[Constructed]:
        """Every instance that comes of it, until tries or time are used up."""
        if not all(parameter.values for parameter in needed):
            self.first = self.first or TypeError(_missing(self.qualname, needed))
            return
        order = itertools.count()
        start: Chosen = {p.path: p.values[0] for p in needed}
        options = {p.path: p.values for p in needed}
        queue: list[tuple[float, int, Chosen]] = [(0.0, next(order), start)]
        seen = set()
        hollow: list[Constructed] = []
        while (
            queue
            and len(hollow) < MOST_HOLLOW
            and self.tries < CONSTRUCTION_TRIES
            and time.monotonic() - self.started < CONSTRUCTION_SECONDS
        ):
            cost, _, chosen = heapq.heappop(queue)
            expression = written(self.qualname, chosen, self.module)
            if expression in seen:
                continue
            seen.add(expression)
            self.tries += 1
            self.on_try(expression)
            try:
                instance = evaluate(self.module, expression)
            except Exception as error:
                self.first = self.first or error
                lesson = learned(error, chosen, options, self.module, self.cls)
                if lesson is not None and self.lessons < CONSTRUCTION_LESSONS:
                    # What is missing is known: that is no guess, and costs nothing.
                    self.lessons += 1
                    self.tries -= 1
                    heapq.heappush(queue, (cost - 0.01, next(order), lesson))
                    continue
                changes = _changes(chosen, options, error)
            else:
                if isinstance(instance, nn.Module) and _is_hollow(instance):
                    hollow.append(Constructed(instance, expression, guessed=True))
                elif isinstance(instance, nn.Module):
                    yield Constructed(instance, expression, guessed=True)
                changes = _others(chosen, options, self.heard[-1] if self.heard else "")
            for more, changed in changes:
                heapq.heappush(queue, (cost + more, next(order), changed))
        yield from hollow


def _is_hollow(instance: nn.Module) -> bool:
    """Whether a layer came out without elements: ``Linear(3 // 4, ...)`` computes nothing."""
    return any(not is_lazy(p) and p.numel() == 0 for p in instance.parameters())


def _missing(qualname: str, needed: list[Parameter]) -> str:
    names = ", ".join(parameter.name for parameter in needed if not parameter.values)
    return f"{qualname} needs {names}"


Options = dict[Path, tuple[str, ...]]


def _changes(chosen: Chosen, options: Options, error: Exception) -> Iterator[tuple[float, Chosen]]:
    """Other values, those first that the failed check or the message asks for."""
    frame, line = innermost_frame(error)
    for name, accepted in memberships(frame, line):
        for path in (p for p in chosen if p[-1] == name):
            for rank, option in enumerate(accepted):
                yield 0.1 + rank / 100, {**chosen, path: option}
    for condition in violated(frame, line):
        if isinstance(condition.left, int) and isinstance(condition.right, int):
            yield from _resized(chosen, condition.left, condition.right, condition.divisor)
    message = message_of(error)
    for path, values in _open(options, chosen):
        mentioned = _mentioned(path[-1], message)
        stub = chosen[path] == STUB and ("Identity" in message or isinstance(error, StopIteration))
        for rank, value in enumerate(v for v in values if v != chosen[path]):
            yield (0.3 if mentioned or stub else 1.0) + rank / 10, {**chosen, path: value}


def _open(options: Options, chosen: Chosen) -> list[tuple[Path, tuple[str, ...]]]:
    """What there is to choose for the parts that these arguments have: other ones were learned to have more."""
    return [(path, values) for path, values in options.items() if path in chosen]


def _others(chosen: Chosen, options: Options, heard: str) -> Iterator[tuple[float, Chosen]]:
    """Neighbours of arguments that construct; first what a call complained of, and stubs in the place of modules."""
    for path, values in _open(options, chosen):
        text = chosen[path].strip("'")
        blamed = _mentioned(path[-1], heard) or (
            chosen[path].startswith("'") and bool(text) and text in heard
        )
        likely = blamed or chosen[path] == STUB
        for rank, value in enumerate(v for v in values if v != chosen[path]):
            yield (0.2 if likely else 1.0) + rank / 10, {**chosen, path: value}


def _resized(chosen: Chosen, left: int, right: int, divisor: int | None) -> Iterator[tuple[float, Chosen]]:
    pairs = [(left, math.lcm(left, divisor))] if divisor else [(left, right), (right, left)]
    for got, want in pairs:
        for path, text in chosen.items():
            if text == str(got) and want <= 4096:
                yield 0.2, {**chosen, path: str(want)}
            elif text.startswith("(") and text.count(",") + 1 == got and 0 < want <= 8:
                items = text.strip("()").split(", ")
                yield 0.4, {**chosen, path: f"({', '.join((items * want)[:want])})"}


def _mentioned(name: str, message: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", message)) or name.replace("_", " ") in message
