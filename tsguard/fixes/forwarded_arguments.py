"""Fixes of wrappers that pass ``*args`` on, where no call of the file gives any."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.callers import gives_more
from tsguard.fixes.forwarded_keywords import passing
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import functions_around
from tsguard.fixes.read_keywords import name_keywords
from tsguard.fixes.signatures import drop_unused_variadic, takes_nothing_else, without_last_comma
from tsguard.report import Fix

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
    nodes = [n for part in function.body for n in ast.walk(part)]
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    passed = [a.value for n in nodes if isinstance(n, ast.Call) for a in n.args if isinstance(a, ast.Starred)]
    if takes_nothing_else(function, name) or any(use not in passed for use in uses):
        return None
    if gives_more(event.module.file, function, name):
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
