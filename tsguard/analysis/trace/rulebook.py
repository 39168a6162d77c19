"""Which rule is broken, by what Python asks of which kind of value."""

from __future__ import annotations

from tsguard.analysis.trace.values import Number, Traced

# What Python asks of a number, or of a tensor as one, by what it is made of.
_ASKED = {
    ("size", "condition"): "size-condition",
    ("data", "condition"): "tensor-condition",
    ("size", "assert"): "dropped-check/size",
    ("data", "assert"): "dropped-check/tensor",
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
    ("size", "silent"): "size-to-number/silent",
    ("data", "silent"): "tensor-to-number/silent",
    ("size", "numpy"): "to-numpy/size",
    ("data", "numpy"): "to-numpy",
}
CONDITION_OF = {"state": "tensor-condition/state", "random": "tensor-condition/random"}
CONTENTS_OF = {"state": "tensor-to-number/state", "random": "tensor-to-number/random"}
UNTRACED = {
    "random": "untraced-value/random",
    "clock": "untraced-value/clock",
    "state": "untraced-value/global",
}
FIXED = {
    "rank": "fixed-property/rank",
    "dtype": "fixed-property/dtype",
    "device": "fixed-property/device",
    "structure": "fixed-structure/items",
    "mode": "fixed-mode",
    "grad": "fixed-mode",
}
FIXED_ALIKE = "fixed-property/alike"
VARIED = {
    "rank": "varied-input/rank",
    "dtype": "varied-input/dtype",
    "structure": "varied-input/structure",
}


_NOTES = ("fixed-", "changed-", "harmless-", "dropped-torch-")


def is_note(rule: str) -> bool:
    """Whether a rule tells of what does no harm to the trace."""
    return rule.startswith(_NOTES)


def asked(value: Number | Traced, how: str) -> str:
    """The rule for what Python asks of a value that the trace was following."""
    kind = "data" if isinstance(value, Traced) else value.kind
    return _ASKED[kind, how]
