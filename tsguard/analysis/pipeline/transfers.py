"""Copies to a device: asynchronous only by half, or item by item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import ItemCode, Pipeline
from tsguard.analysis.pipeline.frames import Frame
from tsguard.analysis.pipeline.loaders import LoaderLoop
from tsguard.analysis.pipeline.names import PipelineNames
from tsguard.source.walking import walked


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loop in pipeline.loops:
        yield from _half_pinned(pipeline, loop)
    for code in pipeline.item_code:
        yield from _transfers_of_items(pipeline, code)


def _half_pinned(pipeline: Pipeline, loop: LoaderLoop) -> Iterator[Event]:
    """The first transfer of a batch that is pinned but waited for, or not waited for but not pinned."""
    pinned = loop.loader.value("pin_memory")
    for call in _transfers(loop, pipeline.names):
        blocking = _non_blocking(call, pipeline.names, loop.frame)
        if pinned is True and blocking is False:
            yield pipeline.event("half-pinned-transfer/blocking", call, call=text_of(call, 40))
            return
        if pinned is False and blocking is True:
            yield pipeline.event("half-pinned-transfer/pageable", call, call=text_of(call, 40))
            return


def _transfers(loop: LoaderLoop, names: PipelineNames) -> Iterator[ast.Call]:
    """Calls in the loop that move a batch, or a part of it, to a device other than the CPU."""
    holders = set(loop.batch)
    for node in walked(loop.loop):
        if isinstance(node, ast.comprehension) and _root(node.iter) in holders:
            holders |= {n.id for n in walked(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.Assign):
            holders |= set(_parts_taken(node, holders))
    for node in walked(loop.loop):
        moves = isinstance(node, ast.Call) and to_device(node, names, loop.frame)
        if isinstance(node, ast.Call) and moves and _root(node) in holders:
            yield node


def _parts_taken(node: ast.Assign, holders: set[str]) -> Iterator[str]:
    """Names that are given a batch's parts as they are: ``x, y = batch``, ``x, y = batch["x"], batch["y"]``."""
    for target in node.targets:
        targets, values = [target], [node.value]
        if isinstance(target, (ast.Tuple, ast.List)):
            targets = target.elts
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(targets)
        for name, value in zip(targets, values, strict=False):
            taken = not any(isinstance(part, ast.Call) for part in walked(value))
            if isinstance(name, ast.Name) and taken and _root(value) in holders:
                yield name.id


def _root(expression: ast.AST) -> str:
    """The name that a chain of attributes, items and method calls begins with."""
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _non_blocking(call: ast.Call, names: PipelineNames, frame: Frame) -> bool | None:
    """Whether a transfer is not waited for; None where that cannot be told."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    given = next((k.value for k in call.keywords if k.arg == "non_blocking"), None)
    positional = call.args[2:3] if len(call.args) > 2 else []
    given = given or (positional[0] if positional else None)
    if given is None:
        return False
    value = names.constant(given, frame)
    return value if isinstance(value, bool) else None


def to_device(call: ast.Call, names: PipelineNames, frame: Frame) -> str:
    """ "cuda" where a method call moves to a GPU for certain, "device" where to some device, else ""."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method == "cuda":
        return "cuda"
    if method != "to":
        return ""
    given = next((k.value for k in call.keywords if k.arg == "device"), None)
    given = given or (call.args[0] if call.args else None)
    return device(given, names, frame) if given is not None else ""


def device(expression: ast.expr, names: PipelineNames, frame: Frame) -> str:
    """What an expression tells of the device that it names: "cuda", "device" or "" (the CPU, or none)."""
    value, where = names.origin(expression, frame)
    if isinstance(value, ast.IfExp):
        return (
            "device"
            if "cuda" in (device(value.body, names, where), device(value.orelse, names, where))
            else ""
        )
    if isinstance(value, ast.Call) and names.qualified(value.func, where) == "torch.device" and value.args:
        return device(value.args[0], names, where)
    if isinstance(value, ast.Constant):
        return "cuda" if isinstance(value.value, str) and value.value.startswith("cuda") else ""
    named = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return "device" if named == "device" or named.endswith("_device") else ""


def _transfers_of_items(pipeline: Pipeline, code: ItemCode) -> Iterator[Event]:
    in_workers = _in_workers(pipeline, code)
    for call, site in pipeline.calls_in(code.frame):
        place = to_device(call, code.names, site.frame) or _made_on(call, code.names, site.frame)
        if place == "cuda" and in_workers:
            yield pipeline.event("device-in-dataset/worker", call, call=text_of(call, 40))
        elif place and code.role == "item":
            yield pipeline.event("device-in-dataset", call, call=text_of(call, 40))


def _made_on(call: ast.Call, names: PipelineNames, frame: Frame) -> str:
    """The device of a tensor that a function of torch makes."""
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
    if given is None or not names.qualified(call.func, frame).startswith("torch."):
        return ""
    return "cuda" if device(given, names, frame) == "cuda" else ""


def _in_workers(pipeline: Pipeline, code: ItemCode) -> bool:
    """Whether a loader of this module runs the code in its workers."""
    for loader in pipeline.loaders:
        if loader.has_workers:
            given = loader.argument("collate_fn")
            collates = given is not None and loader.names.definition(given, loader.frame)
            if collates and collates.node is code.function:
                return True
            if code.role == "item" and loader.dataset is not None and loader.dataset.node is code.frame.cls:
                return True
    return False
