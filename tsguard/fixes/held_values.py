"""What a module holds that TorchScript cannot: put in ``__init__`` as something that it can."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.declared_constants import in_class
from tsguard.fixes.edits import between
from tsguard.fixes.imports import imported, is_of_torch, torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.report import Fix
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def hold_otherwise(event: Event) -> Fix | None:
    """An array of numpy is held as a list, a lambda that gives back what it takes as ``nn.Identity()``."""
    reason = event.facts.get("reason", "")
    if "ndarray" in reason:
        return _hold_list(event)
    if reason == "an empty list":
        return _declare_list(event)
    return _hold_identity(event) if "lambda" in reason else None


def _declare_list(event: Event) -> Fix | None:
    """``self.gpu_ids = gpu_ids`` that is only asked for its length is declared as ``List[int]``, or as it says.

    Unsafe: for other arguments of the constructor it may hold something else.
    """
    owner, name = class_around(event.module.file, event.span), event.facts["name"]
    imports = imported(event.module, "typing", ["List"], owner.lineno) if owner is not None else None
    if owner is None or imports is None or not all(_is_measured(owner, n) for n in _reads(owner, name)):
        return None
    written = _said_of(owner, name) or "List[int]"
    declared = in_class(event.module, owner, f"{name}: {written}")
    return unsafe(f"Declare {name} as {written}", imports if written.startswith("List") else [], declared)


def _said_of(owner: ast.ClassDef, name: str) -> str:
    """The type of a list that the constructor itself writes: of the attribute, or of the parameter kept in it."""
    init = next((n for n in owner.body if isinstance(n, Function) and n.name == "__init__"), None)
    for node in ast.walk(init) if init is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if init is None or not any(isinstance(t, ast.Attribute) and t.attr == name for t in targets):
            continue
        said = getattr(node, "annotation", None)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            parameters = {p.arg: p.annotation for p in named_parameters(init.args)}
            said = parameters.get(node.value.id)
        if isinstance(said, ast.Subscript) and ast.unparse(said.value) in ("List", "list"):
            return ast.unparse(said)
    return ""


def _reads(owner: ast.ClassDef, name: str) -> list[ast.Attribute]:
    """Where the methods of a class, but for the constructor, read an attribute of theirs."""
    methods = [n for n in owner.body if isinstance(n, Function) and n.name != "__init__"]
    nodes = [n for method in methods for n in ast.walk(method) if isinstance(n, ast.Attribute)]
    return [n for n in nodes if n.attr == name and isinstance(n.ctx, ast.Load)]


def _is_measured(owner: ast.ClassDef, node: ast.expr) -> bool:
    """Whether only the length of a list counts, or it is handed to what compiled code does not call."""
    for outer in ast.walk(owner):
        if isinstance(outer, ast.Call) and node in outer.args:
            return ast.unparse(outer.func).rpartition(".")[2] in ("len", "data_parallel")
        if isinstance(outer, ast.BoolOp) and node in outer.values:
            return True
        if isinstance(outer, (ast.If, ast.IfExp)) and outer.test is node:
            return True
    return False


def _hold_list(event: Event) -> Fix | None:
    """``self.offsets = np.array(...)`` becomes ``self.offsets = np.array(...).tolist()``.

    Unsafe: what does arithmetic with the array does something else with a list, or nothing.
    """
    file = event.module.file
    values = [v for v in _values(event) if not (isinstance(v, ast.Constant) and v.value is None)]
    if not values or not all(isinstance(v, ast.Call) for v in values):
        return None
    edits = [rewritten(file, v, f"{between(file, file.span(v))}.tolist()") for v in values]
    return unsafe(f"Hold {event.facts['name']} as a list", edits)


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
    return safe(f"Make {event.facts['name']} an Identity", torch, edits)


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
