"""Functions of torch that run a function they are given, at once while torch traces: checkpoints, forks.

Source: torch/utils/checkpoint.py, torch/jit/_async.py.
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.trace import checkpoints
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.counting import Args, Handler, Kwargs


def _forked(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    return tracer.call(args[0], args[1:], kwargs, node) if args else None


def _awaited(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    return args[0] if args else None


HANDLERS: dict[str, Handler] = {
    "torch.utils.checkpoint.checkpoint": checkpoints.checkpoint,
    "torch.utils.checkpoint.checkpoint_sequential": checkpoints.sequential,
    **dict.fromkeys(("torch.jit.fork", "torch.jit._fork"), _forked),
    **dict.fromkeys(("torch.jit.wait", "torch.jit._wait"), _awaited),
}
