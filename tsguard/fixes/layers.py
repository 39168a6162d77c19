"""Fixes of how modules are held, made and called: constructed in ``__init__``, taken by loops."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from tsguard.fixes.blocks import (
    Statement,
    around,
    changed_block,
    fresh_name,
    inserted_after,
    inserted_before,
    method_around,
    receiver,
)
from tsguard.fixes.edits import between, edit
from tsguard.fixes.imports import has_torch
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around, nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import Span

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


def call_function_instead(event: Event) -> Fix | None:
    """``nn.ReLU(inplace=True)(x)`` becomes ``nn.functional.relu(x, inplace=True)``."""
    file = event.module.file
    made = next(nodes_at(file, event.span, ast.Call), None)
    if made is None:
        return None
    outer = next((c for c in around(file, event.span, ast.Call) if c.func is made), None)
    name = ast.unparse(made.func).rpartition(".")[2]
    prefix = ast.unparse(made.func).rpartition(".")[0]
    if outer is None or name not in _FUNCTIONS or outer.keywords or not prefix:
        return _made_in_init(event, made)
    if (
        made.args
        and name.startswith(("Adaptive", "Softmax", "LogSoftmax")) is False
        and name
        not in (
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
        )
    ):
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
    new = f"{prefix}.functional.{_FUNCTIONS[name]}({', '.join((*passed, *kept))})"
    change = rewritten(file, outer, new)
    return Fix("safe", f"Call functional.{_FUNCTIONS[name]}", (change,)) if change else None


def _made_in_init(event: Event, made: ast.Call) -> Fix | None:
    """A layer without parameters, made of literals, is made in ``__init__``."""
    file = event.module.file
    method = method_around(file, event.span)
    literal = all(isinstance(a, ast.Constant) for a in (*made.args, *(k.value for k in made.keywords)))
    if method is None or not literal:
        return None
    owner, function = method
    init = next((n for n in owner.body if isinstance(n, Function) and n.name == "__init__"), None)
    name = ast.unparse(made.func).rpartition(".")[2]
    if init is None or receiver(init) is None or init is function or name not in _FUNCTIONS:
        return None
    attribute = fresh_name(file, name.lower())
    text = between(file, file.span(made))
    added = inserted_after(file, init.body[-1], f"{receiver(init)}.{attribute} = {text}")
    read = rewritten(file, made, f"{receiver(function)}.{attribute}")
    if added is None or read is None:
        return None
    return Fix("unsafe", f"Make the {name} in __init__", (added, read))


def loop_over_modules(event: Event) -> Fix | None:
    """``for i in range(n): x = self.layers[i](x)`` loops over ``enumerate(self.layers)``.

    Unsafe: where the container holds more modules than the loop takes, the rest run too.
    """
    file = event.module.file
    loops = around(file, event.span, ast.For)
    index = event.facts["index"]
    for loop in loops:
        found = _loop_over(event, loop, index)
        if found is not None:
            return found
    return None


def _loop_over(event: Event, loop: ast.For, index: str) -> Fix | None:
    file = event.module.file
    call = loop.iter
    if loop.orelse or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    taken = _containers(loop, index)
    assigned = {
        n.id
        for part in loop.body
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))
    }
    if not taken or index in assigned:
        return None
    names: dict[str, str] = {}
    for text in taken:
        short = text.rpartition(".")[2]
        wanted = short[:-1] if short.endswith("s") and len(short) > 2 else f"{short}_{index}"
        name = fresh_name(file, wanted if wanted not in names.values() else f"{wanted}_")
        while name in names.values():
            name += "_"
        names[text] = name
    modules = list(names)
    listed = ", ".join(names.values())
    is_range = call.func.id == "range" and len(call.args) == 1 and not call.keywords
    if is_range and isinstance(loop.target, ast.Name) and loop.target.id == index:
        one = len(modules) == 1
        source = modules[0] if one else f"zip({', '.join(modules)})"
        item = listed if one else f"({listed})"
        head = (f"{index}, {item}", f"enumerate({source})")
    elif call.func.id == "enumerate" and len(call.args) == 1 and isinstance(loop.target, ast.Tuple):
        first, item_ = loop.target.elts[0], loop.target.elts[1]
        if not (isinstance(first, ast.Name) and first.id == index):
            return None
        source = between(file, file.span(call.args[0]))
        inner = between(file, file.span(item_))
        head = (f"{index}, ({inner}, {listed})", f"enumerate(zip({source}, {', '.join(modules)}))")
    else:
        return None
    edits: list[Edit | None] = []
    start = file.span(loop.target)
    end = file.span(loop.iter)
    whole = Span(start.line, start.column, end.end_line, end.end_column)
    edits.append(edit(file, whole, f"{head[0]} in {head[1]}"))
    for part in loop.body:
        for node in ast.walk(part):
            if (
                isinstance(node, ast.Subscript)
                and ast.unparse(node.value) in names
                and _is_index(node, index)
            ):
                edits.append(rewritten(file, node, names[ast.unparse(node.value)]))
    made = tuple(e for e in edits if e is not None)
    return Fix("unsafe", f"Loop over {' and '.join(modules)}", made) if len(made) == len(edits) else None


def _containers(loop: ast.For, index: str) -> dict[str, None]:
    """The containers of the module that are indexed with the loop's variable."""
    found: dict[str, None] = {}
    for node in (node for part in loop.body for node in ast.walk(part)):
        if isinstance(node, ast.Subscript) and _is_index(node, index):
            value = node.value
            if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self":
                found[ast.unparse(value)] = None
    return found


