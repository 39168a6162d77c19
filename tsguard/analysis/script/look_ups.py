"""Embedding look-ups, for which compiled code does not renormalise the weight."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Compiled, Value
from tsguard.language import types as t

_LOOK_UPS = frozenset({"torch.nn.functional.embedding", "torch.nn.functional.embedding_bag"})


def called(
    fc: FunctionCompiler,
    callee: Compiled,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    node: ast.AST,
) -> None:
    """Report a look-up that is to rescale rows, unless an error is made of it."""
    if callee.name not in _LOOK_UPS:
        return
    given = {a.name: value for a, value in zip(callee.schemas[0].arguments, args, strict=False)}
    max_norm = kwargs.get("max_norm", given.get("max_norm"))
    if max_norm is not None and max_norm.type not in (t.NONE, t.UNKNOWN):
        fc.note(Refusal("embedding-max-norm", node))
