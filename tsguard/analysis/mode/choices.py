"""Values that are one of several: by the mode, or by what the source does not tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tsguard.analysis.budgets import MODE_OPTIONS
from tsguard.analysis.python import Interpreter, object_truths
from tsguard.analysis.terms import rests_on_place
from tsguard.analysis.values import (
    NONE,
    Atom,
    Const,
    DictValue,
    External,
    ListValue,
    ObjectValue,
    SetValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)

Mode = Literal["both", "train", "eval"]
MODES: tuple[Mode, Mode] = ("train", "eval")
"""The modes that a module may be in."""


@dataclass(eq=False, slots=True)
class ByMode(Unknown):
    """One value in train() and another in eval(); ``known`` where what made it so is reported."""

    train: Value = NONE
    eval: Value = NONE
    known: bool = False


@dataclass(eq=False, slots=True)
class Either(Unknown):
    """One of several values, as the way there may lead."""

    options: tuple[Value, ...] = ()


def in_mode(value: Value, mode: Mode) -> Value:
    """What a value is in one mode."""
    if isinstance(value, ByMode) and mode != "both":
        return value.train if mode == "train" else value.eval
    return value


def by_mode(train: Value, other: Value, *, known: bool = False) -> Value:
    """A value that is ``train`` in train() and ``other`` in eval(); one value where they are the same."""
    return train if same(train, other) else ByMode(None, train=train, eval=other, known=known)


def differs(values: Iterable[Value]) -> bool:
    """Whether one of the values differs by mode, for a reason that is not reported yet."""
    return any(isinstance(value, ByMode) and not value.known for value in values)


def differs_within(values: Iterable[Value]) -> bool:
    """Whether one of the values, or a part of one, differs by mode."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if differs([value]):
            return True
        if isinstance(value, (ListValue, TupleValue)) and id(value) not in seen:
            seen.add(id(value))
            pending.extend(value.items)
        elif isinstance(value, SliceValue):
            pending.extend((value.start, value.stop, value.step))
    return False


def either(values: Iterable[Value]) -> Value:
    """One value that may be any of these; by mode where one of them is."""
    given = list(values)
    if len(given) == 1 and not isinstance(given[0], (ByMode, Either)):
        return given[0]
    if any(isinstance(value, ByMode) for value in given):
        train, other = (either(in_mode(value, mode) for value in given) for mode in ("train", "eval"))
        return by_mode(train, other, known=not differs(given))
    options: list[Value] = []
    for value in given:
        for option in value.options if isinstance(value, Either) else (value,):
            if not any(same(option, known) for known in options):
                options.append(option)
    if len(options) == 1:
        return options[0]
    return Either(None, options=tuple(options)) if len(options) <= MODE_OPTIONS else Unknown()


def same(one: Value, other: Value) -> bool:
    """Whether nothing tells two values apart; tensors made in passing are alike."""
    if one is other:
        return True
    if isinstance(one, Const) and isinstance(other, Const):
        return type(one.value) is type(other.value) and one.value == other.value
    if isinstance(one, (Atom, External)):
        return one == other
    if isinstance(one, TensorValue) and isinstance(other, TensorValue):
        return not one.role and not other.role
    if isinstance(one, TupleValue) and isinstance(other, TupleValue) and len(one.items) == len(other.items):
        return all(map(same, one.items, other.items))
    if isinstance(one, Either) and isinstance(other, Either) and len(one.options) == len(other.options):
        return all(map(same, one.options, other.options))
    return False


def lifted(interp: Interpreter, values: Sequence[Value], function: Callable[[list[Value]], Value]) -> Value:
    """A function's result over values that may be several: for each mode, for each option."""
    settled = [interp.settled(value) for value in values]
    if any(isinstance(value, ByMode) for value in settled):
        train, other = (lifted(interp, [in_mode(v, m) for v in settled], function) for m in ("train", "eval"))
        return by_mode(train, other, known=not differs(settled))
    for index, value in enumerate(settled):
        if isinstance(value, Either):
            rest = settled[index + 1 :]
            return either(
                lifted(interp, [*settled[:index], option, *rest], function) for option in value.options
            )
    return function(settled)


def truths(interp: Interpreter, value: Value) -> tuple[bool | None, bool | None]:
    """Whether a value is true in train() and in eval(); None where the source does not tell."""
    value = interp.settled(value)
    if isinstance(value, ByMode):
        return _truth(interp, value.train), _truth(interp, value.eval)
    answer = _truth(interp, value)
    return answer, answer


def _truth(interp: Interpreter, value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Either):
        answers = {_truth(interp, option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(value, TensorValue):
        return _is_set(value)
    if isinstance(value, Unknown):
        return _decided(interp, value)
    if isinstance(value, (ListValue, TupleValue, SetValue, DictValue)):
        return bool(value.items) or (None if value.open else False)
    return object_truths.is_true(interp, value, None) if isinstance(value, ObjectValue) else True


def _is_set(value: TensorValue) -> bool | None:
    """Whether a buffer is the mark of what is done already, such as ``torch.tensor(True)``.

    One that is not set yet will be: what the first call does the next does not.
    """
    filled = value.role == "buffer" and isinstance(value.filling, Const) and bool(value.filling.value)
    return True if filled else None


def _decided(interp: Interpreter, value: Unknown) -> bool | None:
    """As the constructor answered it, else as the parameters' defaults do."""
    answer = interp.world.answer(value.term) if value.term is not None else None
    if answer is not None:
        return answer
    by_default = None if value.default is None else _truth(interp, value.default)
    if by_default is None or value.term is None or rests_on_place(value.term):
        return by_default
    return interp.world.decide(value.term, by_default)
