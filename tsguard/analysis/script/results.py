"""What the target's own functions return, for those who call them: its type, and what it is unlike."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.sugared import Unlike, Value
from tsguard.language import types as t
from tsguard.language.schemas import Schema
from tsguard.project.modules import Module
from tsguard.report.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class OwnSchema(Schema):
    """The schema of a function that was compiled; ``unlike`` comes from its ``module``."""

    unlike: Unlike | None = None
    module: Module | None = None


def returned(fc: FunctionCompiler, value: Value) -> None:
    """Keep what a returned value is unlike for those who call the function."""
    if fc.unlike is None and not _is_declared(fc.declared, value.unlike):
        fc.unlike = value.unlike


def _is_declared(declared: t.Type | None, unlike: Unlike | None) -> bool:
    """Whether the author says that it is what TorchScript makes of it."""
    return unlike is not None and declared is {"int": t.FLOAT, "Tensor": t.BOOL}.get(unlike.kind, t.UNKNOWN)


def result(fc: FunctionCompiler, schema: Schema, returns: t.Type, node: ast.AST) -> Value:
    """What a call returns, or the property that is read at ``node``."""
    unlike = schema.unlike if isinstance(schema, OwnSchema) else None
    if unlike is None or (isinstance(schema, OwnSchema) and schema.module is fc.module):
        return Value(returns, unlike=unlike)
    return Value(returns, unlike=_moved(unlike, node))


def _moved(unlike: Unlike, node: ast.AST) -> Unlike:
    """A difference that comes from another file is reported where it gets into this one."""
    facts = unlike.facts
    if unlike.kind in ("int", "Tensor"):
        facts = (("expression", text_of(node)),)
    parts = tuple(None if part is None else _moved(part, node) for part in unlike.parts)
    return replace(unlike, node=node, facts=facts, parts=parts)
