"""Fixes of one expression that TorchScript gives another type: converted, or called by another name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import between, edit
from tsguard.fixes.expressions import is_condition
from tsguard.fixes.imports import has_torch, module_imported, torch_imported
from tsguard.fixes.numbers import as_floats, numbers_in
from tsguard.fixes.pieces import atom, rewritten
from tsguard.fixes.places import Function, functions_around, nodes_around, nodes_at
from tsguard.report import Applicability, Fix
from tsguard.source import SourceFile
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def convert_to_int(event: Event) -> Fix | None:
    """``range(n / 2)`` becomes ``range(int(n / 2))``; ``a or b`` is a bool in TorchScript, which counts to 1."""
    node = _named(event, "value", "index", "expression")
    return _wrapped(event, node, "int") if not isinstance(node, ast.BoolOp) else None


def _wrapped(event: Event, node: ast.expr | None, function: str, kind: Applicability = "safe") -> Fix | None:
    if node is None:
        return None
    text = between(event.module.file, event.module.file.span(node))
    change = rewritten(event.module.file, node, f"{function}({text})")
    return composed(kind, f"Convert with {function}(...)", change)


def _named(event: Event, *keys: str) -> ast.expr | None:
    """The expression at the event's place that reads as one of its facts."""
    file = event.module.file
    texts = {event.facts[key] for key in keys if key in event.facts}
    found = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.expr)]
    within = [n for n in found if _lies_in(event, n)]
    return next((n for n in within if ast.unparse(n) in texts or between(file, file.span(n)) in texts), None)


def _lies_in(event: Event, node: ast.expr) -> bool:
    span, own = event.span, event.module.file.span(node)
    start, end = (span.line, span.column), (span.end_line, span.end_column)
    return start <= (own.line, own.column) and (own.end_line, own.end_column) <= end


def _is_declared_int(event: Event, value: ast.expr) -> bool:
    """Whether a value is a parameter that is annotated as an int, which what is done with it may need."""
    return any(
        parameter.annotation is not None and "int" in ast.unparse(parameter.annotation)
        for function in functions_around(event.module.file, event.span)
        for parameter in named_parameters(function.args)
        if isinstance(value, ast.Name) and parameter.arg == value.id
    )


def write_floats_in_both(event: Event) -> Fix | None:
    """``x if test else 0`` becomes ``x if test else 0.0``, where the other side is a float.

    Unsafe: a Tensor of integers times 0.0 has another dtype.
    """
    node = next(nodes_at(event.module.file, event.span, ast.IfExp), None)
    if node is None or {event.facts["then"], event.facts["otherwise"]} != {"int", "float"}:
        return None
    side = node.body if event.facts["then"] == "int" else node.orelse
    if _is_declared_int(event, side):
        return None
    if not (isinstance(side, ast.Constant) and type(side.value) is int):
        return _wrapped(event, side, "float", "unsafe")
    change = rewritten(event.module.file, side, f"{side.value}.0")
    return unsafe(f"Write {side.value} as {side.value}.0", change)


def rename_keyword(event: Event) -> Fix | None:
    """``x.sum(axis=1)`` becomes ``x.sum(dim=1)``, the name that torch itself gives the argument."""
    file, wanted = event.module.file, event.facts["keyword"]
    calls = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.Call)]
    calls = [c for c in calls if _lies_in(event, c) or c in list(nodes_at(file, event.span, ast.Call))]
    for call in calls:
        for keyword in call.keywords:
            if keyword.arg == wanted:
                span = file.span(keyword)
                text = between(file, span)
                change = edit(file, span, event.facts["meant"] + text[len(wanted) :])
                return safe(f"Write {event.facts['meant']}", change)
    return None


def compare_with_none(event: Event) -> Fix | None:
    """``x == None`` becomes ``x is None``."""
    node = next(nodes_at(event.module.file, event.span, ast.Compare), None)
    change = rewritten(event.module.file, node, event.facts["instead"]) if node is not None else None
    return safe("Compare with is", change)


