"""Which rule a use of a traced value breaks, by the kind of the use and of the value."""

from __future__ import annotations

from tsguard.analysis.trace.values import Number, Traced
from tsguard.language.rule_names import RuleName

# What Python asks of a number, or of a tensor as one, by what it is made of.
_ASKED: dict[tuple[str, str], RuleName] = {
    ("size", "condition"): "size-condition",
    ("data", "condition"): "tensor-condition",
    ("size", "while"): "size-loop-count/while",
    ("data", "while"): "tensor-loop-count/while",
    ("size", "range"): "size-loop-count/range",
    ("data", "range"): "tensor-loop-count/range",
    ("size", "cast"): "size-to-number/cast",
    ("data", "cast"): "tensor-to-number/cast",
    ("size", "item"): "size-to-number/cast",
    ("data", "item"): "tensor-to-number/item",
    ("size", "tolist"): "size-to-number/cast",
    ("data", "tolist"): "tensor-to-number/tolist",
    ("size", "index"): "size-to-number/index",
    ("data", "index"): "tensor-to-number/index",
    ("size", "key"): "size-to-number/key",
    ("data", "key"): "tensor-to-number/index",
    ("size", "extreme"): "size-to-number/extreme",
    ("data", "extreme"): "tensor-to-number/extreme",
    ("size", "largest"): "size-to-number/largest",
    ("data", "largest"): "tensor-to-number/extreme",
    ("size", "compiled"): "size-to-number/compiled",
    ("data", "compiled"): "tensor-to-number/silent",
    ("size", "silent"): "size-to-number/silent",
    ("data", "silent"): "tensor-to-number/silent",
    ("size", "numpy"): "to-numpy/size",
    ("data", "numpy"): "to-numpy",
}
CONDITION_OF: dict[str, RuleName] = {"state": "state-condition", "random": "tensor-condition/random"}
CONTENTS_OF: dict[str, RuleName] = {"state": "state-condition/number", "random": "tensor-to-number/random"}
UNTRACED: dict[str, RuleName] = {
    "random": "untraced-value/random",
    "clock": "untraced-value/clock",
    "state": "untraced-value/global",
}
FIXED: dict[str, RuleName] = {
    "rank": "fixed-property/rank",
    "dtype": "fixed-property/dtype",
    "device": "fixed-property/device",
    "structure": "fixed-structure/items",
    "mode": "fixed-mode",
    "grad": "fixed-mode",
}
FIXED_CONDITION: dict[str, RuleName] = FIXED | {
    "dtype": "fixed-property/dtype-condition",
    "device": "fixed-property/device-condition",
}
FIXED_ALIKE: RuleName = "fixed-property/alike"
VARIED: dict[str, RuleName] = {
    "rank": "varied-input/rank",
    "dtype": "varied-input/dtype",
    "structure": "varied-input/structure",
}


OMITTED: RuleName = "fixed-structure/omitted"
"""The rule for an optional input that the traced signature will not have."""

CHANGED_STATE: dict[str, RuleName] = {
    "state-condition": "tensor-condition/state",
    "state-condition/number": "tensor-to-number/state",
}
"""The rules for what rests on module state that a call changes, by those for other state."""

_NOTES = ("fixed-", "changed-output", "harmless-", "dropped-torch-", "untraced-", "state-condition")


def is_note(rule: RuleName) -> bool:
    """Whether a rule tells of what does no harm to the trace."""
    return rule.startswith(_NOTES)


def raises_in_trace(rule: RuleName) -> bool:
    """Whether what breaks a rule raises while tracing, where eager goes on."""
    return rule.startswith(("unsupported-", "untraceable-"))


_CHECKS: dict[tuple[bool, bool], RuleName] = {
    (False, False): "untraced-check/size",
    (False, True): "untraced-check/tensor",
    (True, False): "dropped-check/size",
    (True, True): "dropped-check/tensor",
}


_OF_SIZES = ("size-", "pieces-", "frozen-argument/", "constant-from-values", "to-numpy/size")


def rests_on_size(rule: RuleName) -> bool:
    """Whether what breaks a rule may turn out to be the same for every input once sizes are known."""
    return rule.startswith(_OF_SIZES)


def checked(value: Number | Traced, *, serves_others: bool) -> RuleName:
    """The rule for a check of what the trace was following, which the trace loses.

    That makes nothing wrong for what eager takes; it does where the trace ``serves_others`` by the
    word of its author.
    """
    of_data = isinstance(value, Traced) or value.kind == "data"
    return _CHECKS[serves_others, of_data]


def asked(value: Number | Traced, how: str) -> RuleName:
    """The rule for what Python asks of a value that the trace was following."""
    kind = "data" if isinstance(value, Traced) else value.kind
    return _ASKED[kind, how]
