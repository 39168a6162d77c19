"""Which sizes of a call are left open for torch.export, and which variants then have to agree."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from torch import nn

from tsguard.runtime.worker.applicable import NotApplicable
from tsguard.runtime.worker.exporting import OpenCall
from tsguard.runtime.worker.parity import Eager
from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.values import leaves, tensors
from tsguard.runtime.worker.variants import InputVariant
from tsguard.settings.dynamic import OpenSizes


def opened(eager: Eager, wanted: Sequence[OpenSizes]) -> OpenCall:
    """A call of the module with the wanted sizes open; without any, the first of each tensor.

    Raises:
        NotApplicable: there is nothing to leave open.
    """
    if not isinstance(eager.module, nn.Module):
        raise NotApplicable("torch.export takes modules only")
    sizes = _named(eager, wanted) if wanted else _first(eager.call)
    if not any(sizes):
        raise NotApplicable("no input has a dimension that can be dynamic")
    call = _without_ones(eager, sizes)
    return OpenCall(call.args, call.kwargs, call.gradients, sizes)


def is_covered(variant: InputVariant, example: Call, call: OpenCall) -> bool:
    """Whether a program with these sizes open has to take a variant: other sizes in the open dimensions only.

    torch.export leaves it open what becomes of a size of 0.
    """
    changed = list(_changed(example, variant.call))
    return all(size and dimension in call.sizes[index] for index, dimension, size in changed)


def tries_others(eager: Eager, call: OpenCall) -> bool:
    """Whether eager takes another size in one of the open dimensions."""
    return any(v.note is not None and is_covered(v, eager.call, call) for v, _ in eager.answers)


def _first(call: Call) -> tuple[dict[int, str], ...]:
    return tuple({0: ""} if tensor.dim() else {} for tensor in tensors((call.args, call.kwargs)))


def _named(eager: Eager, wanted: Sequence[OpenSizes]) -> tuple[dict[int, str], ...]:
    call = eager.call
    bound = inspect.signature(eager.module.forward).bind(*call.args, **call.kwargs)
    paths = {
        id(leaf): f"{name}{path}" for name, value in bound.arguments.items() for path, leaf in leaves(value)
    }
    unknown = [w.input for w in wanted if w.input not in bound.arguments and w.input not in paths.values()]
    if unknown:
        raise NotApplicable(f"{unknown[0]}, which has dynamic dimensions, is not a tensor input")
    return tuple(
        {
            dimension: name
            for one in wanted
            if paths[id(tensor)] == one.input
            or paths[id(tensor)].startswith((f"{one.input}[", f"{one.input}."))
            for dimension, name in one.dimensions
            if dimension < tensor.dim()
        }
        for tensor in tensors((call.args, call.kwargs))
    )


def _without_ones(eager: Eager, sizes: tuple[dict[int, str], ...]) -> Call:
    """The example, or what is like it with larger sizes where torch would take a 1 for always 1."""
    open_call = OpenCall(eager.call.args, eager.call.kwargs, eager.call.gradients, sizes)
    if _is_large(eager.call, sizes):
        return eager.call
    for variant, _ in eager.answers:
        if is_covered(variant, eager.call, open_call) and _is_large(variant.call, sizes):
            return variant.call
    return eager.call


def _is_large(call: Call, sizes: tuple[dict[int, str], ...]) -> bool:
    pairs = zip(tensors((call.args, call.kwargs)), sizes, strict=True)
    return all(tensor.shape[dimension] > 1 for tensor, of_tensor in pairs for dimension in of_tensor)


def _changed(one: Call, other: Call) -> Iterator[tuple[int, int, int]]:
    """Where the sizes of two calls differ: tensor, dimension, the other's size."""
    pairs = zip(tensors((one.args, one.kwargs)), tensors((other.args, other.kwargs)), strict=True)
    for index, (a, b) in enumerate(pairs):
        for dimension, (before, after) in enumerate(zip(a.shape, b.shape, strict=True)):
            if before != after:
                yield index, dimension, after
