"""``# type:`` comments, which torch finds by text in a function's source.

Source: torch/jit/annotations.py (``get_type_line``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tsguard.source.functions import FunctionNode, first_line

_IGNORE = re.compile(r"# type:\ ignore(\[[a-zA-Z-]+\])?$")
_TYPO = re.compile(r"#[\t ]*type[\t ]*(?!: ignore(\[.*\])?$):")

NO_SIGNATURE = "is not a signature: (TYPES) -> TYPE"


def signature_comment(lines: list[str]) -> tuple[str | None, int, str]:
    """The signature that a function's type comments give.

    Returns:
        The text ``(A, B) -> R`` or None; the index of the offending line or -1; and
        what is wrong with it, empty where nothing is.
    """
    marked = [(i, line) for i, line in enumerate(lines) if "# type:" in line and not _IGNORE.search(line)]
    if not marked:
        for i, line in enumerate(lines):
            if _TYPO.search(line):
                return None, i, 'is not spelled "# type:"'
        return None, -1, ""
    if len(marked) == 1:
        index, line = marked[0]
        text = line[line.index("# type:") + len("# type:") :].strip()
        stripped = line.strip()
        if not stripped.startswith("# type:"):
            return (
                None,
                index,
                "follows code on its line, which TorchScript reads as part of the signature of the function",
            )
        if not text.startswith("("):
            return None, index, NO_SIGNATURE
        return text, -1, ""
    returns = next(((i, line) for i, line in marked if "# type: (...) -> " in line), None)
    if returns is None:
        return (
            None,
            marked[0][0],
            'is one of several, and none has the return type as "# type: (...) -> TYPE"',
        )
    parameters = [
        line[line.index("# type:") + len("# type:") :].strip() for i, line in marked if i < returns[0]
    ]
    text = returns[1][returns[1].index("# type:") + len("# type:") :].strip()
    return text.replace("...", ", ".join(parameters)), -1, ""


def types_of(text: str) -> tuple[list[ast.expr], ast.expr | None]:
    """The types of the parameters in ``(A, B) -> R``, and that of the result; raises SyntaxError for what has none."""
    given, _, returned = text.partition("->")
    types = ast.parse(given.strip(), mode="eval").body
    result = ast.parse(returned.strip(), mode="eval").body if returned else None
    return types.elts if isinstance(types, ast.Tuple) else [types], result


def commented_types(
    node: FunctionNode, lines: Sequence[str], parameters: Sequence[ast.arg]
) -> dict[str, ast.expr]:
    """The types that a comment gives the parameters of a function in these lines of a file; none where torch reads none."""
    own = lines[first_line(node) - 1 : _begin(node)]
    text = signature_comment(list(own))[0] if any("# type:" in line for line in own) else None
    try:
        types = types_of(text)[0] if text is not None else []
    except SyntaxError:
        types = []
    # The receiver of a method has none.
    named = parameters if len(types) == len(parameters) else parameters[1:]
    return {p.arg: given for p, given in zip(named, types, strict=True)} if len(types) == len(named) else {}


def _begin(node: FunctionNode) -> int:
    """The last line before what a function does, its docstring among them."""
    if isinstance(node, ast.Lambda):
        return 0
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.lineno - 1 if not is_text else node.body[1].lineno - 1 if len(node.body) > 1 else 0
