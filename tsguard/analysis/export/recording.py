"""Whether gradients are enabled: torch.export runs the code with gradients enabled.

A part of a tensor that is recorded is made anew once it has been written into, and the new one has other symbols
for what data tells than those that torch.export is waiting for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.python import library
from tsguard.analysis.trace.values import Traced, parts
from tsguard.source.assigning import switches_gradients
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_WITHOUT = frozenset({"no_grad", "inference_mode"})
# What gives whole numbers, truths, or the same without its way.
_LOSING = frozenset(
    [
        "detach", "detach_", "argmax", "argmin", "argsort", "nonzero", "long", "int", "bool", "any", "all", "isnan",
        "isinf", "isfinite", "eq", "ne", "gt", "ge", "lt", "le", "bincount", "unique", "count_nonzero", "searchsorted",
        "bucketize", "multinomial", "bernoulli", "one_hot", "numel", "new_zeros", "new_ones", "new_full", "new_empty",
        "new_tensor", "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like",
    ]
)  # fmt: skip

# Methods that change no element, for all their name.
_OF_ITSELF = frozenset({"requires_grad_", "detach_", "share_memory_"})


def is_recorded(held: Iterable[py.Value], node: ast.AST | None) -> bool:
    """Whether what ``node`` makes of values, here with all their parts, is, if gradients are on there."""
    if _is_losing(node):
        return False
    return any(isinstance(part, py.TensorValue) and _is_of_parameters(part) for part in held)


def _is_of_parameters(tensor: py.TensorValue) -> bool:
    return tensor.takes_gradients or (isinstance(tensor, Traced) and tensor.recorded)


def _is_losing(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call):
        return _name(node) in _LOSING
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Attribute) and node.attr == "data")


def by_layer(module: py.ModuleValue, result: py.Value) -> None:
    """What a layer with parameters gives is recorded."""
    owners = (part for _, part in library.descendants(module))
    held = [value for owner in owners for value in owner.parameters.values()]
    if any(not isinstance(value, py.TensorValue) or value.takes_gradients for value in held):
        for part in parts([result]):
            if isinstance(part, Traced):
                part.recorded = True


def are_recorded(tracer: Tracer, values: Iterable[py.Value]) -> bool:
    """Whether one of some tensors is, with a look at where gradients were off on its way."""
    tensors = [part for part in parts(values) if isinstance(part, py.TensorValue) and _is_of_parameters(part)]
    off = _where_off(tracer) if tensors else None
    if off is None:
        return False
    return any(
        not (isinstance(tensor, Traced) and off.intersection(map(id, steps(tensor)))) for tensor in tensors
    )


def called(tracer: Tracer, name: str, first: py.Value, node: ast.AST) -> None:
    """A function or method is called, which may change its first argument in place."""
    owner, _, short = name.rpartition(".")
    if not short.endswith("_") or short.endswith("__") or short in _OF_ITSELF:
        return
    if owner != "torch.nn.init":
        changed(tracer, first, node)
    elif _takes_gradients_itself(tracer, first, node):
        tracer.report("lost-no-grad", node)


# Methods of modules that write their parameters anew, in place and without gradients.
_REFILLING = frozenset({"load_state_dict", "reset_parameters", "_reset_parameters"})


def refilled(tracer: Tracer, name: str, module: py.ModuleValue, node: ast.AST) -> None:
    """A method of a module is called, which may change all its parameters in place."""
    if name in _REFILLING:
        held = (value for _, part in library.descendants(module) for value in part.parameters.values())
        if any(_takes_gradients_itself(tracer, value, node) for value in held):
            tracer.report("lost-no-grad", node)


def changed(tracer: Tracer, tensor: py.Value, node: ast.AST | None) -> None:
    """A tensor is changed in place: a parameter only where gradients are off.

    torch.export has them on, and a trace keeps the change, but not where gradients are off.
    """
    if not _takes_gradients_itself(tracer, tensor, node):
        return
    if _where_off(tracer) is None:
        tracer.report("lost-no-grad", node)
    else:
        report(tracer, "changed-parameter", node)


def _takes_gradients_itself(tracer: Tracer, tensor: py.Value, node: ast.AST | None) -> bool:
    """Whether a tensor is a parameter that is not frozen; what the code freezes one by one leaves that open."""
    if not isinstance(tensor, py.TensorValue) or tensor.role != "parameter" or not tensor.takes_gradients:
        return False
    modules = {tracer.target.module, *(frame.module for frame in tracer.frames)}
    if tensor.grad is None and any(switches_gradients(module.file.tree) for module in modules):
        gap = unread.frozen(tracer.module, node or tracer.target.node)
        tracer.note(gap)
        return False
    return True


def are_off(tracer: Tracer) -> bool:
    """Whether gradients are off where the code runs."""
    return _where_off(tracer) is None


def steps(tensor: Traced) -> Iterable[ast.AST | None]:
    """The expressions that a tensor is made by, the last first; None for the input that it begins with."""
    step = tensor.origin
    while True:
        yield step.node
        if step.parent is None:
            return
        step = step.parent


def _where_off(tracer: Tracer) -> set[int] | None:
    """The expressions (by identity) of the functions that run for which gradients are off; None if they are here."""
    functions = [frame.function for frame in tracer.frames if frame.function is not None]
    if any(turns_off(one) for function in functions for one in getattr(function, "decorator_list", ())):
        return None
    blocks = [
        node
        for function in functions
        for node in walked(function)
        if isinstance(node, ast.With) and any(turns_off(item.context_expr) for item in node.items)
    ]
    if any(block in tracer.enclosing for block in blocks) or any(map(_switches_off, functions)):
        return None
    return {id(node) for block in blocks for node in walked(block)}


def _switches_off(function: ast.AST) -> bool:
    """``torch.set_grad_enabled(False)`` as a statement."""
    return any(isinstance(node, ast.Expr) and _switches(node.value) for node in walked(function))


def turns_off(node: ast.expr) -> bool:
    """``torch.no_grad()``, ``torch.set_grad_enabled(False)``: around a block or a function."""
    return _switches(node) or _name(node) in _WITHOUT


def _switches(node: ast.expr) -> bool:
    """``torch.set_grad_enabled(False)``."""
    return switched(node) is False


def switched(node: ast.AST) -> bool | None:
    """What ``torch.set_grad_enabled`` is called with, as far as that is written; None for any other expression."""
    if not isinstance(node, ast.Call) or _name(node) != "set_grad_enabled":
        return None
    told = [bool(arg.value) for arg in node.args if isinstance(arg, ast.Constant)]
    return told[0] if told else None


def _name(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
