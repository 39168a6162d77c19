"""Fixes of the kinds of parameters: those that TorchScript knows, called as before."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.callers import gives_more
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.definitions_elsewhere import called
from tsguard.fixes.edits import between
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, functions_around, nodes_around, nodes_at
from tsguard.report import Fix
from tsguard.source import SourceFile
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_Change: TypeAlias = "Callable[[cst.FunctionDef], cst.FunctionDef | None]"


def _function(event: Event) -> Function | None:
    """The function whose parameters the event is about."""
    around = functions_around(event.module.file, event.span)
    starting = [
        n
        for n in nodes_around(event.module.file, event.span.line)
        if isinstance(n, Function) and n.lineno == event.span.line
    ]
    return next(iter(starting or around), None)


def drop_unused_variadic(event: Event) -> Fix | None:
    """``def forward(self, x, **kwargs)`` becomes ``def forward(self, x)``, where the body does not use them.

    Unsafe: who passes more arguments is refused then.
    """
    function = _function(event)
    wanted = event.facts["parameter"].lstrip("*")
    if function is None:
        return None
    used = {node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    if wanted in used or takes_nothing_else(function, wanted):
        return None
    if gives_more(event.module.file, function, wanted):
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        params = definition.params
        if params.star_kwarg is not None and params.star_kwarg.name.value == wanted:
            params = params.with_changes(star_kwarg=None)
        elif isinstance(params.star_arg, cst.Param) and params.star_arg.name.value == wanted:
            # Parameters by keyword only stay so.
            star = cst.ParamStar() if params.kwonly_params else cst.MaybeSentinel.DEFAULT
            params = params.with_changes(star_arg=star)
        else:
            return None
        return definition.with_changes(params=without_last_comma(params))

    return unsafe(
        f"Remove {event.facts['parameter']}",
        changed_block(event.module.file, function, cst.FunctionDef, change),
    )


def takes_nothing_else(function: Function, name: str) -> bool:
    """Whether all that a function is given it gets as ``*args``: it is called with something."""
    spec = function.args
    named = [a for a in named_parameters(spec) if a.arg not in ("self", "cls")]
    return spec.vararg is not None and spec.vararg.arg == name and not named


def without_last_comma(params: cst.Parameters) -> cst.Parameters:
    """Parameters that end where the last one does."""
    if params.star_kwarg is not None:
        return params
    if isinstance(params.star_arg, cst.Param) and not params.kwonly_params:
        return params.with_changes(star_arg=params.star_arg.with_changes(comma=cst.MaybeSentinel.DEFAULT))
    field = "kwonly_params" if params.kwonly_params else "params"
    listed = list(getattr(params, field))
    if listed:
        listed[-1] = listed[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return params.with_changes(**{field: listed})


def allow_by_position(event: Event) -> Fix | None:
    """``def f(x, *, scale=0.1)`` becomes ``def f(x, scale=0.1)``: every call goes on as it did."""
    function = _function(event)
    if function is None or function.args.vararg is not None:
        return None
    defaults = [d is not None for d in function.args.kw_defaults]
    if function.args.defaults and not all(defaults):
        return None
    if sorted(defaults) != defaults:
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        params = definition.params
        if not isinstance(params.star_arg, cst.ParamStar):
            return None
        params = params.with_changes(
            params=[*params.params, *params.kwonly_params],
            kwonly_params=[],
            star_arg=cst.MaybeSentinel.DEFAULT,
        )
        return definition.with_changes(params=params)

    return safe(
        "Allow the arguments by position too",
        changed_block(event.module.file, function, cst.FunctionDef, change),
    )


def allow_by_name(event: Event) -> Fix | None:
    """``def clip(x, limit, /)`` becomes ``def clip(x, limit)``: every call goes on as it did."""
    function = _function(event)
    if function is None or function.args.kwarg is not None:  # which takes their names, too
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        params = definition.params
        if not isinstance(params.posonly_ind, cst.ParamSlash):
            return None
        joined = [*params.posonly_params, *params.params]
        joined[-1] = joined[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        params = params.with_changes(posonly_params=[], posonly_ind=cst.MaybeSentinel.DEFAULT, params=joined)
        return definition.with_changes(params=params)

    return safe(
        "Allow the arguments by name too", changed_block(event.module.file, function, cst.FunctionDef, change)
    )


def make_static(event: Event) -> Fix | None:
    """A method that takes no self becomes a static method."""
    function = _function(event)
    if function is None or function.args.args or function.decorator_list:
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        return definition.with_changes(decorators=[cst.Decorator(cst.Name("staticmethod"))])

    return safe(
        "Make it a static method", changed_block(event.module.file, function, cst.FunctionDef, change)
    )


def take_self(event: Event) -> Fix | None:
    """``forward`` of a module that is a static method takes ``self``.

    Unsafe: who calls it on the class has to give a module then.
    """
    function = _function(event)
    if function is None or function.name != "forward":
        return None
    if [ast.unparse(d) for d in function.decorator_list] != ["staticmethod"]:
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        params = definition.params
        params = params.with_changes(params=[cst.Param(cst.Name("self")), *params.params])
        return definition.with_changes(decorators=[], params=params)

    return unsafe("Take self", changed_block(event.module.file, function, cst.FunctionDef, change))


_GRADIENTS = ("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled")


def _is_autocast(decorator: ast.expr) -> bool:
    """``@autocast("cuda", enabled=False)``, told in constants, as TorchScript takes it behind ``with``."""
    if not isinstance(decorator, ast.Call):
        return False
    told = [*decorator.args, *(k.value for k in decorator.keywords if k.arg in ("device_type", "enabled"))]
    constant = all(isinstance(value, ast.Constant) for value in told)
    named = ast.unparse(decorator.func).rpartition(".")[2] == "autocast"
    return named and constant and len(told) == len(decorator.args) + len(decorator.keywords)


def leave_decorator_for_with(event: Event) -> Fix | None:
    """``@torch.no_grad()`` over a method becomes ``with torch.no_grad():`` in it; ``@autocast`` likewise."""
    found = _decorated(event)
    if found is None:
        return None
    file, function = found
    managers = [between(file, file.span(d)) for d in function.decorator_list]
    if len(managers) != 1 or not (
        managers[0].startswith(_GRADIENTS) or _is_autocast(function.decorator_list[0])
    ):
        return None
    manager = managers[0] if managers[0].endswith(")") else f"{managers[0]}()"
    if manager.partition("(")[0].rpartition(".")[2] not in ("no_grad", "autocast"):
        return None  # torch.jit.script enters no other
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(function)):
        return None

    def change(definition: cst.FunctionDef) -> cst.FunctionDef | None:
        if not isinstance(definition.body, cst.IndentedBlock):
            return None
        body = list(definition.body.body)
        kept = 1 if function.body and _is_text(function.body[0]) else 0
        if len(body) <= kept:
            return None
        item = cst.WithItem(cst.parse_expression(manager))
        block = cst.With([item], cst.IndentedBlock(body[kept:]), leading_lines=())
        new = definition.body.with_changes(body=[*body[:kept], block])
        return definition.with_changes(decorators=[], body=new)

    return safe(f"Write with {manager} inside", changed_block(file, function, cst.FunctionDef, change))


def _decorated(event: Event) -> tuple[SourceFile, Function] | None:
    """The function that an event is about: the one around it, or the one that is called there, in whichever file."""
    file, name = event.module.file, event.facts["function"].rpartition(".")[2]
    above = [n for n in nodes_around(file, event.span.line) if isinstance(n, Function) and n.name == name]
    if above:
        return file, above[-1]
    call = next(nodes_at(file, event.span, ast.Call), None)
    elsewhere = called(event.module, event.span, call.func if call is not None else ast.Name(name))
    return (elsewhere[0].file, elsewhere[1]) if elsewhere is not None else None


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
