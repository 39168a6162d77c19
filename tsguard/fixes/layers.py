"""Fixes of how modules are held, made and called: constructed in ``__init__``, taken by loops."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import (
    around,
    changed_block,
    fresh_name,
    inserted_before,
    method_around,
    receiver,
    removed,
    statement_around,
)
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.constructors import constructor_of, held_last
from tsguard.fixes.edits import between
from tsguard.fixes.imports import has_torch
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around, nodes_around, nodes_at
from tsguard.fixes.relatives import is_settled
from tsguard.fixes.stateless_modules import asks_for_submodules, is_stateless
from tsguard.report import Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# Layers without parameters, and the function that does the same; the names of its arguments are the layer's.
_FUNCTIONS = {
    "ReLU": "relu",
    "ReLU6": "relu6",
    "LeakyReLU": "leaky_relu",
    "ELU": "elu",
    "SELU": "selu",
    "GELU": "gelu",
    "SiLU": "silu",
    "Softplus": "softplus",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Hardtanh": "hardtanh",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "MaxPool2d": "max_pool2d",
    "AvgPool2d": "avg_pool2d",
    "MaxPool1d": "max_pool1d",
    "AvgPool1d": "avg_pool1d",
    "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
    "AdaptiveMaxPool2d": "adaptive_max_pool2d",
    "AdaptiveAvgPool1d": "adaptive_avg_pool1d",
    "Upsample": "interpolate",
    "PixelShuffle": "pixel_shuffle",
    "CosineSimilarity": "cosine_similarity",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "CrossEntropyLoss": "cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "BCELoss": "binary_cross_entropy",
    "NLLLoss": "nll_loss",
    "KLDivLoss": "kl_div",
}
# Those whose arguments come in the function's order, behind what it is called with.
_BY_POSITION = frozenset(
    {
        "LeakyReLU",
        "ELU",
        "MaxPool2d",
        "AvgPool2d",
        "MaxPool1d",
        "AvgPool1d",
        "PixelShuffle",
        "ReLU",
        "ReLU6",
        "SiLU",
        "Upsample",
    }
)


def call_function_instead(event: Event) -> Fix | None:
    """``nn.ReLU(inplace=True)(x)`` becomes ``nn.functional.relu(x, inplace=True)``.

    A variable that holds a layer is not needed then: ``norm = nn.Softmax(dim=1)`` goes, ``norm(x)`` becomes a call of
    the function.
    """
    file = event.module.file
    made = next(nodes_at(file, event.span, ast.Call), None)
    if made is None:
        return None
    outer = next((c for c in around(file, event.span, ast.Call) if c.func is made), None)
    if outer is None:
        return _without_variable(event, made) or _made_in_init(event, made)
    new = _function_call(file, made, outer)
    if new is None:
        return _made_in_init(event, made)
    change = rewritten(file, outer, new)
    return safe(f"Call {'.'.join(new.partition('(')[0].split('.')[-2:])}", change)


def _without_variable(event: Event, made: ast.Call) -> Fix | None:
    """The fix for a layer that a variable holds, which is assigned once and only called."""
    file = event.module.file
    functions, start = functions_around(file, event.span), statement_around(file, event.span)
    target = start.targets[0] if isinstance(start, ast.Assign) and len(start.targets) == 1 else None
    if not functions or not isinstance(start, ast.Assign) or not isinstance(target, ast.Name):
        return None
    if start.value is not made:
        return None
    nodes = list(ast.walk(functions[0]))
    uses = [n for n in nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    calls = [n for n in nodes if isinstance(n, ast.Call) and any(n.func is use for use in uses)]
    read = {n.id for n in ast.walk(made) if isinstance(n, ast.Name)}
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    texts = [_function_call(file, made, call) for call in calls]
    gone = removed(file, start)
    if len(calls) != len(uses) or not calls or read & stored:
        return None
    edits = [rewritten(file, c, t) if t else None for c, t in zip(calls, texts, strict=True)]
    return safe(f"Call the function that {target.id} stands for", gone, edits)


def _function_call(file: SourceFile, made: ast.Call, outer: ast.Call) -> str | None:
    """The call of a function that does what the call of a layer does, where there is one."""
    prefix, _, name = ast.unparse(made.func).rpartition(".")
    if name not in _FUNCTIONS or outer.keywords or not prefix:
        return None
    if made.args and name not in _BY_POSITION and not name.startswith(("Adaptive", "Softmax", "LogSoftmax")):
        return None
    if name in ("Softmax", "LogSoftmax") and not (made.args or made.keywords):
        return None
    passed = [between(file, file.span(a)) for a in outer.args]
    if name in ("Softmax", "LogSoftmax", "CosineSimilarity") and made.args:
        kept = [f"dim={between(file, file.span(made.args[0]))}"]
    elif name in ("ReLU", "ReLU6", "SiLU") and made.args:
        kept = [f"inplace={between(file, file.span(made.args[0]))}"]
    else:
        kept = [between(file, file.span(a)) for a in made.args]
    kept += [between(file, file.span(k)) for k in made.keywords]
    return f"{prefix}.functional.{_FUNCTIONS[name]}({', '.join((*passed, *kept))})"


def _made_in_init(event: Event, made: ast.Call) -> Fix | None:
    """A layer without parameters, made of literals and settled attributes, is made in ``__init__``."""
    file = event.module.file
    method = method_around(file, event.span)
    given = (*made.args, *(k.value for k in made.keywords))
    if method is None or not all(_is_settled(file, method[0], value) for value in given):
        return None
    owner, function = method
    init, name = constructor_of(owner), ast.unparse(made.func).rpartition(".")[2]
    if init is None or init is function or asks_for_submodules(file, owner):
        return None
    if name not in _FUNCTIONS and not is_stateless(event.module, name):
        return None
    attribute = fresh_name(file, name.lower())
    text = between(file, file.span(made))
    added = held_last(file, owner, [function], f"{receiver(init)}.{attribute} = {text}")
    read = rewritten(file, made, f"{receiver(function)}.{attribute}")
    return unsafe(f"Make the {name} in __init__", added, read)


def _is_settled(file: SourceFile, owner: ast.ClassDef, value: ast.expr) -> bool:
    """Whether a value is a literal, or an attribute that only constructors assign."""
    if isinstance(value, ast.Attribute):
        return ast.unparse(value.value) == "self" and is_settled(file, owner, value.attr)
    return isinstance(value, ast.Constant)


def make_with_float(event: Event) -> Fix | None:
    """``nn.Dropout(p)`` that is given an int becomes ``nn.Dropout(float(p))``; so with the value of ``nn.ConstantPad1d``."""
    file = event.module.file
    calls = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.Call)]
    made = next((c for c in calls if file.span(c) == event.span), None)
    name = ast.unparse(made.func).rpartition(".")[2] if made is not None else ""
    position, keyword = (1, "value") if name.startswith("ConstantPad") else (0, "p")
    if made is None or not (position or name.endswith("Dropout") or name[:-2].endswith("Dropout")):
        return None
    given = [*made.args[position : position + 1], *(k.value for k in made.keywords if k.arg == keyword)]
    if len(given) != 1 or isinstance(given[0], ast.Starred):
        return None
    text = between(file, file.span(given[0]))
    new = f"{text}.0" if text.isdecimal() else f"float({text})"
    return safe(f"Write {text} as {new}", rewritten(file, given[0], new))


def rename_call(event: Event) -> Fix | None:
    """``__call__`` of a module becomes ``forward``.

    Unsafe: a call goes through the module's hooks then.
    """
    file = event.module.file
    owners = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.ClassDef)]
    owner = owners[-1] if owners else None
    method = next(
        (n for n in (owner.body if owner else ()) if isinstance(n, Function) and n.name == "__call__"), None
    )
    if method is None:
        return None

    def change(block: cst.FunctionDef) -> cst.BaseStatement:
        return block.with_changes(name=cst.Name("forward"))

    return unsafe("Rename __call__ to forward", changed_block(file, method, cst.FunctionDef, change))


def call_function_itself(event: Event) -> Fix | None:
    """``self.up(x)`` with ``self.up = F.interpolate`` becomes ``F.interpolate(x)``."""
    file, name = event.module.file, event.facts["name"]
    method = method_around(file, event.span)
    node = next((n for n in nodes_at(file, event.span, ast.Attribute) if n.attr == name), None)
    if node is None:
        call = next(nodes_at(file, event.span, ast.Call), None)
        node = call.func if call is not None and isinstance(call.func, ast.Attribute) else None
    if method is None or node is None:
        return None
    values = [
        n.value
        for n in ast.walk(method[0])
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Attribute) and t.attr == name
    ]
    if len(values) != 1 or not isinstance(values[0], ast.Attribute):
        return None
    root = ast.unparse(values[0]).partition(".")[0]
    if root not in event.module.bindings:
        return None
    return unsafe(f"Call {ast.unparse(values[0])}", rewritten(file, node, ast.unparse(values[0])))


def drop_variable(event: Event) -> Fix | None:
    """``Variable(x)`` becomes ``x``: a Tensor is a variable since torch 0.4."""
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    called = ast.unparse(call.func).rpartition(".")[2] if call is not None else ""
    if call is None or called not in ("Variable", "Parameter") or not call.args:
        return None
    if called == "Parameter" and not call.keywords:
        return None  # its gradient is asked for
    if any(k.arg not in ("requires_grad", "volatile") for k in call.keywords):
        return None
    if any(k.arg == "requires_grad" and ast.unparse(k.value) != "False" for k in call.keywords):
        return None
    inner = call.args[0]
    text = between(file, file.span(inner))
    atom = isinstance(inner, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    end = ".detach()" if called == "Parameter" else ""
    change = rewritten(file, call, f"{text if atom else f'({text})'}{end}")
    return unsafe(f"Leave {called} out", change) if has_torch(event.module) else None


def inherit_init(event: Event) -> Fix | None:
    """A module's ``__init__`` calls ``super().__init__()`` first."""
    file = event.module.file
    inits = [
        n
        for n in nodes_around(file, event.span.line)
        if isinstance(n, ast.ClassDef)
        for n in n.body
        if isinstance(n, Function) and n.name == "__init__"
    ]
    if not inits or receiver(inits[-1]) is None:
        return None
    body = inits[-1].body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    first = body[1] if is_text and len(body) > 1 else body[0]
    added = inserted_before(file, first, "super().__init__()")
    return unsafe("Call super().__init__() first", added)
