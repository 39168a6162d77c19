"""An attempt held against eager on the example inputs and on varied ones."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from tsguard.report import Parity, Variant
from tsguard.runtime.worker.comparison import Comparison, compare, compare_gradients
from tsguard.runtime.worker.errors import first_line
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.running import SEED, Call, Result, asks_for_gradients, run
from tsguard.runtime.worker.state import State
from tsguard.runtime.worker.values import mapped
from tsguard.runtime.worker.variants import InputVariant, variants


class Eager:
    """The eager side: its answers to variants, remembered over the attempts.

    Args:
        module: the module or function, in the mode under test.
        backward: whether gradients are compared as well, then on the essential variants.
        seconds: how long all variants beyond the essential ones may take; ``unasked`` are those that it was too short for.
    """

    def __init__(self, module: Any, call: Call, *, backward: bool, seconds: float = 4.0) -> None:
        self.module = module
        self.call = call
        self.backward = backward
        self.state = State.of(module)
        self.seconds = seconds
        self.unasked: set[str] = set()
        self._double: nn.Module | None = None
        self.mutates_inputs = False

    @functools.cached_property
    def first(self) -> Result:
        """Eager's result on the example inputs; shows whether it takes gradients itself.

        Raises:
            Exception: whatever the model raises.
        """
        try:
            result = self._watched()
        except RuntimeError as error:
            if self.backward or not asks_for_gradients(error):
                raise
            self.call = replace(self.call, gradients=True)
            result = self._watched()
        before = (self.call.args, self.call.kwargs)
        self.mutates_inputs = not compare(before, result.inputs, lambda: None).equal
        return result

    @functools.cached_property
    def answers(self) -> list[tuple[InputVariant, Result]]:
        """Its results on the example inputs and on every variant that it accepts."""
        first = self.first
        found = [(InputVariant("same inputs", self.call, None, True), first)]
        started = time.monotonic()
        for variant in _distinct(variants(self.call)):
            if variant.before is not None and not first.moved:
                # The first call leaves nothing that could be put back, so every later run is a second call.
                continue
            spent = time.monotonic() - started
            if spent > (2 * self.seconds if variant.essential else self.seconds):
                self.unasked.add(variant.name)
                continue
            if self.backward and not variant.essential:
                continue
            try:
                found.append((variant, self._run(variant)))
            except Exception:
                continue
        return found

    def _run(self, variant: InputVariant, *, watched: bool = False) -> Result:
        call, state, before = variant.call, self.state, variant.before
        return run(self.module, call, state, backward=self.backward, before=before, watched=watched)

    def _watched(self) -> Result:
        with self.state.watching_parameters():
            return self._run(InputVariant("", self.call), watched=True)

    @functools.cached_property
    def is_deterministic(self) -> bool:
        """Whether eager gives the same result for the same inputs, state and seed, and does not raise instead."""
        again = value_or(None, functools.partial(self._run, InputVariant("", self.call)))
        return again is not None and compare(self.first.output, again.output, lambda: None).equal

    @functools.cached_property
    def is_random(self) -> bool:
        """Whether eager's result depends on the seed."""
        other = functools.partial(run, self.module, self.call, self.state, backward=False, seed=SEED + 1)
        drawn = value_or(None, other)
        return drawn is not None and not compare(self.first.output, drawn.output, lambda: None).equal

    def exact(self, variant: InputVariant) -> Result:
        """The result of a float64 copy.

        Raises:
            Exception: the module cannot be copied or does not run in float64.
        """
        if self._double is None:
            if not isinstance(self.module, nn.Module):
                raise TypeError("a function has no precision of its own")
            self.state.restore(self.module)
            self._double = copy.deepcopy(self.module).double()
        before = _wide(variant.before) if variant.before is not None else None
        state = State.of(self._double)
        return run(self._double, _wide(variant.call), state, backward=self.backward, before=before)


def _wide(call: Call) -> Call:
    args, kwargs = mapped((call.args, call.kwargs), lambda t: t.double() if t.is_floating_point() else t)
    return replace(call, args=args, kwargs=kwargs)


