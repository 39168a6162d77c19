"""Calls of functions of torch.jit: their arguments, and how their results are used."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.analysis.api import closures
from tsguard.analysis.api.tracking import Flow, Tracked
from tsguard.analysis.events import text_of
from tsguard.language.rule_names import RuleName
from tsguard.project.targets import is_module_class
from tsguard.report.records import replace
from tsguard.source.unparsing import unparsed

if TYPE_CHECKING:
    from tsguard.analysis.api.looks import Look

Given = list["Tracked | None"]


def _script(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    flow.usage.scripts = True
    _check_options(flow, node, "torch.jit.script")
    _check_instance(flow, node, "class-not-instance")
    first = given[0] if given else None
    return replace(first, kind="scripted") if first is not None and first.kind == "eager" else first


def _trace(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    if (
        not _argument(node, 1, "example_inputs", "example_kwarg_inputs")
        and node.args
        and not _is_starred(node)
    ):
        flow.usage.report("trace-without-inputs", node, name=text_of(node.args[0]))
        return None
    _check_instance(flow, node, "class-not-instance/trace")
    return _traced(flow, node, given)


def _trace_module(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    inputs = _argument(node, 1, "inputs")
    if isinstance(inputs, (ast.Tuple, ast.List)) or (inputs is not None and _is_tensor(flow, inputs)):
        flow.usage.report("trace-module-inputs", inputs, inputs=text_of(inputs))
    return _traced(flow, node, given)


def _traced(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    _check_options(flow, node, "torch.jit.trace")
    if _is_false(_argument(node, 3, "check_trace")):
        flow.usage.report("check-trace-disabled", node)
    first = given[0] if given else None
    if first is None or first.kind != "eager":
        return None
    look = _look(flow, first)
    if look.depends and _trains(first, look):
        flow.usage.report("traced-in-training-mode", node, name=_name(node), layers=_layers(look))
    if _is_false(_argument(node, 6, "strict")):
        returned = closures.dictionary_returned(look.value)
        if returned is not None:
            flow.usage.report("non-strict-trace", node, returned=returned)
    traced = replace(first, kind="traced")
    flow.traced.append(traced)
    return traced


def _freeze(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    return _fixed(flow, node, given, "torch.jit.freeze", "frozen-in-training-mode")


def _optimize(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    return _fixed(flow, node, given, "torch.jit.optimize_for_inference", "optimized-in-training-mode")


def _fixed(flow: Flow, node: ast.Call, given: Given, function: str, rule: RuleName) -> Tracked | None:
    first = given[0] if given else None
    if first is None:
        return None
    look = _look(flow, first)
    if first.kind == "eager":
        if look.is_eager:
            flow.usage.report("eager-module", node, name=_name(node), function=function)
        return None
    if first.kind in ("scripted", "traced") and look.value is not None and _trains(first, look):
        flow.usage.report(rule, node, name=_name(node))
    key = unparsed(node.args[0])
    if function == "torch.jit.optimize_for_inference" and key in flow.env:
        flow.env[key] = replace(first, mode="eval")
    return replace(first, kind="frozen", mode="eval")


def _save(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    first = given[0] if given else None
    if first is not None and first.kind == "eager":
        if _look(flow, first).is_eager:
            flow.usage.report("eager-module", node, name=_name(node), function="torch.jit.save")
    elif first is not None:
        check_saved(flow, node, first)
    return None


def check_saved(flow: Flow, node: ast.Call, saved: Tracked) -> None:
    """Report what is wrong with a compiled module that is saved."""
    if saved.kind != "scripted":
        return
    look = _look(flow, saved)
    if look.value is None:
        return
    ignored = closures.ignored_call(flow.usage.names.program, look.value)
    if ignored is not None:
        flow.usage.report("ignored-call-saved", node, name=ignored)
    if look.depends and _trains(saved, look):
        flow.usage.report("saved-in-training-mode", node, layers=_layers(look))


def _load(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    has_more = any(keyword.arg is None for keyword in node.keywords) or _is_starred(node)
    if not has_more and _argument(node, 1, "map_location") is None:
        flow.usage.report("load-without-map-location", node)
    return None


def _lite(flow: Flow, node: ast.Call, given: Given) -> Tracked | None:
    flow.usage.report("deprecated-entry-point/lite", node)
    return None


HANDLERS: dict[str, Callable[[Flow, ast.Call, Given], Tracked | None]] = {
    "torch.jit.script": _script,
    "torch.jit.trace": _trace,
    "torch.jit.trace_module": _trace_module,
    "torch.jit.freeze": _freeze,
    "torch.jit.optimize_for_inference": _optimize,
    "torch.jit.save": _save,
    "torch.jit.load": _load,
    "torch.jit.mobile._load_for_lite_interpreter": _lite,
}


def finish(flow: Flow) -> None:
    """Report ``unused`` on what is traced: it keeps nothing out of a trace."""
    for traced in flow.traced:
        value = _look(flow, traced).value
        for function in closures.unused_branches(value) if value is not None else ():
            if function.module is flow.usage.module and not flow.usage.scripts:
                flow.usage.report("unused-in-trace", function.node, name=function.name)


def _check_instance(flow: Flow, node: ast.Call, rule: RuleName) -> None:
    """A class of modules where an instance is wanted."""
    if not node.args:
        return
    usage = flow.usage
    cls = usage.names.class_of(node.args[0])
    name = usage.names.dotted(node.args[0])
    is_class = cls is not None and is_module_class(usage.names.program.project, cls)
    if is_class or name in usage.names.program.tables.modules:
        usage.report(rule, node.args[0], name=text_of(node.args[0]))


def _check_options(flow: Flow, node: ast.Call, function: str) -> None:
    for keyword in node.keywords:
        if keyword.arg == "optimize":
            flow.usage.report("deprecated-entry-point/optimize", keyword.value, function=function)


def _look(flow: Flow, tracked: Tracked) -> Look:
    return flow.usage.looks.at(tracked.made)


def _trains(tracked: Tracked, look: Look) -> bool:
    return tracked.mode == "train" or (tracked.mode == "fresh" and look.in_training)


def _layers(look: Look) -> str:
    """The first layers that depend on the mode, for a message."""
    shown = [f'"{path}"' for path in look.layers[:3]]
    more = len(look.layers) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "") if shown else "its code"


def _name(node: ast.Call) -> str:
    return text_of(node.args[0], 40) if node.args else "the module"


def _argument(node: ast.Call, index: int, *names: str) -> ast.expr | None:
    """An argument by its place or by one of its names."""
    if index < len(node.args):
        return node.args[index]
    return next(
        (keyword.value for keyword in node.keywords if keyword.arg in names or keyword.arg is None), None
    )


def _is_starred(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args)


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _is_tensor(flow: Flow, node: ast.expr) -> bool:
    """Whether an expression is a call of one of torch's tensor factories."""
    if not isinstance(node, ast.Call):
        return False
    described = flow.usage.names.program.tables.entry(flow.usage.names.dotted(node.func))
    return isinstance(described, str) and described.startswith("aten::")
