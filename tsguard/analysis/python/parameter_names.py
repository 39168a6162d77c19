"""Which parameters a layer of torch has where its arguments, and not its class alone, tell.

Source: torch/nn/modules: rnn.py (``RNNBase.__init__``), activation.py (``MultiheadAttention.__init__``).
"""

from __future__ import annotations

from collections.abc import Mapping

from tsguard.analysis.budgets import COUNTED_TURNS
from tsguard.analysis.python.operations import default_of
from tsguard.analysis.values import Unknown, Value, constant, is_none

_RECURRENT = frozenset({"torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU"})
_COUNTING = ("num_layers", "bidirectional", "bias", "proj_size")


def present(base: str, named: dict[str, bool], arguments: Mapping[str, Value]) -> dict[str, bool]:
    """Parameter to whether it is there, in the order in which they are registered, of those ``named`` for the
    class: one that is not there is None."""
    if base in _RECURRENT:
        return _recurrent(arguments)
    if base == "torch.nn.MultiheadAttention" and _is_split(arguments):
        return {name: not there if "proj_weight" in name else there for name, there in named.items()}
    return named


def may_be_others(base: str, arguments: Mapping[str, Value]) -> bool:
    """Whether an argument that nobody knows tells how many parameters a layer has."""
    return base in _RECURRENT and any(isinstance(arguments.get(name), Unknown) for name in _COUNTING)


def _recurrent(arguments: Mapping[str, Value]) -> dict[str, bool]:
    layers = _usual(arguments, "num_layers")
    count = min(layers, COUNTED_TURNS) if isinstance(layers, int) else 1
    has_bias = _usual(arguments, "bias") is True
    kinds = ["weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if has_bias else ())]
    projected = _usual(arguments, "proj_size")
    kinds += ["weight_hr"] if isinstance(projected, int) and projected > 0 else []
    directions = ("", "_reverse") if _usual(arguments, "bidirectional") is True else ("",)
    return {f"{kind}_l{layer}{end}": True for layer in range(count) for end in directions for kind in kinds}


def _is_split(arguments: Mapping[str, Value]) -> bool:
    """Whether keys or values are of another size than queries, so that each has a weight of its own."""
    size = arguments.get("embed_dim")
    others = [arguments[name] for name in ("kdim", "vdim") if name in arguments]
    return any(_differs(other, size) for other in others)


def _differs(other: Value, size: Value | None) -> bool:
    if is_none(other) or size is None or other is size:
        return False
    told = [default_of(value) for value in (other, size)]
    known = [constant(value) for value in told if value is not None and not is_none(value)]
    return len(known) == 2 and not any(isinstance(value, Unknown) for value in known) and known[0] != known[1]


def _usual(arguments: Mapping[str, Value], name: str) -> object:
    value = arguments.get(name)
    usual = None if value is None else default_of(value)
    return None if usual is None else constant(usual)
