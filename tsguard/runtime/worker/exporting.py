"""torch.export: programs for the example's sizes or with some left open, and what AOTInductor makes of one."""

from __future__ import annotations

import inspect
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tsguard.runtime.worker.applicable import NotApplicable, need_compiler
from tsguard.runtime.worker.built import Built
from tsguard.runtime.worker.compiling import use_eagers_random_numbers
from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.values import tensors


@dataclass(frozen=True, slots=True)
class OpenCall(Call):
    """A call with sizes left open: for each of its tensors the dimensions, with a name that they share, or ""."""

    sizes: tuple[dict[int, str], ...] = ()


def exported(module: Any, call: Call) -> Built:
    """The program that torch.export makes, not strictly; of an ``OpenCall`` with its sizes open.

    Raises:
        NotApplicable: for a function, and where the installed torch cannot do it.
        Exception: torch refuses.
    """
    program = _program(module, call)
    return Built(program.module(), program)


def compiled_ahead(module: Any, call: Call) -> Built:
    """The exported program compiled by AOTInductor, loaded from its package.

    Raises:
        NotApplicable: there is no compiler, or torch cannot do it.
        Exception: torch refuses.
    """
    need_compiler()
    import torch._inductor

    if not hasattr(torch._inductor, "aoti_compile_and_package"):
        raise NotApplicable(f"torch {torch.__version__} has no torch._inductor.aoti_compile_and_package")
    use_eagers_random_numbers()
    path = Path(tempfile.mkdtemp(prefix="tsguard-")) / "program.pt2"
    torch._inductor.aoti_compile_and_package(_program(module, call), package_path=str(path))
    return Built(torch._inductor.aoti_load_package(str(path)), str(path))


def _program(module: Any, call: Call) -> Any:
    if not isinstance(module, nn.Module):
        raise NotApplicable("torch.export takes modules only")
    if "strict" not in inspect.signature(torch.export.export).parameters:
        raise NotApplicable(f"torch.export of torch {torch.__version__} does not support strict=False")
    sizes = call.sizes if isinstance(call, OpenCall) else ()
    call = call.cloned()
    shapes = _dynamic_shapes(module, call, sizes) if sizes else None
    return torch.export.export(module, call.args, call.kwargs or None, dynamic_shapes=shapes, strict=False)


def _dynamic_shapes(module: nn.Module, call: Call, sizes: tuple[dict[int, str], ...]) -> dict[str, Any]:
    """The sizes as torch takes them: by parameter, in the structure of what is given for it."""
    from torch.utils import _pytree

    names = {name for of_tensor in sizes for name in of_tensor.values() if name}
    dimensions: dict[str, Any] = {name: torch.export.Dim(name) for name in names}
    if any("" in of_tensor.values() for of_tensor in sizes):
        dimensions[""] = _automatic()
    by_tensor = {
        id(tensor): {dimension: dimensions[name] for dimension, name in of_tensor.items()} or None
        for tensor, of_tensor in zip(tensors((call.args, call.kwargs)), sizes, strict=True)
    }
    bound = inspect.signature(module.forward).bind(*call.args, **call.kwargs)
    shapes: dict[str, Any] = _pytree.tree_map(
        lambda leaf: by_tensor.get(id(leaf)) if isinstance(leaf, Tensor) else None, dict(bound.arguments)
    )
    return shapes


def _automatic() -> Any:
    automatic = getattr(torch.export.Dim, "AUTO", None)
    if automatic is None:
        raise NotApplicable(f"torch {torch.__version__} has no Dim.AUTO: name the sizes with --dynamic")
    return automatic