def _is_index(node: ast.Subscript, index: str) -> bool:
    return isinstance(node.slice, ast.Name) and node.slice.id == index


def call_parents_function(event: Event) -> Fix | None:
    """``super().forward(x)`` of a torch layer becomes what that does: ``nn.functional.linear(x, ...)``."""
    file = event.module.file
    method = method_around(file, event.span)
    calls = [c for c in around(file, event.span, ast.Call) if isinstance(c.func, ast.Attribute)]
    call = next((c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "forward"), None)
    if method is None or call is None or len(call.args) != 1 or call.keywords:
        return None
    owner, function = method
    if len(owner.bases) != 1:
        return None
    base, self_ = ast.unparse(owner.bases[0]), receiver(function)
    prefix, _, name = base.rpartition(".")
    if not prefix or prefix not in ("nn", "torch.nn"):
        return None
    x = between(file, file.span(call.args[0]))
    new = {
        "Linear": f"{prefix}.functional.linear({x}, {self_}.weight, {self_}.bias)",
        "Conv1d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "Conv2d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "Conv3d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "LayerNorm": f"{prefix}.functional.layer_norm({x}, {self_}.normalized_shape, {self_}.weight, {self_}.bias, {self_}.eps)",
        "GroupNorm": f"{prefix}.functional.group_norm({x}, {self_}.num_groups, {self_}.weight, {self_}.bias, {self_}.eps)",
    }.get(name)
    change = rewritten(file, call, new) if new else None
    return Fix("safe", f"Write what {base} does", (change,)) if change else None


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

    def change(block: Statement) -> list[Statement] | None:
        if not isinstance(block, cst.FunctionDef):
            return None
        return [block.with_changes(name=cst.Name("forward"))]

    made = changed_block(file, method, change)
    return Fix("unsafe", "Rename __call__ to forward", (made,)) if made else None


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
    change = rewritten(file, node, ast.unparse(values[0]))
    return Fix("unsafe", f"Call {ast.unparse(values[0])}", (change,)) if change else None


