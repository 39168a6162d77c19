"""Fixes of wrappers that pass ``*args`` on, where no call of the file gives any."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.forwarded_keywords import passing
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.read_keywords import name_keywords
from tsguard.fixes.signatures import drop_unused_variadic, without_last_comma
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def drop_or_name(event: Event) -> Fix | None:
    """``*args`` and ``**kwargs`` go, or the keywords that are read become parameters."""
    return drop_unused_variadic(event) or _drop_forwarded(event) or name_keywords(event)


def _drop_forwarded(event: Event) -> Fix | None:
    """``def forward(self, x, *args): return self.fn(x, *args)`` becomes ``def forward(self, x): return self.fn(x)``.

    Unsafe: who passes more arguments is refused then.  Where a ``forward`` of the file does, it is left alone.
    """
    functions = functions_around(event.module.file, event.span)
    vararg = functions[0].args.vararg if functions else None
    if vararg is None or event.facts["parameter"] != f"*{vararg.arg}":
        return None
    function, name = functions[0], vararg.arg
    spec = function.args
    named = [a.arg for a in (*spec.posonlyargs, *spec.args) if a.arg not in ("self", "cls")]
    nodes = [n for part in function.body for n in ast.walk(part)]
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    passed = [a.value for n in nodes if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.Starred)]
    if not named or any(use not in passed for use in uses):
        return None
    if any(_passes_more(node, function, len(named)) for node in walked(event.module.file.tree)):
        return None

    def change(block: cst.BaseStatement) -> list[cst.BaseStatement] | None:
        if not isinstance(block, cst.FunctionDef):
            return None
        body = block.body.visit(passing({name: []}))
        star = cst.ParamStar() if block.params.kwonly_params else cst.MaybeSentinel.DEFAULT
        params = without_last_comma(block.params.with_changes(star_arg=star))
        return [block.with_changes(body=body, params=params)]

    edit = changed_block(event.module.file, function, change)
    return Fix("unsafe", f"Remove *{name}", (edit,)) if edit else None


def _passes_more(node: ast.AST, wrapper: Function, number: int) -> bool:
    """Whether a ``forward`` passes a module, by its looks, more arguments than so many."""
    if not isinstance(node, Function) or node is wrapper or node.name not in ("forward", "__call__"):
        return False
    return any(
        isinstance(call, ast.Call)
        and (len(call.args) > number or any(isinstance(a, ast.Starred) for a in call.args))
        and _may_be_module(call.func)
        for call in ast.walk(node)
    )


def _may_be_module(called: ast.expr) -> bool:
    if isinstance(called, ast.Attribute):
        return ast.unparse(called.value) == "self"
    return isinstance(called, ast.Subscript) or (
        isinstance(called, ast.Name) and called.id not in _OTHER and not called.id[:1].isupper()
    )


_OTHER = frozenset(
    {"rearrange", "repeat", "reduce", "einsum", "pack", "unpack", "default", "range", "zip", "max", "min"}
    | {"isinstance", "getattr", "hasattr", "print", "slice", "enumerate", "sum", "checkpoint"}
)
