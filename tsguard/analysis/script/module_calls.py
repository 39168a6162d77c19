"""Calls of modules, and isinstance tests on them, in compiled code.

Source: torch/csrc/jit/python/python_sugared_value.cpp (ModuleValue::call).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.budgets import COMPILED_CHILD_STEPS
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.script import hooks
from tsguard.analysis.script.annotations import isinstance_types
from tsguard.analysis.script.attributes import get_attribute
from tsguard.analysis.script.calls import call as call_value
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.derived_layers import inherited_overloads, never_compiles
from tsguard.analysis.script.module_attributes import get
from tsguard.analysis.script.parametrizations import note_parametrized
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.submodules import Submodules
from tsguard.analysis.script.sugared import (
    Simple,
    Sugared,
    SugaredModule,
    SugaredPython,
    SugaredUnknown,
    Value,
    simple,
)
from tsguard.language import types as t

if TYPE_CHECKING:
    from tsguard.analysis.script.sugared import Args, Kwargs


def is_instance(
    compiler: Compiler, fc: FunctionCompiler, value: SugaredModule, wanted: ast.expr
) -> bool | None:
    """``isinstance(module, Class)``, which is static; the class must be in the model."""
    answers: list[bool | None] = []
    for node in wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]:
        cls = compiler.interp.evaluate(node, fc.scope)
        if ancestry.is_module_class(compiler.interp, cls):
            answers.append(_exact_class(compiler, value, cls, node))
        else:
            answers.append(None if t.UNKNOWN in _types(compiler, fc, node) else False)
    return True if True in answers else None if None in answers else False


def _types(compiler: Compiler, fc: FunctionCompiler, wanted: ast.expr) -> list[t.Type]:
    try:
        return isinstance_types(compiler, wanted, fc.scope)
    except Refusal as refusal:
        part = refusal.facts.get("part", text_of(wanted))
        raise Refusal("isinstance-class/module", wanted, part=part) from None


def _exact_class(compiler: Compiler, value: SugaredModule, cls: py.Value, wanted: ast.expr) -> bool:
    own = value.instance.cls
    if own is cls or (isinstance(own, py.External) and own == cls):
        return True
    compiler.reporter.mark_target_specific()
    if cls not in compiler.model_classes and not any(cls == c for c in compiler.model_classes):
        raise Refusal("isinstance-class/module", wanted, part=text_of(wanted))
    return False


def call(
    compiler: Compiler,
    fc: FunctionCompiler,
    callee: SugaredModule,
    args: Args,
    kwargs: Kwargs,
    node: ast.Call,
) -> Sugared:
    """Call a module: its ``forward``."""
    if callee.interface is not None:
        return call_value(fc, get_attribute(fc, callee, "forward", node), args, kwargs, node)
    instance = callee.instance
    if instance.traced:
        return simple(t.UNKNOWN)  # what it returned for the example
    for parameter in instance.parametrized if isinstance(instance.cls, py.External) else ():
        note_parametrized(compiler, instance, parameter)
    if instance.hooks.get("forward") or instance.hooks.get("forward_pre"):
        return hooks.call(compiler, fc, callee, args, kwargs, node)
    if compiler.container_kind(instance) == "list" and _is_sequential(compiler, instance):
        return _call_sequential(compiler, fc, callee, args, node)
    recurrent = inherited_overloads(compiler.interp, instance)
    if recurrent and len(args) + len(kwargs) < 2 and not never_compiles(instance, recurrent):
        raise Refusal("unscriptable-layer/derived", node, name=compiler.name_of(instance), layer=recurrent)
    forward = get(compiler, fc, callee, "forward", node)
    if isinstance(forward, SugaredPython) and forward.receiver is not None and not forward.ignored:
        if forward.value == py.External("torch.nn.Module.forward"):
            raise Refusal("no-forward", node, name=compiler.name_of(instance))
        return SugaredUnknown()
    return call_value(fc, forward, args, kwargs, node)


def _is_sequential(compiler: Compiler, instance: py.ModuleValue) -> bool:
    """Whether forward is that of nn.Sequential, not overridden."""
    own = python_classes.class_member(compiler.interp, instance.cls, "forward")
    return own is None and ancestry.derives_from(compiler.interp, instance.cls, "torch.nn.Sequential")


def _call_sequential(
    compiler: Compiler, fc: FunctionCompiler, callee: SugaredModule, args: Args, node: ast.Call
) -> Sugared:
    """nn.Sequential passes one value through its children."""
    if len(args) != 1:
        raise Refusal("argument-count", node, function=text_of(node.func), expected="1", given=str(len(args)))
    if args[0].type not in (t.TENSOR, t.UNKNOWN):
        facts = {
            "function": text_of(node.func),
            "argument": "input",
            "wanted": "Tensor",
            "given": str(args[0].type),
        }
        raise Refusal("argument-type", node, **facts, value=text_of(node.args[0] if node.args else node))
    value = Value(t.TENSOR, node=node)
    children = Submodules(compiler, callee).values()
    for child in children.items:
        compiler.spend(COMPILED_CHILD_STEPS)
        if isinstance(child, SugaredUnknown):
            value = Value(t.UNKNOWN, node=node)
            continue
        assert isinstance(child, SugaredModule)
        try:
            value = as_value(fc, call(compiler, fc, child, [value], {}, node), node)
        except Refusal:  # Reported where the Sequential is compiled.
            return SugaredUnknown()
        value = Value(value.type, node=node, unlike=value.unlike)
    return Simple(value)
