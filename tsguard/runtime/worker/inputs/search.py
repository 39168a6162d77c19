"""Best-first search for inputs that a module runs on."""

from __future__ import annotations

import heapq
import inspect
import itertools
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType, ModuleType
from typing import Any

import torch

from tsguard.runtime.budgets import MOST_ALIKE, SEARCH_SECONDS, TRIAL_SECONDS, UNDECLARED_COST
from tsguard.runtime.worker import lazy_layers
from tsguard.runtime.worker.inputs import compared, layers, moves, repairs
from tsguard.runtime.worker.inputs.declared import is_of
from tsguard.runtime.worker.inputs.demands.reading import demanded
from tsguard.runtime.worker.inputs.moves import Move
from tsguard.runtime.worker.inputs.probe import TooSlow, Trouble, attempt
from tsguard.runtime.worker.inputs.secants import Secants
from tsguard.runtime.worker.inputs.signature import (
    Hints,
    Parameter,
    first_guess,
    parameters,
    several,
    usual_shapes,
    value_for,
)
from tsguard.runtime.worker.inputs.specs import BATCH, IMAGE, LENGTH, Guess, TensorSpec, Verbatim, named
from tsguard.runtime.worker.loading import evaluate
from tsguard.runtime.worker.running import SEED, Call
from tsguard.runtime.worker.state import State, seed_everything

MOST_TRIES = 60


@dataclass(frozen=True, slots=True)
class NotFound:
    """None found; the error of the trial that came farthest."""

    error: Exception
    best: Guess


def build(guess: Guess, module: ModuleType) -> Call:
    """The call that a guess describes in the target's file, the same each time.

    Raises:
        Exception: an expression cannot be evaluated.
    """
    seed_everything(0)
    args, kwargs = [], {}
    for argument in guess.arguments:
        value = evaluate(module, argument.spec.expression())
        if argument.keyword:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return Call(tuple(args), kwargs)


def find(
    callee: Any,
    module: ModuleType,
    on_try: Callable[[Guess], None] = lambda guess: None,
    compiled: Mapping[str, Any] = MappingProxyType({}),
    most_tries: int = MOST_TRIES,
) -> Guess | NotFound:
    """Search for inputs that run, until a call comes through, tries are used up, or time is.

    Args:
        module: the target's file, where the guess is evaluated.
        compiled: the types that the compiled target insists on, by parameter, where that is known.
    """
    return _Search(callee, module, on_try, compiled).run(most_tries)


