"""Overloads that torch refuses: untyped, with other defaults, without an implementation.

Source: torch/jit/_recursive.py (``check_no_signature``), torch/_jit_internal.py (``get_default_args``),
torch/jit/_script.py (``_check_overload_defaults``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import text_of
from tsguard.analysis.script.refusals import Refusal
from tsguard.source.functions import named_parameters
from tsguard.source.type_comments import signature_comment


def refused(
    declaration: ast.FunctionDef, implementation: ast.FunctionDef, lines: list[str], *, is_method: bool
) -> Iterator[Refusal]:
    """What is wrong with one declaration; ``lines`` are those of its module."""
    if _is_untyped(declaration, lines):
        yield Refusal("unscriptable-function/overload-untyped", declaration, name=declaration.name)
    if is_method:
        return
    own, written = _defaults(declaration), _defaults(implementation)
    for name, default in own.items():
        if name not in written or ast.dump(written[name]) != ast.dump(default):
            facts = {"name": declaration.name, "parameter": name, "default": text_of(default)}
            yield Refusal("unscriptable-function/overload-default", declaration, **facts)


def _is_untyped(declaration: ast.FunctionDef, lines: list[str]) -> bool:
    spec = declaration.args
    parameters = named_parameters(spec)
    if declaration.returns is not None or any(p.annotation is not None for p in parameters):
        return False
    text, _, why = signature_comment(lines[declaration.lineno - 1 : declaration.end_lineno])
    return text is None and not why


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    spec = function.args
    positional = [*spec.posonlyargs, *spec.args]
    with_default = positional[len(positional) - len(spec.defaults) :]
    found = {p.arg: d for p, d in zip(with_default, spec.defaults, strict=True)}
    keywords = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {**found, **{p.arg: d for p, d in keywords if d is not None}}
