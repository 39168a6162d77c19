"""Whether a layer or function of torch has its effect in a mode, by the arguments it is given."""

from __future__ import annotations

from collections.abc import Mapping

from tsguard.analysis.mode.choices import Either, Mode, in_mode, truths
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.terms import spelled
from tsguard.analysis.values import Const, ModuleValue, TensorValue, Unknown, Value
from tsguard.language.modes import ModeUse
from tsguard.report.records import dataclass

_NO_VALUE = Unknown()
_Fact = tuple[bool, str | None]
_INACTIVE: _Fact = (False, None)


@dataclass(frozen=True, slots=True)
class Activity:
    """Whether there is an effect in train() and in eval().

    ``when`` is the condition on constructor arguments under which there would be one
    that the defaults do not make.
    """

    train: bool
    eval: bool
    when: str | None = None

    def __bool__(self) -> bool:
        return self.train or self.eval or self.when is not None

    @property
    def condition(self) -> str | None:
        """The condition of a finding: None where the effect is there by default."""
        return None if self.train or self.eval else self.when

    def reached_in(self, mode: Mode) -> Activity:
        """What is left of it in code that only one mode reaches."""
        return self if mode != "eval" else Activity(self.eval, self.eval, self.when)


def of_call(walk: ModeInterpreter, use: ModeUse, given: Mapping[str, Value]) -> Activity:
    """The effect of calling a function, whose flag is one of its arguments."""
    flag = walk.settled(given.get(use.flag, _NO_VALUE))
    train, other = truths(walk, flag) if use.flag else (True, True)
    return _activity(walk, use, given, (train is True, other is True))


def of_layer(walk: ModeInterpreter, use: ModeUse, layer: ModuleValue, flags: tuple[bool, bool]) -> Activity:
    """The effect of calling a layer, whose flag is ``training`` in each mode.

    What it was made with holds unless an attribute of that name was assigned since (``layer.p = 0.1``);
    whether statistics are used hangs on the buffers that it was made with (torch/nn/modules/batchnorm.py).
    """
    assigned = {name: value for name, value in layer.attributes.items() if name != "track_running_stats"}
    given = {**layer.arguments, **assigned}
    return _activity(walk, use, given, flags if use.flag else (True, True))


def _activity(
    walk: ModeInterpreter, use: ModeUse, given: Mapping[str, Value], flags: tuple[bool, bool]
) -> Activity:
    train = _in(walk, use, given, "train") if flags[0] else _INACTIVE
    other = _in(walk, use, given, "eval") if flags[1] else _INACTIVE
    return Activity(train[0], other[0], train[1] or other[1])


def _in(walk: ModeInterpreter, use: ModeUse, given: Mapping[str, Value], mode: Mode) -> _Fact:
    conditions = []
    if use.samples and isinstance(given.get(use.samples), TensorValue):
        return _INACTIVE
    for name, idle in use.off:
        value = walk.settled(in_mode(given.get(name, _NO_VALUE), mode))
        if _is(value, idle):
            return _INACTIVE
        if isinstance(value, Unknown) and value.default is not None and _is(value.default, idle):
            conditions.append(_unless(spelled(value.term) if value.term is not None else name, idle))
    if use.equal is not None:
        one, two = (given.get(name, _NO_VALUE) for name in use.equal)
        if isinstance(one, Const) and isinstance(two, Const) and one.value == two.value:
            return _INACTIVE
    return not conditions, " and ".join(conditions) or None


def _is(value: Value, idle: object) -> bool:
    if isinstance(value, Either):
        return all(_is(option, idle) for option in value.options)
    if not isinstance(value, Const):
        return False
    if idle is None or value.value is None:
        return value.value is idle
    return bool(value.value == idle)


def _unless(subject: str, idle: object) -> str:
    if idle is None:
        return f"{subject} is not None"
    return subject if idle is False else f"{subject} > {idle}"