class _Search:
    def __init__(
        self,
        callee: Any,
        module: ModuleType,
        on_try: Callable[[Guess], None],
        compiled: Mapping[str, Any],
    ) -> None:
        self.callee = callee
        self.module = module
        self.on_try = on_try
        found, self.open_ended = parameters(callee)
        self.compiled = compiled
        self.parameters = [
            replace(p, annotation=compiled[p.name]) if p.name in compiled else p for p in found
        ]
        self.state = State.of(callee)
        self.lengths = layers.lengths(callee)
        self.dtype = layers.unusual_dtype(callee)
        self.hints = Hints(layers.likely_input(callee), module)
        self.costs: dict[tuple[str, ...], float] = {}
        self.tried: set[tuple[str, ...]] = set()
        self.queue: list[tuple[float, int, Guess]] = []
        self.order = itertools.count()
        self.best: tuple[int, Exception, Guess] | None = None
        self.alike: Counter[tuple[str, int, str]] = Counter()
        self.secants = Secants()

    def run(self, most_tries: int) -> Guess | NotFound:
        started = time.monotonic()
        first = first_guess(self.parameters, self.hints)
        alone = len(first.tensors()) == 1 and isinstance(first.arguments[0].spec, TensorSpec)
        if not alone:
            # Several inputs have to go together, which they may do by chance.
            self._push(-1.0, self._demanded(first))
        self._push(0.0, first)
        for cost, guess in self._openings(first):
            self._push(cost, guess)
        tries = 0
        slow: Guess | None = None
        while (
            self.queue
            and tries < most_tries
            and not self.chasing
            and time.monotonic() - started < SEARCH_SECONDS
        ):
            _, _, guess = heapq.heappop(self.queue)
            if guess.expressions() in self.tried:
                continue
            self.tried.add(guess.expressions())
            tries += 1
            self.on_try(guess)
            trouble = self._try(guess)
            if trouble is None:
                if self._is_compiled_so(guess):
                    return guess
                continue
            if isinstance(trouble.error, TooSlow):
                slow = guess
            self._learn(guess, trouble)
            if tries == 1:
                for cost, demanded in self._read(first, alone):
                    self._push(cost, demanded)
        if slow is not None:
            # Nothing was wrong with it: whoever runs it next has more patience.
            return slow
        if self.best is None:
            return NotFound(
                TypeError("eager runs with none of the types that the compiled code takes"), first
            )
        return NotFound(self.best[1], self.best[2])

    def _read(self, first: Guess, alone: bool) -> Iterator[Move]:
        """What the code demands, where the first guess did not do; with names that mean nothing, and with lists."""
        if alone:
            yield -1.0, self._demanded(first)
        elif usual_shapes(first, None):
            yield -0.8, self._demanded(first, named=False)
        lists = several(first, self.parameters)
        if lists != first:
            yield -0.9, self._demanded(lists)

    def _demanded(self, guess: Guess, *, named: bool = True) -> Guess:
        """The guess with what the code demands of it, as far as a run on stand-ins tells.

        Args:
            named: whether names say what shapes are usual.
        """
        if isinstance(self.callee, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
            return guess
        likely = self.hints.likely
        usual = usual_shapes(guess, likely) if named else {}
        plain = TensorSpec((BATCH, LENGTH, IMAGE))
        # What the first layer takes is not what another input is.
        guess = guess.mapped(lambda path, spec: plain if spec == likely and path not in usual else spec)
        self.on_try(guess)
        self.state.restore(self.callee)
        seed_everything(SEED)
        try:
            return demanded(lazy_layers.apart(self.callee), self.module, guess, usual)
        finally:
            self.state.restore(self.callee)

    def _try(self, guess: Guess) -> Trouble | None:
        self.state.restore(self.callee)
        try:
            call = build(guess, self.module)
        except Exception as error:
            return Trouble(error, str(error), "", (), (), frozenset(), 0, None, 0)
        names: dict[int, str] = {}
        values = [*call.args, *call.kwargs.values()]
        for argument, value in zip(sorted(guess.arguments, key=lambda a: a.keyword), values, strict=True):
            names |= {id(leaf): path for path, leaf in named(argument.spec, value, argument.name)}
        seed_everything(SEED)  # what depends on chance goes as it will when it is run
        trouble = attempt(lazy_layers.apart(self.callee), call, names, TRIAL_SECONDS)
        self.state.restore(self.callee)
        return trouble

    def _learn(self, guess: Guess, trouble: Trouble) -> None:
        if self.best is None or trouble.survived > self.best[0]:
            self.best = (trouble.survived, trouble.error, guess)
        kind = (trouble.operation, trouble.line, re.sub(r"\d+", "", trouble.message))
        self.alike[kind] += 1
        progress = -trouble.survived / (1 + trouble.survived) + self.alike[kind] / 10
        for cost, repaired in self._moves(guess, trouble):
            self._push(progress + cost, repaired)

    @property
    def chasing(self) -> bool:
        """Whether each repair only moves the same error to other sizes."""
        return self.alike.total() > MOST_TRIES // 3 and max(self.alike.values()) > MOST_ALIKE

    def _moves(self, guess: Guess, trouble: Trouble) -> Iterator[Move]:
        if isinstance(trouble.error, TooSlow):
            yield -1.0, moves.single(guess)
            return
        yield from self.secants.moves(guess, trouble)
        yield from repairs.by_operation(guess, trouble)
        for cost, repaired in compared.by_condition(guess, trouble):
            yield 0.1 + cost, repaired
        yield from self._missing(guess, trouble)
        yield 0.3, moves.changed(guess, guess.tensors(), moves.filmed(16, 224))
        yield 0.5, moves.changed(guess, guess.tensors(), moves.pictured(224, 224))
        yield from repairs.by_message(guess, trouble)
        for cost, repaired in self._numbers(guess, trouble):
            yield 1.5 + cost, repaired
        for cost, repaired in self._openings(guess):
            yield 2.5 + cost, repaired

    def _missing(self, guess: Guess, trouble: Trouble) -> Iterator[Move]:
        """Arguments that the error names, or optional ones that were left None."""
        for name in repairs.by_missing(trouble):
            known = next((p for p in self.parameters if p.name == name), None)
            if known is not None or self.open_ended:
                parameter = known or Parameter(name, None, True, True)
                yield 0.0, moves.given(guess, name, value_for(parameter, self._like(guess)), True)
        suspicious = "None" in trouble.message or isinstance(trouble.error, AssertionError)
        for parameter in self.parameters:
            named = re.search(rf"\b{re.escape(parameter.name)}\b", trouble.message) is not None
            left_out = not parameter.required and parameter.default is None
            if left_out and (suspicious or named) and guess.get(parameter.name) is None:
                mentioned = named or parameter.name in _source_line(trouble)
                spec = value_for(parameter, self._like(guess))
                yield (0.2 if mentioned else 0.6), moves.given(guess, parameter.name, spec, True)

    def _like(self, guess: Guess) -> Hints:
        """A further tensor is most often shaped like the first."""
        first = next(iter(guess.tensors().values()), None)
        return (
            replace(self.hints, likely=first) if first is not None and first.kind == "float" else self.hints
        )

    def _numbers(self, guess: Guess, trouble: Trouble) -> Iterator[Move]:
        """Sizes that the message or the module's own attributes name."""
        numbers = [*repairs.literal_numbers(trouble), *layers.widths(self.callee)]
        suspects = [n for n in guess.tensors() if n in trouble.suspects] or list(guess.tensors())
        for rank, size in enumerate(dict.fromkeys(numbers[:12])):
            for group in moves.groups(suspects):
                yield rank / 20, moves.changed(guess, group, moves.sized(-1, size))
                yield 0.3 + rank / 20, moves.changed(guess, group, moves.sized(1, size))
        for cost, sides in enumerate(layers.image_sizes(self.callee)):
            yield cost / 10, moves.changed(guess, suspects, moves.pictured(*sides))

    def _openings(self, guess: Guess) -> Iterator[Move]:
        """The usual alternatives, when nothing better is known: other ranks, kinds and sizes."""
        for group in moves.groups(guess.tensors()):
            for cost, rank in enumerate((3, 4, 2, 5, 1)):
                yield 2 + cost / 10, moves.changed(guess, group, moves.of_rank(rank))
            for cost, size in enumerate((224, 32, 28, 256)):
                yield 1.0 + cost / 10, moves.changed(guess, group, moves.pictured(size, size))
            yield 0.9, moves.changed(guess, group, moves.filmed(16, 224))
            for cost, length in enumerate(self.lengths):
                yield 2.2 + cost / 10, moves.changed(guess, group, moves.as_long(length))
            yield 2.3, moves.changed(guess, group, lambda s: replace(s, kind="int", high=2))
            yield 2.6, moves.changed(guess, group, moves.sized(0, 1))
        for name in guess.tensors():
            yield 2.9, guess.with_spec(name, Verbatim("1"))

    def _push(self, cost: float, guess: Guess) -> None:
        guess = moves.in_dtype(guess, self.dtype)
        key = guess.expressions()
        cost += moves.implausibility(guess) + UNDECLARED_COST * self._undeclared(guess)
        if key not in self.tried and cost < self.costs.get(key, math.inf):
            self.costs[key] = cost
            heapq.heappush(self.queue, (cost, next(self.order), guess))

    def _is_compiled_so(self, guess: Guess) -> bool:
        return all(is_of(a.spec, self.compiled.get(a.name)) for a in guess.arguments)

    def _undeclared(self, guess: Guess) -> int:
        """How many values are of another type than their parameter declares."""
        declared = {p.name: p.annotation for p in self.parameters}
        return sum(not is_of(a.spec, declared.get(a.name)) for a in guess.arguments)


def _source_line(trouble: Trouble) -> str:
    if trouble.frame is None:
        return ""
    try:
        lines, start = inspect.getsourcelines(trouble.frame)
        return lines[trouble.line - start] if 0 <= trouble.line - start < len(lines) else ""
    except (OSError, TypeError):
        return ""