def drop_variable(event: Event) -> Fix | None:
    """``Variable(x)`` becomes ``x``: a Tensor is a variable since torch 0.4."""
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    if call is None or ast.unparse(call.func).rpartition(".")[2] != "Variable" or not call.args:
        return None
    if any(k.arg not in ("requires_grad", "volatile") for k in call.keywords):
        return None
    if any(k.arg == "requires_grad" and ast.unparse(k.value) != "False" for k in call.keywords):
        return None
    inner = call.args[0]
    text = between(file, file.span(inner))
    atom = isinstance(inner, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    change = rewritten(file, call, text if atom else f"({text})")
    return Fix("unsafe", "Leave Variable out", (change,)) if change and has_torch(event.module) else None


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
    return Fix("unsafe", "Call super().__init__() first", (added,)) if added else None


def hold_field(event: Event) -> Fix | None:
    """``self.config.width`` in ``forward`` is kept as ``self.config_width`` when the configuration is.

    Unsafe: what is assigned to the configuration later is not seen.
    """
    file, name = event.module.file, event.facts["name"]
    method = method_around(file, event.span)
    if method is None or method[1].name == "__init__":
        return None
    owner, function = method
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    kept = [
        n
        for init in inits
        for n in init.body
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [f"{receiver(init)}.{name}"]
    ]
    if len(kept) != 1 or receiver(function) != receiver(inits[0]):
        return None
    self_ = receiver(function)
    read = [
        n
        for n in around(file, event.span, ast.Attribute)
        if ast.unparse(n.value) == f"{self_}.{name}" and isinstance(n.ctx, ast.Load)
    ]
    if not read or any(c.func is read[0] for c in around(file, event.span, ast.Call)):
        return None
    field = read[0].attr
    every = {
        n.attr for n in ast.walk(owner) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == self_
    }
    attribute = f"{name}_{field}"
    line = f"{self_}.{attribute} = {self_}.{name}.{field}"
    there = any(ast.unparse(n) == line for init in inits for n in init.body)
    if attribute in every and not there:
        return None
    change = rewritten(file, read[0], f"{self_}.{attribute}")
    added = None if there else inserted_after(file, kept[0], line)
    if change is None or (added is None and not there):
        return None
    return Fix(
        "unsafe", f"Keep {name}.{field} as {attribute}", tuple(e for e in (added, change) if e is not None)
    )


def index_the_others(event: Event) -> Fix | None:
    """``for layer, x in zip(self.layers, xs)`` loops over the modules and indexes the rest.

    Unsafe: where the rest is longer or shorter, zip stops earlier than this.
    """
    file = event.module.file
    method = method_around(file, event.span)
    loops = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.For)]
    if method is None or not loops:
        return None
    loop, call = loops[-1], loops[-1].iter
    index, target = None, loop.target
    if isinstance(call, ast.Call) and ast.unparse(call.func) == "enumerate" and len(call.args) == 1:
        if (
            not isinstance(target, ast.Tuple)
            or len(target.elts) != 2
            or not isinstance(target.elts[0], ast.Name)
        ):
            return None
        index, target, call = target.elts[0].id, target.elts[1], call.args[0]
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "zip" or not isinstance(target, ast.Tuple):
        return None
    modules = [a for a in call.args if _holds_modules(method[0], a)]
    if not modules or len(modules) == len(call.args) or len(target.elts) != len(call.args):
        return None
    others = [(a, t) for a, t in zip(call.args, target.elts, strict=True) if a not in modules]
    if not all(isinstance(a, (ast.Name, ast.Attribute)) for a, _ in others):
        return None
    index = index or fresh_name(file, "i")
    items = [between(file, file.span(t)) for a, t in zip(call.args, target.elts, strict=True) if a in modules]
    sources = [between(file, file.span(a)) for a in modules]
    one = len(modules) == 1
    item, source = (items[0], sources[0]) if one else (f"({', '.join(items)})", f"zip({', '.join(sources)})")
    start, end = file.span(loop.target), file.span(loop.iter)
    head = edit(
        file,
        Span(start.line, start.column, end.end_line, end.end_column),
        f"{index}, {item} in enumerate({source})",
    )
    lines = [f"{between(file, file.span(t))} = {between(file, file.span(a))}[{index}]" for a, t in others]
    taken = inserted_before(file, loop.body[0], *lines)
    return Fix("unsafe", "Loop over the modules, index the rest", (head, taken)) if head and taken else None


def _holds_modules(owner: ast.ClassDef, node: ast.expr) -> bool:
    """Whether an expression is an attribute that the class makes a container of modules, or grows as one."""
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "self":
        return False
    values = [
        ast.unparse(n.value)
        for n in ast.walk(owner)
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [f"self.{node.attr}"]
    ]
    return any(
        value.startswith(("nn.ModuleList", "nn.Sequential", "torch.nn.ModuleList", "ModuleList"))
        for value in values
    )
