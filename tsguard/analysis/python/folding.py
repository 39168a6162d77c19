"""Constant folding: Python's own operators, builtins and methods, called with the constants of user code.

They raise here what they raise in the user's program: this is the one place that catches all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tsguard.analysis.python import sizes
from tsguard.analysis.python.constants import literal
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.values import Unknown, Value


def folded(
    interp: Interpreter, function: Callable[..., Any], constants: Sequence[Any], node: ast.AST | None
) -> Value:
    """The result of a builtin called with constants, unknown where it is too large.

    Raises:
        Raised: the builtin raises.
    """
    try:
        return literal(sizes.checked(function(*constants)))
    except sizes.Huge:
        return Unknown()
    except Exception as error:
        raise Raised(type(error).__name__, node) from None


def folded_default(function: Callable[..., Any], constants: Sequence[Any]) -> Value | None:
    """The result of a builtin called with defaults of parameters; None where it raises or is too large."""
    try:
        return literal(sizes.checked(function(*constants)))
    except Exception:
        return None
