"""Parametrized parameters in compiled code.

Source: torch/nn/utils/parametrize.py, torch/nn/utils/parametrizations.py.
"""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal

# Parametrizations of torch whose own code does not compile.
UNSCRIPTABLE_PARAMETRIZATIONS = frozenset(
    f"torch.nn.utils.parametrizations.{name}" for name in ("spectral_norm", "orthogonal")
)


def note_parametrized(compiler: Compiler, instance: py.ModuleValue, parameter: str) -> None:
    """A use of a parametrized parameter, which compiles and then raises."""
    if instance.parametrized[parameter] not in UNSCRIPTABLE_PARAMETRIZATIONS:
        place, module = compiler.reporter.place_of(instance)
        name = compiler.name_of(instance)
        compiler.report(Refusal("parametrized-parameter", place, name=name, parameter=parameter), module)
