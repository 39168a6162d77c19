"""Texts that spell a value: ``eval``, ``ast.literal_eval`` and ``json.loads`` of what is known."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable

from tsguard.analysis.python.computed_calls import Args, Handler, Kwargs
from tsguard.analysis.python.constants import literal
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.literals import written
from tsguard.analysis.values import Unknown, Value, constant


def _read_by(read: Callable[[str], Value]) -> Handler:
    def run(interp: Interpreter, args: Args, kwargs: Kwargs, node: ast.AST | None) -> Value:
        """What the text spells; what is no plain value is not followed."""
        text = constant(interp.settled(args[0])) if len(args) == 1 and not kwargs else None
        try:
            return read(text.strip()) if isinstance(text, str) else Unknown()
        except (ValueError, SyntaxError):
            return Unknown()

    return run


HANDLERS: dict[str, Handler] = {
    "ast.literal_eval": _read_by(written),
    "builtins.eval": _read_by(written),
    "json.loads": _read_by(lambda text: literal(json.loads(text))),
}