def _distinct(found: Iterator[InputVariant]) -> Iterator[InputVariant]:
    names: dict[str, int] = {}
    for variant in found:
        names[variant.name] = names.get(variant.name, 0) + 1
        number = names[variant.name]
        name = variant.name if number == 1 else f"{variant.name} ({number})"
        yield replace(variant, name=name)


def check(
    eager: Eager,
    attempt: Any,
    *,
    first: Result | None = None,
    covers: Callable[[InputVariant], bool] = lambda variant: True,
) -> Parity:
    """Compare an attempt with eager on every variant that eager accepts.

    Args:
        first: the attempt's result on the example inputs, where it was run on them.
        covers: whether the attempt has to take a variant; others are not asked.
    """
    found, gradients, buffers = [], True, True
    for index, (variant, expected) in enumerate(eager.answers):
        if not covers(variant):
            continue
        known = first if index == 0 else None
        outcome, gradient, buffer = _compare_variant(eager, attempt, variant, expected, known)
        if outcome.equal and outcome.max_error and not eager.is_deterministic:
            # How wrong eager itself is, its copy in float64 cannot tell: that draws other numbers.
            outcome = Comparison(False, outcome.max_error, "differs, as eager does from call to call")
        found.append(Variant(variant.name, outcome.equal, outcome.max_error, outcome.note or variant.note))
        gradients &= gradient
        buffers &= buffer
    return Parity(
        all(v.equal for v in found) and gradients and buffers,
        tuple(found),
        gradients if eager.backward else None,
        buffers,
    )


def _compare_variant(
    eager: Eager, attempt: Any, variant: InputVariant, expected: Result, known: Result | None
) -> tuple[Comparison, bool, bool]:
    call, before = variant.call, variant.before
    try:
        actual = known or run(attempt, call, eager.state, backward=eager.backward, before=before)
    except Exception as error:
        sizes = f" ({variant.note})" if variant.note else ""
        return Comparison(False, None, f"raises {first_line(error)}{sizes}"), True, True
    outcome = compare(expected.output, actual.output, lambda: eager.exact(variant).output)
    gradient = compare_gradients(
        expected.gradients, actual.gradients, lambda: eager.exact(variant).gradients, expected.output
    )
    buffer = _compare_buffers(expected, actual)
    for part in (gradient, buffer):
        if outcome.equal and not part.equal:
            outcome = part
    if not outcome.equal and variant.note:
        outcome = Comparison(False, outcome.max_error, f"{outcome.note} ({variant.note})")
    return outcome, gradient.equal, buffer.equal


def _compare_buffers(expected: Result, actual: Result) -> Comparison:
    """Buffers that both sides have; a frozen attempt has none left."""
    for name in expected.buffers.keys() & actual.buffers.keys():
        result = compare(expected.buffers[name], actual.buffers[name], lambda: None)
        if not result.equal:
            return Comparison(False, result.max_error, f"buffer {name} differs after the call")
    return Comparison(True, 0.0)


def _reads_mode(attempt: nn.Module) -> bool:
    """Whether the code of a compiled module, its submodules' included, asks for ``training``."""
    if not isinstance(attempt, torch.jit.ScriptModule):
        return True
    # Nodes do not keep their graph alive.
    graph: Any = attempt.inlined_graph
    return any(node.s("name") == "training" for node in graph.findAllNodes("prim::GetAttr"))


def _same_run(expected: Result, actual: Result) -> bool:
    same_output = compare(expected.output, actual.output, lambda: None).equal
    return same_output and _compare_buffers(expected, actual).equal


def follows_mode(eager: Eager, attempt: Any) -> bool | None:
    """Whether an attempt still agrees with eager when both change between train and eval.

    None where there is no mode to change.
    """
    module = eager.module
    if not isinstance(module, nn.Module) or not isinstance(attempt, nn.Module):
        return None
    mode = module.training
    try:
        module.train(not mode)
        attempt.train(not mode)
        with eager.state.watching_parameters():
            expected = run(module, eager.call, eager.state, backward=False)
        if _same_run(expected, eager.first):
            # The mode makes no difference here, and the attempt is eager's equal in one.
            return True
        if not _reads_mode(attempt):
            return False
        actual = run(attempt, eager.call, eager.state, backward=False)
        return _same_run(expected, actual)
    except Exception:
        return None
    finally:
        module.train(mode)
        with torch.no_grad():
            attempt.train(mode)
