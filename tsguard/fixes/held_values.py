"""What a module holds that TorchScript cannot: put in ``__init__`` as something that it can."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around
from tsguard.fixes.edits import between
from tsguard.fixes.imports import is_of_torch, torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def hold_otherwise(event: Event) -> Fix | None:
    """An array of numpy is held as a list, a lambda that gives back what it takes as ``nn.Identity()``."""
    reason = event.facts.get("reason", "")
    if "ndarray" in reason:
        return _hold_list(event)
    return _hold_identity(event) if "lambda" in reason else None


def _hold_list(event: Event) -> Fix | None:
    """``self.offsets = np.array(...)`` becomes ``self.offsets = np.array(...).tolist()``.

    Unsafe: what does arithmetic with the array does something else with a list, or nothing.
    """
    file = event.module.file
    values = [v for v in _values(event) if not (isinstance(v, ast.Constant) and v.value is None)]
    if not values or not all(isinstance(v, ast.Call) for v in values):
        return None
    edits = [rewritten(file, v, f"{between(file, file.span(v))}.tolist()") for v in values]
    made = tuple(e for e in edits if e is not None)
    return Fix("unsafe", f"Hold {event.facts['name']} as a list", made) if len(made) == len(values) else None


def _hold_identity(event: Event) -> Fix | None:
    """``self.shortcut = lambda x: x`` becomes ``self.shortcut = nn.Identity()``."""
    file = event.module.file
    lambdas = [v for v in _values(event) if isinstance(v, ast.Lambda)]
    if not lambdas or not all(map(_gives_back, lambdas)):
        return None
    short = "nn" in event.module.bindings and is_of_torch(event.module, "nn")
    torch = () if short else torch_imported(event.module, event.span.line)
    made = "nn.Identity()" if short else "torch.nn.Identity()"
    edits = [rewritten(file, v, made) for v in lambdas]
    changes = tuple(e for e in edits if e is not None)
    if torch is None or len(changes) != len(lambdas):
        return None
    return Fix("safe", f"Make {event.facts['name']} an Identity", (*torch, *changes))


def _values(event: Event) -> list[ast.expr]:
    """What the class assigns to the attribute."""
    owner, name = class_around(event.module.file, event.span), event.facts["name"]
    return [
        node.value
        for node in (ast.walk(owner) if owner is not None else ())
        if isinstance(node, ast.Assign)
        and any(
            isinstance(t, ast.Attribute) and t.attr == name and ast.unparse(t.value) == "self"
            for t in node.targets
        )
    ]


def _gives_back(node: ast.Lambda) -> bool:
    args = node.args
    plain = len(args.args) == 1 and not (args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs)
    return plain and isinstance(node.body, ast.Name) and node.body.id == args.args[0].arg
