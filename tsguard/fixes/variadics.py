"""Fixes of ``*args`` and ``**kwargs`` by what eager was seen to pass: each argument gets a name."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, statement
from tsguard.fixes.composing import unsafe
from tsguard.fixes.forwarded_keywords import pass_where_taken, passing
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, function_at
from tsguard.fixes.spelling import spelled
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def variadics_seen(module: Module, line: int, name: str, types: Mapping[str, tuple[str, ...]]) -> list[Fix]:
    """``def forward(self, *args): return self.net(*args)`` becomes ``def forward(self, arg): return self.net(arg)``.

    Unsafe: who passes another number of arguments is refused then.

    Args:
        line: the function's first line, that of its first decorator if it has any.
        types: under ``*args`` how many arguments were passed, under ``**kwargs`` their names.
    """
    function = function_at(module.file, line, name)
    vararg = function.args.vararg if function is not None else None
    kwarg = function.args.kwarg if function is not None else None
    if function is None or (vararg is None and kwarg is None):
        return []
    taken = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} | {
        n.arg for n in ast.walk(function) if isinstance(n, ast.arg)
    }
    names: dict[str, list[str]] = {}
    if vararg is not None:
        seen = types.get(f"*{vararg.arg}", ())
        if kwarg is None and seen and (len(seen) > 1 or not _is_only_passed_on(function, {vararg.arg: []})):
            return _held(module, function, vararg.arg, sorted(map(int, seen)), taken)
        if len(seen) != 1:
            return []
        names[vararg.arg] = _names(vararg.arg, int(seen[0]), taken)
    if kwarg is not None:
        seen = types.get(f"**{kwarg.arg}", ())
        if len(seen) != 1:
            return pass_where_taken(module, function, kwarg.arg, seen) if vararg is None else []
        names[kwarg.arg] = [word for word in seen[0].split(", ") if word]
        if set(names[kwarg.arg]) & taken:
            return []
    if not _is_only_passed_on(function, names):
        return []

    def change(block: cst.FunctionDef) -> cst.BaseStatement:
        body = block.body.visit(passing(names))
        return block.with_changes(body=body, params=_named(block.params, names))

    edit = changed_block(module.file, function, cst.FunctionDef, change)
    told = " and ".join(f"{star}{a.arg}" for star, a in (("*", vararg), ("**", kwarg)) if a is not None)
    fix = unsafe(f"Name what {told} was given", edit)
    return [fix] if fix is not None else []


def _held(module: Module, function: Function, variadic: str, counts: list[int], taken: set[str]) -> list[Fix]:
    """``def forward(self, *xs)`` becomes ``def forward(self, x0, x1)`` with ``xs = (x0, x1)``.

    Where eager passes one or two, ``x1`` may be None, and ``xs`` is a list that it is appended to.
    """
    least, most = counts[0], counts[-1]
    names = [f"{variadic.removesuffix('s') or variadic}{i}" for i in range(most)]
    typed = spelled("Optional[Tensor]", module, function.lineno)
    if not least or set(names) & taken or typed is None:
        return []
    listed = least < most or _is_indexed(function, variadic) or _is_assigned(function, variadic)
    around = "[{}]" if listed else "({},)" if least == 1 else "({})"
    lines = [f"{variadic} = {around.format(', '.join(names[:least]))}\n"]
    lines += [f"if {name} is not None:\n    {variadic}.append({name})\n" for name in names[least:]]

    def change(block: cst.FunctionDef) -> cst.BaseStatement | None:
        if not isinstance(block.body, cst.IndentedBlock):
            return None
        body = list(block.body.body)
        at = 1 if ast.get_docstring(function) is not None else 0
        body[at:at] = [statement(line) for line in lines]
        params = [cst.Param(cst.Name(name)) for name in names[:least]]
        for name in names[least:]:
            annotation = cst.Annotation(cst.parse_expression(typed.text))
            params.append(cst.Param(cst.Name(name), annotation, default=cst.Name("None")))
        own = block.params
        star = cst.ParamStar() if own.kwonly_params else cst.MaybeSentinel.DEFAULT
        every = own.with_changes(params=[*own.params, *params], star_arg=star)
        return block.with_changes(params=every, body=block.body.with_changes(body=body))

    edit = changed_block(module.file, function, cst.FunctionDef, change)
    imports = typed.edits if least < most else ()
    fix = unsafe(f"Name what *{variadic} was given", imports, edit)
    return [fix] if fix is not None else []


def _is_assigned(function: Function, name: str) -> bool:
    """Whether a variable becomes something else, which is no tuple of that length in most cases."""
    nodes = [n for part in function.body for n in ast.walk(part)]
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in nodes)


def _is_indexed(function: Function, name: str) -> bool:
    """Whether a variable is indexed with what is known at run time only."""
    nodes = [n for part in function.body for n in ast.walk(part) if isinstance(n, ast.Subscript)]
    return any(
        ast.unparse(n.value) == name
        and not isinstance(n.slice, (ast.Constant, ast.Slice))
        and not (isinstance(n.slice, ast.UnaryOp) and isinstance(n.slice.operand, ast.Constant))
        for n in nodes
    )


def _names(variadic: str, number: int, taken: set[str]) -> list[str]:
    """Names for the arguments: ``arg`` for one of ``*args``, ``arg0`` and ``arg1`` for two."""
    single = variadic.removesuffix("s") or variadic
    names = [single] if number == 1 else [f"{single}{i}" for i in range(number)]
    return [name if name not in taken or name == variadic else f"{name}_" for name in names]


def _is_only_passed_on(function: Function, names: Mapping[str, list[str]]) -> bool:
    """Whether the body does nothing else with them than ``f(*args, **kwargs)``."""
    nodes = [n for part in function.body for n in ast.walk(part)]
    used = sum(isinstance(n, ast.Name) and n.id in names for n in nodes)
    passed = 0
    for call in nodes:
        if isinstance(call, ast.Call):
            starred = [a.value for a in call.args if isinstance(a, ast.Starred)]
            starred += [k.value for k in call.keywords if k.arg is None]
            passed += sum(isinstance(value, ast.Name) and value.id in names for value in starred)
    return used == passed


def _named(params: cst.Parameters, names: Mapping[str, list[str]]) -> cst.Parameters:
    """The parameters with names in the place of what took any number."""
    positional, by_keyword = list(params.params), list(params.kwonly_params)
    star = params.star_arg
    if isinstance(star, cst.Param) and star.name.value in names:
        positional += [cst.Param(cst.Name(name)) for name in names[star.name.value]]
        star = cst.ParamStar() if by_keyword else cst.MaybeSentinel.DEFAULT
    if params.star_kwarg is not None and params.star_kwarg.name.value in names:
        added = [cst.Param(cst.Name(name)) for name in names[params.star_kwarg.name.value]]
        if any(p.default is not None for p in positional) or by_keyword:
            by_keyword += added
            star = cst.ParamStar() if added and not isinstance(star, cst.Param) else star
        else:
            positional += added
        params = params.with_changes(star_kwarg=None)
    every = by_keyword or positional
    if every:
        every[-1] = every[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return params.with_changes(params=positional, kwonly_params=by_keyword, star_arg=star)
