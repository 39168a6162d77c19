"""Modules that a constructor has changed so that their class does not tell any more what torch compiles.

Source: torch/jit/_recursive.py, ``infer_methods_to_compile`` reads ``forward`` from the instance.
"""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.events import Gap
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.module_attributes import chosen_forward


def unfollowed(compiler: Compiler, instance: py.ModuleValue) -> Gap | None:
    """Why it is not known what a module compiles to; None where its class tells."""
    why = None
    if "forward" in instance.attributes and chosen_forward(instance) is None:
        why = f"what forward of {compiler.name_of(instance)} is set to is not followed"
    elif missing := _missing(compiler, instance):
        why = f"{compiler.name_of(instance)} has no {missing[0]}, which its class gives it"
    if why is None:
        return None
    place, module = compiler.reporter.place_of(instance)
    return Gap(module, getattr(place, "lineno", 1), why)


def _missing(compiler: Compiler, instance: py.ModuleValue) -> list[str]:
    """The parameters that a layer of torch was constructed with and that were deleted."""
    entry = compiler.tables.modules.get(instance.cls.name) if isinstance(instance.cls, py.External) else None
    if entry is None or instance.open or not instance.initialized:
        return []
    held = {*instance.parameters, *instance.buffers, *instance.attributes, *instance.parametrized}
    return [name for name in ("weight", "bias") if name in entry["parameters"] and name not in held]