def ask_for_none_first(event: Event) -> Fix | None:
    """``self.size == 3`` of what is None becomes ``(False if self.size is None else self.size == 3)``."""
    file, value = event.module.file, event.facts["value"]
    node = next(nodes_at(file, event.span, ast.Compare), None)
    if node is None or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return None
    sides = [n for n in (node.left, node.comparators[0]) if ast.unparse(n) == value]
    if len(sides) != 1 or not isinstance(sides[0], (ast.Name, ast.Attribute)):
        return None
    text, subject = between(file, file.span(node)), between(file, file.span(sides[0]))
    alone = not isinstance(node.ops[0], ast.Eq)
    new = f"({alone} if {subject} is None else {text})"
    return safe(f"Ask first whether {value} is None", rewritten(file, node, new))


def call_torch_instead(event: Event) -> Fix | None:
    """``x.ndimension()`` becomes ``x.dim()``, ``x.new(2, 3)`` becomes ``x.new_empty(2, 3)``."""
    file, name = event.module.file, event.facts["name"]
    attribute = next((n for n in nodes_at(file, event.span, ast.Attribute) if n.attr == name), None)
    if attribute is None:
        return None
    call = next((c for c in around(file, event.span, ast.Call) if c.func is attribute), None)
    if call is None or call.keywords:
        return None
    owner = atom(file, attribute.value)
    args = [between(file, file.span(arg)) for arg in call.args]
    text = _instead(name, owner, call.args, args)
    change = rewritten(file, call, text) if text else None
    torch = torch_imported(event.module, event.span.line) if text and "torch." in text else ()
    return composed("unsafe" if name.startswith("new") else "safe", f"Write {text}", torch, change)


_SIMPLY = {
    "nelement": "{}.numel()",
    "ndimension": "{}.dim()",
    "bool": "{}.to(torch.bool)",
    "bfloat16": "{}.to(torch.bfloat16)",
    "__len__": "len({})",
}


def _instead(name: str, owner: str, nodes: list[ast.expr], args: list[str]) -> str | None:
    if name in _SIMPLY:
        return None if args else _SIMPLY[name].format(owner)
    if name == "unique":
        return f"torch.unique({', '.join((owner, *args))})"
    made = isinstance(nodes[0], (ast.List, ast.ListComp)) if len(nodes) == 1 else False
    if len(args) == 1 and (name == "new_tensor" or (name == "new" and made)):
        return f"torch.tensor({args[0]}, dtype={owner}.dtype, device={owner}.device)"
    return f"{owner}.new_empty({', '.join(args) if args else '0'})" if name == "new" else None


_MATH = {
    "sqrt": "math.sqrt",
    "log": "math.log",
    "log2": "math.log2",
    "log10": "math.log10",
    "exp": "math.exp",
    "floor": "math.floor",
    "ceil": "math.ceil",
    "sin": "math.sin",
    "cos": "math.cos",
    "tan": "math.tan",
    "pi": "math.pi",
    "abs": "abs",
    "power": "math.pow",
}


def use_math(event: Event) -> Fix | None:
    """``np.sqrt(n)`` becomes ``math.sqrt(n)``; ``.astype(int)`` and ``.item()`` of the result go.

    Unsafe: the result is no number of numpy any more, which decides the dtype of what is computed with it.
    """
    file = event.module.file
    called = next(nodes_at(file, event.span, ast.expr), None)
    function = called.func if isinstance(called, ast.Call) else called
    if not isinstance(function, ast.Attribute) or function.attr not in _MATH:
        return None
    edits = module_imported(event.module, "math", event.span.line)
    if edits is None:
        return None
    new = _MATH[function.attr]
    call = called if isinstance(called, ast.Call) else None
    call = call or next((c for c in around(file, event.span, ast.Call) if c.func is function), None)
    if call is not None and _may_be_array(file, event, call, ast.unparse(function.value)):
        return None
    if call is None:
        return unsafe(f"Use {new}", edits, rewritten(file, function, new))
    text = f"{new}({', '.join(between(file, file.span(a)) for a in call.args)})"
    text, outer = _without_numpy_methods(file, call, text)
    return unsafe(f"Use {new}", edits, rewritten(file, outer, text))


