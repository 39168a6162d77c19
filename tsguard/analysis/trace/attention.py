"""What attention gives for its weights where nobody needs them: None, which no trace can return.

Source: ``multi_head_attention_forward`` in torch/nn/functional.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python.operations import default_of
from tsguard.analysis.trace.context import Tracer
from tsguard.report.records import replace

# Where ``need_weights`` stands among the arguments.
_NEED_WEIGHTS = {
    "torch.nn.MultiheadAttention": 4,
    "torch.nn.functional.multi_head_attention_forward": 15,
}


def without_weights(
    tracer: Tracer, name: str, args: Sequence[py.Value], kwargs: Mapping[str, py.Value], result: py.Value
) -> py.Value:
    """The result of a layer or function, None for its weights where the call says that they are not needed."""
    place = _NEED_WEIGHTS.get(name)
    if place is None or not (isinstance(result, py.TupleValue) and len(result.items) == 2):
        return result
    asked = args[place] if len(args) > place else kwargs.get("need_weights", py.TRUE)
    usual = default_of(tracer.settled(asked))
    is_needed = usual is None or py.constant(usual) is not False
    return result if is_needed else replace(result, items=(result.items[0], py.NONE))
