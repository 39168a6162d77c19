"""``x.data``, through which torch.export loses the computation: only its shape and dtype are harmless."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.trace.values import Opaque, Traced
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

# Types of inputs that torch.export takes, beside tensors.
_KNOWN = (int, float, str, tuple, list, dict)
# What is asked of x.data and rests on no element of it.
_OF_FORM = frozenset(
    [
        "shape", "size", "dim", "ndim", "ndimension", "dtype", "device", "layout", "numel", "nelement",
        "is_cuda", "get_device", "type", "element_size", "stride", "is_contiguous", "new", "is_floating_point", "requires_grad", "data_ptr",
        "new_tensor",
    ]
)  # fmt: skip

_FUNCTIONS_OF_FORM = frozenset(
    [
        "torch.numel",
        "torch.is_tensor",
        "torch.is_floating_point",
        "torch.is_complex",
        "builtins.len",
        "builtins.isinstance",
        "builtins.type",
    ]
)


def data_taken(tracer: Tracer, owner: py.TensorValue, node: ast.AST | None) -> None:
    """``owner.data`` is read."""
    if _named_for_its_form(tracer, node):
        return
    report(tracer, "data-attribute", node, owner.origin if isinstance(owner, Traced) else None)


def data_set(tracer: Tracer, owner: py.TensorValue, node: ast.AST | None) -> None:
    """``owner.data = ...``: the program does not have it, which matters to who reads a parameter or buffer again."""
    if not isinstance(owner, Traced) or owner.of != "state":
        report(tracer, "held-value/replaced", node, name=_assigned(tracer, owner))
        return
    name = owner.origin.root.name
    event = tracer.event("data-attribute", node)
    if event is not None:
        tracer.exports.replaced[name] = event
    report(tracer, "held-value/data", node, name=name)


def _assigned(tracer: Tracer, owner: py.TensorValue) -> str:
    """What the statement calls the tensor whose ``.data`` it assigns."""
    targets = tracer.statement.targets if isinstance(tracer.statement, ast.Assign) else []
    named = [unparsed(target.value) for target in targets if isinstance(target, ast.Attribute)]
    return named[0] if named else owner.origin.root.name if isinstance(owner, Traced) else "a tensor"


def state_read(tracer: Tracer, name: str) -> None:
    """A parameter or buffer is read: the program has what it was before its ``.data`` was set."""
    event = tracer.exports.replaced.get(name)
    if event is not None:
        tracer.exports.add(event, is_sure=not tracer.branches)


def _named_for_its_form(tracer: Tracer, node: ast.AST | None) -> bool:
    """Whether it gets a name of which no more than the form is asked: ``w = self.w.data``, then ``w.new(2)``."""
    statement, function = tracer.statement, tracer.frames[-1].function
    if not isinstance(statement, ast.Assign) or statement.value is not node or function is None:
        return False
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return False
    nodes = list(walked(function))
    formal = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr in _OF_FORM}
    named = (n for n in nodes if isinstance(n, ast.Name) and n.id == target.id)
    return all(n is target or id(n) in formal for n in named)


def taken_of_state(tracer: Tracer, owner: py.TensorValue, name: str, node: ast.AST | None) -> None:
    """An attribute that no tensor has is read of a parameter or buffer: that of the program does not have it."""
    if not isinstance(owner, Traced) or owner.of != "state" or node is None or _is_set(tracer, name):
        return
    if isinstance(node, ast.Call) and (_function(node) == "hasattr" or len(node.args) > 2):
        if name in owner.given:
            report(tracer, "held-value/given", node, name=name)
    elif (name in owner.given or not tracer.exports.missing) and not _is_asked_for(tracer, name):
        report(tracer, "given-attribute", node, name=name)


def _is_asked_for(tracer: Tracer, name: str) -> bool:
    """Whether the code has asked for it before, and torch.export, which does not find it, goes another way."""
    events = tracer.exports.events.values()
    return any(event.rule == "held-value/given" and event.facts["name"] == name for event in events)


def _function(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_set(tracer: Tracer, name: str) -> bool:
    """Whether the code that runs sets an attribute of this name itself."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for frame in tracer.frames
        if frame.function is not None
        for node in walked(frame.function)
    )


def taken_of_data(tracer: Tracer, name: str, node: ast.AST | None) -> None:
    """An attribute of a tensor is read: one of ``x.data`` may be harmless."""
    if name in _OF_FORM and isinstance(node, ast.Attribute):
        _is_harmless(tracer, node.value)


def given_data(tracer: Tracer, name: str, node: ast.AST) -> None:
    """A function is called, which may ask ``x.data`` for no more than its form."""
    if name in _FUNCTIONS_OF_FORM and isinstance(node, ast.Call) and node.args:
        _is_harmless(tracer, node.args[0])


def _is_harmless(tracer: Tracer, taken: ast.expr) -> None:
    """Nothing is computed with ``x.data`` where it stands: what was recorded of it does not hold."""
    event = tracer.event("data-attribute", taken) if _is_data(taken) else None
    if event is None:
        return
    for key, known in list(tracer.exports.events.items()):
        if known.rule == event.rule and known.span == event.span and known.module is event.module:
            del tracer.exports.events[key]


def _is_data(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def taken_of_input(tracer: Tracer, owner: py.Value, name: str, node: ast.AST | None) -> None:
    """An attribute of an input is read: what no tensor and no container has says that it is an object."""
    if not isinstance(owner, (Traced, Opaque)) or owner.origin.node is not None or not owner.origin.name:
        return
    if isinstance(owner, Traced) and owner.of != "inputs":
        return
    if any(hasattr(kind, name) for kind in _KNOWN) or owner.origin.name in tracer.exports.annotated:
        return
    if isinstance(node, ast.Call) and (_function(node) == "hasattr" or node.args[2:]):
        return  # what only asks whether there is one, and ``getattr`` with a default, take a tensor as well
    if name not in tracer.tables.tensor:
        report(tracer, "unknown-type/read", node, owner.origin)
    else:
        tracer.exports.tensors.add(owner.origin.name)
