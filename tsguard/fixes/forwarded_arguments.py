"""Fixes of wrappers that pass ``*args`` and ``**kwargs`` on, to what is known to take some or where no call of the file gives any."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, class_around
from tsguard.fixes.callers import gives_more
from tsguard.fixes.composing import unsafe
from tsguard.fixes.definitions_elsewhere import called
from tsguard.fixes.edits import between
from tsguard.fixes.forwarded_keywords import passing
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.read_keywords import name_keywords
from tsguard.fixes.relatives import descendants
from tsguard.fixes.signatures import drop_unused_variadic, takes_nothing_else, without_last_comma
from tsguard.fixes.spelling import Spelled, spelled
from tsguard.report import Edit, Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


@dataclass(frozen=True, slots=True)
class _Taken:
    """What a function takes beside what a call gives it: by position too, and by keyword only."""

    module: Module
    function: Function
    plain: tuple[ast.arg, ...]
    by_keyword: tuple[ast.arg, ...]


def drop_or_name(event: Event) -> Fix | None:
    """``*args`` and ``**kwargs`` go, or what is read or passed on of them becomes parameters."""
    return drop_unused_variadic(event) or pass_on_by_name(event) or name_keywords(event)


def pass_on_by_name(event: Event) -> Fix | None:
    """``def forward(self, x, **kwargs): return self.scaled(x, **kwargs)`` takes what ``scaled`` takes by name.

    Where it is not known what is called the arguments go. Unsafe: who passes more is refused then; where the file does, they stay.
    """
    functions = functions_around(event.module.file, event.span)
    told = event.facts.get("parameter", event.facts.get("value", "")).lstrip("*")
    function = functions[0] if functions else None
    if function is None or told not in _variadics(function):
        return None
    nodes = [n for part in function.body for n in walked(part)]
    calls = [n for n in nodes if isinstance(n, ast.Call) and told in _passed_on(n)]
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == told]
    if not calls or len(uses) != len(calls) or takes_nothing_else(function, told):
        return None
    taken = [_taken(event.module, call) for call in calls]
    if taken == [None] * len(taken):
        return None if gives_more(event.module.file, function, told) else _dropped(event, function, told)
    return _named(event, function, calls[0], taken[0]) if len(calls) == 1 and taken[0] is not None else None


def _variadics(function: Function) -> list[str]:
    return [a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None]


def _passed_on(call: ast.Call) -> list[str]:
    """The names that a call unpacks."""
    starred = [a.value for a in call.args if isinstance(a, ast.Starred)]
    return [ast.unparse(n) for n in (*starred, *(k.value for k in call.keywords if k.arg is None))]


def _taken(module: Module, call: ast.Call, seen: tuple[Function, ...] = ()) -> _Taken | None:
    """What is called where it is known, with what it takes beside what it is given."""
    found = called(module, module.file.span(call), call.func)
    if found is None:
        return None
    there, function = found
    # What is passed on further is as unknown as what takes it.
    inner = [n for part in function.body for n in walked(part) if isinstance(n, ast.Call)]
    further = [n for n in inner if set(_passed_on(n)) & set(_variadics(function))]
    if further and (function in seen or all(_taken(there, n, (*seen, function)) is None for n in further)):
        return None
    spec, owner = function.args, class_around(there.file, there.file.span(function))
    plain = [*spec.posonlyargs, *spec.args]
    if owner is not None and function in owner.body and not function.decorator_list:
        plain = plain[1:]
    given = sum(not isinstance(a, ast.Starred) for a in call.args)
    words = {k.arg for k in call.keywords}
    left = tuple(a for a in plain[given:] if a.arg not in words)
    return _Taken(there, function, left, tuple(a for a in spec.kwonlyargs if a.arg not in words))


def _named(event: Event, function: Function, call: ast.Call, taken: _Taken) -> Fix | None:
    """The fix that gives the wrapper the parameters of what it calls."""
    spec, passed = function.args, _passed_on(call)
    if set(passed) != set(_variadics(function)) or spec.kwonlyargs or _variadics(taken.function):
        return None
    if taken.function.decorator_list or _is_overridden(taken):
        return None
    by_position = [a.arg for a in taken.plain] if spec.vararg is not None else []
    by_keyword = [] if spec.kwarg is None else [*([] if by_position else taken.plain), *taken.by_keyword]
    names = [*by_position, *(a.arg for a in by_keyword)]
    own = {n.id for n in walked(function) if isinstance(n, ast.Name)} | {
        n.arg for n in walked(function) if isinstance(n, ast.arg)
    }
    if set(names) & own:
        return None
    params, imports = [], list[Edit]()
    for argument in (*taken.plain, *taken.by_keyword):
        if argument.arg in names:
            made = _parameter(event.module, function, taken, argument)
            if made is None:
                return None
            params.append(made[0])
            imports += made[1]
    before = [p.default is None for p in params]
    if sorted(before, reverse=True) != before or (spec.defaults and any(before)):
        return None
    given = {spec.vararg.arg: by_position} if spec.vararg is not None else {}
    if spec.kwarg is not None:
        given[spec.kwarg.arg] = [a.arg for a in by_keyword]
    edit = _changed(event, function, given, params)
    told = " and ".join(
        f"{star}{a.arg}" for star, a in (("*", spec.vararg), ("**", spec.kwarg)) if a is not None
    )
    return unsafe(f"Name what {told} may be given", dict.fromkeys(imports), edit)


def _is_overridden(taken: _Taken) -> bool:
    """Whether a class that derives from that of a method has one of its own, with other parameters."""
    owner = class_around(taken.module.file, taken.module.file.span(taken.function))
    wanted = ast.unparse(taken.function.args)
    return any(
        isinstance(n, Function) and n.name == taken.function.name and ast.unparse(n.args) != wanted
        for child in (descendants(taken.module.file, owner) if owner is not None else ())
        for n in child.body
    )


def _parameter(
    module: Module, function: Function, taken: _Taken, argument: ast.arg
) -> tuple[cst.Param, tuple[Edit, ...]] | None:
    """A parameter as what is called has it, written where the wrapper is; None where that may mean something else."""
    there, spec = taken.module, taken.function.args
    plain = [*spec.posonlyargs, *spec.args]
    defaults = dict(
        zip((a.arg for a in plain[len(plain) - len(spec.defaults) :]), spec.defaults, strict=True)
    )
    defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    default, annotation = defaults.get(argument.arg), argument.annotation
    if default is not None and not all(isinstance(n, _LITERAL) for n in ast.walk(default)):
        return None
    written = Spelled("") if annotation is None else _annotation(module, function, there, annotation)
    if written is None:
        return None
    told = cst.Annotation(cst.parse_expression(written.text)) if written.text else None
    value = (
        cst.parse_expression(between(there.file, there.file.span(default))) if default is not None else None
    )
    return cst.Param(cst.Name(argument.arg), told, default=value), written.edits


_LITERAL = (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.Load)


def _annotation(module: Module, function: Function, there: Module, node: ast.expr) -> Spelled | None:
    if there is module:
        return Spelled(between(module.file, module.file.span(node)))
    return spelled(ast.unparse(node).replace("torch.Tensor", "Tensor"), module, function.lineno)


def _dropped(event: Event, function: Function, name: str) -> Fix | None:
    """``def forward(self, x, *args): return self.fn(x, *args)`` becomes ``def forward(self, x): return self.fn(x)``."""
    star = "*" if function.args.vararg is not None and function.args.vararg.arg == name else "**"
    return unsafe(f"Remove {star}{name}", _changed(event, function, {name: []}, []))


def _changed(
    event: Event, function: Function, given: dict[str, list[str]], added: list[cst.Param]
) -> Edit | None:
    """The edit that passes names on in the place of ``*args`` and ``**kwargs``, which the parameters lose."""

    def change(block: cst.FunctionDef) -> cst.BaseStatement:
        own = block.params
        if own.star_kwarg is not None and own.star_kwarg.name.value in given:
            own = own.with_changes(star_kwarg=None)
        if isinstance(own.star_arg, cst.Param) and own.star_arg.name.value in given:
            own = own.with_changes(
                star_arg=cst.ParamStar() if own.kwonly_params else cst.MaybeSentinel.DEFAULT
            )
        own = without_last_comma(own)
        body = block.body.visit(passing(given))
        return block.with_changes(body=body, params=own.with_changes(params=[*own.params, *added]))

    return changed_block(event.module.file, function, cst.FunctionDef, change)