def _may_be_array(file: SourceFile, event: Event, call: ast.Call, numpy: str) -> bool:
    """Whether numpy makes what a function of numpy is given, or what a name in it was assigned."""
    parts = [part for arg in call.args for part in ast.walk(arg)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    for function in around(file, event.span, ast.FunctionDef):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and any(_binds(target, names) for target in node.targets):
                parts += ast.walk(node.value)
    made = (part for part in parts if isinstance(part, ast.Attribute) and ast.unparse(part.value) == numpy)
    return any(part.attr not in _MATH for part in made)


def _binds(target: ast.expr, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(target))


def _without_numpy_methods(file: SourceFile, call: ast.Call, text: str) -> tuple[str, ast.expr]:
    """The call with the methods of a number of numpy that follow, and how it reads without them."""
    node: ast.expr = call
    for outer in reversed([c for c in nodes_around(file, call.lineno) if isinstance(c, ast.Call)]):
        method = outer.func
        if isinstance(method, ast.Attribute) and method.value is node:
            if method.attr == "astype" and outer.args and "int" in ast.unparse(outer.args[0]):
                text = f"int({text})"
            elif method.attr != "item":
                break
            node = outer
    return text, node


def take_torch_extreme(event: Event) -> Fix | None:
    """``max(x, y)`` of two Tensors becomes ``torch.maximum(x, y)``."""
    node = next(nodes_at(event.module.file, event.span, ast.Call), None)
    if node is None or len(node.args) != 2 or node.keywords or not has_torch(event.module):
        return None
    if event.facts.get("function") not in ("max", "min"):
        return None
    around = functions_around(event.module.file, event.span)
    if any(isinstance(arg, ast.Constant) or (around and _may_be_number(around[0], arg)) for arg in node.args):
        return None
    change = rewritten(event.module.file, node.func, f"torch.{event.facts['function']}imum")
    return unsafe(f"Use torch.{event.facts['function']}imum", change)


def _may_be_number(function: Function, value: ast.expr) -> bool:
    """Whether a value is made of a parameter that only TorchScript takes for a Tensor: nothing is asked of it."""
    bare = {a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.annotation is None}
    asked = {
        n.value.id
        for n in ast.walk(function)
        if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.value, ast.Name)
    }
    return any(isinstance(n, ast.Name) and n.id in bare - asked - {"self"} for n in ast.walk(value))


def stack_tensors(event: Event) -> Fix | None:
    """``torch.tensor([a, b])`` of Tensors becomes ``torch.stack([a, b])``, of a Tensor ``x.clone().detach()``."""
    file = event.module.file
    node = next(nodes_at(file, event.span, ast.Call), None)
    if node is None or len(node.args) != 1 or node.keywords:
        return None
    if "elements" in event.facts:
        if numbers_in(node.args[0]) == {int, float}:
            floats = rewritten(file, node.args[0], as_floats(between(file, file.span(node.args[0]))))
            return safe("Write the integers as floats", floats)
        if "Tensor" not in event.facts["elements"]:
            return None
        # A list that is grown elsewhere may be empty, and torch.stack takes none.
        literal = isinstance(node.args[0], ast.List) and bool(node.args[0].elts)
        change = rewritten(file, node.func, "torch.stack") if literal and has_torch(event.module) else None
        return unsafe("Stack the Tensors", change)
    text = between(file, file.span(node.args[0]))
    around = functions_around(file, event.span)
    if around and _may_be_number(around[0], node.args[0]):  # of which eager makes a Tensor
        text = f"torch.as_tensor({text})" if has_torch(event.module) else ""
    elif not isinstance(node.args[0], (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        text = f"({text})"
    if not text:
        return None
    return unsafe("Copy the Tensor", rewritten(file, node, f"{text}.clone().detach()"))


def test_for_length(event: Event) -> Fix | None:
    """``if sizes:`` of a list becomes ``if len(sizes) > 0:``; ``if self.down:`` of a module asks for None."""
    file = event.module.file
    node = next(nodes_at(file, event.span, ast.expr), None)
    if node is None:
        return None
    text = between(file, file.span(node))
    negated = next((n for n in around(file, event.span, ast.UnaryOp) if n.operand is node), None)
    target = negated if negated is not None and isinstance(negated.op, ast.Not) else node
    outer = {
        id(child): parent
        for parent in nodes_around(file, node.lineno)
        for child in ast.iter_child_nodes(parent)
    }
    if not is_condition(target, outer):
        return None
    if event.rule == "condition-type/object":
        new = f"{text} is None" if target is negated else f"{text} is not None"
        return unsafe("Test for None", rewritten(file, target, new))
    new = f"len({text}) == 0" if target is negated else f"len({text}) > 0"
    return safe("Test the length", rewritten(file, target, new))
