"""What attention gives for its weights where nobody needs them, and what transformers ask of their masks.

Source: ``multi_head_attention_forward`` in torch/nn/functional.py, whose None no trace can return;
``_detect_is_causal_mask`` in torch/nn/modules/transformer.py, which leaves out a mask that it finds to be causal.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.export import reports as exported
from tsguard.analysis.python.operations import default_of
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.holdings import is_of_values
from tsguard.analysis.trace.shapes.operation import extent_of
from tsguard.analysis.trace.values import Traced
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


# Where a mask stands among the arguments, and where whether it is causal.
_MASKS = {
    "torch.nn.Transformer": ((2, "src_mask", 8, "src_is_causal"), (3, "tgt_mask", 9, "tgt_is_causal")),
    "torch.nn.TransformerEncoder": ((1, "mask", 3, "is_causal"),),
    "torch.nn.TransformerDecoder": ((2, "tgt_mask", 6, "tgt_is_causal"),),
}


def masked(
    tracer: Tracer, name: str, args: Sequence[py.Value], kwargs: Mapping[str, py.Value], node: ast.AST
) -> None:
    """Report a mask of which torch asks in Python whether it is causal, since the call does not say so."""
    for place, mask, flag_place, flag in _MASKS.get(name, ()):
        given = args[place] if len(args) > place else kwargs.get(mask)
        said = args[flag_place] if len(args) > flag_place else kwargs.get(flag, py.NONE)
        if not isinstance(given, py.TensorValue) or not py.is_none(said):
            continue
        extent = extent_of(tracer.facts, given)
        if extent is not None and extent.rank not in (None, 2):
            continue  # of one for each head nothing is asked
        exported.report(tracer, "data-condition/causal", node, argument=mask, flag=flag)
        if isinstance(given, Traced) and is_of_values(given):
            tracer.report("tensor-condition/causal", node, given.origin, argument=mask, flag=flag)
