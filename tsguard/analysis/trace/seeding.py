"""What is random in the trace although the forward has seeded torch's generator before it."""

from __future__ import annotations

import ast

from tsguard.analysis import torch_parameters
from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.language.modes import FUNCTIONS, is_random_function

Args = list[py.Value]
Kwargs = dict[str, py.Value]


def drawn(tracer: Tracer, node: ast.AST) -> None:
    """Report random numbers if the forward has called ``torch.manual_seed``, which is no operation of the trace."""
    if "torch" in tracer.seeded:
        tracer.report("untraced-value/seed", node)


def called(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """Report a function of torch that draws from the generator that the forward has seeded."""
    if "torch" in tracer.seeded and (is_random_function(name) or _draws(tracer, name, args, kwargs)):
        drawn(tracer, node)


def _draws(tracer: Tracer, name: str, args: Args, kwargs: Kwargs) -> bool:
    """Whether a function that is random only when its flag is set is so here."""
    use = FUNCTIONS.get(name)
    if use is None or use.effect != "random":
        return False
    given = torch_parameters.bound(tracer.tables, name, args, kwargs)
    is_on = not use.flag or given.get(use.flag) == py.TRUE
    return is_on and not any(given.get(argument) == py.Const(idle) for argument, idle in use.off)
