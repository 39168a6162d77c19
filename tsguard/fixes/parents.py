"""Fixes of ``super().forward(x)``: the parent's code gets a name of its own, by which the child reaches it."""

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
    step_of,
)
from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import between
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import class_definitions
from tsguard.report import Applicability, Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def reach_parent(event: Event) -> Fix | None:
    """``super().forward(x)`` of a layer of torch is written out; of a class of the file it becomes a call on self.

    The parent's ``forward`` becomes ``forward_of_base``, and calls that from a new ``forward``.
    """
    written = _write_out(event)
    if written is not None:
        return written
    file = event.module.file
    method = method_around(file, event.span)
    calls = [c for c in around(file, event.span, ast.Call) if isinstance(c.func, ast.Attribute)]
    if method is None or not calls or len(method[0].bases) != 1:
        return None
    owner, function = method
    called = calls[0].func
    assert isinstance(called, ast.Attribute)
    found = _inherited(file, owner, called.attr)
    if found is None:
        return None
    parent, inherited = found
    name = f"{called.attr.strip('_')}_of_{parent.name.lstrip('_').lower()}"
    same = [n for n in parent.body if isinstance(n, Function) and n.name == name]
    name = name if not same else fresh_name(file, name)
    if _is_reached_otherwise(file, owner, name):
        return None
    moved = _moved(file, inherited, name)
    change = rewritten(file, called, f"{receiver(function)}.{name}")
    return safe(f"Call {parent.name}.{called.attr} by a name of its own", moved, change)


def _is_reached_otherwise(file: SourceFile, owner: ast.ClassDef, name: str) -> bool:
    """Whether a class of the file may have another next to ``owner`` than its parent, or a method of the new name."""
    for cls in class_definitions(file.tree):
        bases = [ast.unparse(base) for base in cls.bases]
        if owner.name in bases and len(bases) > 1:
            return True
        if any(isinstance(n, Function) and n.name == name for n in cls.body):
            return True
    return False


def _write_out(event: Event) -> Fix | None:
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
    if name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"):
        return _write_out_batch_norm(event, call, f"{prefix}.functional.batch_norm", self_ or "self")
    if name == "Sequential":
        return _write_out_sequential(event, call, self_ or "self")
    x = between(file, file.span(call.args[0]))
    pooled = f"{self_}.kernel_size, {self_}.stride, {self_}.padding"
    new = {
        "Linear": f"{prefix}.functional.linear({x}, {self_}.weight, {self_}.bias)",
        "Conv1d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "Conv2d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "Conv3d": f"{self_}._conv_forward({x}, {self_}.weight, {self_}.bias)",
        "Embedding": f"{prefix}.functional.embedding({x}, {self_}.weight, {self_}.padding_idx, {self_}.max_norm,"
        f" {self_}.norm_type, {self_}.scale_grad_by_freq, {self_}.sparse)",
        "MaxPool1d": f"{prefix}.functional.max_pool1d({x}, {pooled}, {self_}.dilation, {self_}.ceil_mode)",
        "MaxPool2d": f"{prefix}.functional.max_pool2d({x}, {pooled}, {self_}.dilation, {self_}.ceil_mode)",
        "Softmax": f"{prefix}.functional.softmax({x}, {self_}.dim)",
        "ReLU": f"{prefix}.functional.relu({x}, inplace={self_}.inplace)",
        "Dropout": f"{prefix}.functional.dropout({x}, {self_}.p, {self_}.training, {self_}.inplace)",
        "LayerNorm": f"{prefix}.functional.layer_norm({x}, {self_}.normalized_shape, {self_}.weight, {self_}.bias, {self_}.eps)",
        "GroupNorm": f"{prefix}.functional.group_norm({x}, {self_}.num_groups, {self_}.weight, {self_}.bias, {self_}.eps)",
    }.get(name)
    change = rewritten(file, call, new) if new else None
    # A pool that returns indices too is written otherwise.
    kind: Applicability = "unsafe" if name.startswith("MaxPool") else "safe"
    return composed(kind, f"Write what {base} does", change)


def _write_out_batch_norm(event: Event, call: ast.Call, function: str, self_: str) -> Fix | None:
    """``super().forward(x)`` of a batch norm: its check, the count of batches, and the function.

    Unsafe: a momentum of None is not made an average of all batches.
    """
    file, x = event.module.file, call.args[0]
    outer = statement_around(file, event.span)
    if not isinstance(x, ast.Name) or not isinstance(outer, (ast.Return, ast.Assign)):
        return None
    before = inserted_before(
        file,
        outer,
        f"{self_}._check_input_dim({x.id})",
        f"if {self_}.training and {self_}.num_batches_tracked is not None:",
        f"{step_of(file)}{self_}.num_batches_tracked.add_(1)",
    )
    given = ", ".join(f"{self_}.{name}" for name in ("running_mean", "running_var", "weight", "bias"))
    training = f"{self_}.training or {self_}.running_mean is None"
    change = rewritten(file, call, f"{function}({x.id}, {given}, {training}, {self_}.momentum, {self_}.eps)")
    return unsafe("Write what the batch norm does", before, change)


def _write_out_sequential(event: Event, call: ast.Call, self_: str) -> Fix | None:
    """``y = super().forward(x)`` of a ``Sequential``: a loop over its modules."""
    file, outer = event.module.file, statement_around(event.module.file, event.span)
    if not isinstance(outer, (ast.Return, ast.Assign)) or _may_not_run(outer, call):
        return None
    x = between(file, file.span(call.args[0]))
    whole_ = outer.value is call
    target = outer.targets[0] if isinstance(outer, ast.Assign) and whole_ else None
    name = target.id if isinstance(target, ast.Name) else fresh_name(file, "out")
    first = [] if x == name else [f"{name} = {x}"]
    loop = [*first, f"for module in {self_}:", f"{step_of(file)}{name} = module({name})"]
    before = inserted_before(file, outer, *loop)
    if isinstance(target, ast.Name):
        change = removed(file, outer) if before is not None else None
    else:
        change = rewritten(file, call, name)
    return safe("Write what the Sequential does", before, change)


def _may_not_run(outer: ast.stmt, call: ast.Call) -> bool:
    """Whether a call in a statement may run many times or never."""
    forms = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return any(isinstance(n, forms) and call in ast.walk(n) for n in ast.walk(outer))


def _inherited(file: SourceFile, owner: ast.ClassDef, name: str) -> tuple[ast.ClassDef, Function] | None:
    """The class of the file that a method is inherited from by single inheritance, with the method."""
    classes = {n.name: n for n in file.tree.body if isinstance(n, ast.ClassDef)}
    seen: set[str] = {owner.name}
    while len(owner.bases) == 1:
        base = owner.bases[0]
        if not isinstance(base, ast.Name) or base.id not in classes or base.id in seen:
            return None
        seen.add(base.id)
        owner = classes[base.id]
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return (owner, node) if receiver(node) is not None and not node.decorator_list else None
    return None


def _moved(file: SourceFile, method: Function, name: str) -> Edit | None:
    """The edit that gives a method's code another name, and makes the method call it."""
    args = method.args
    if args.vararg is not None or args.kwarg is not None or args.posonlyargs or args.kwonlyargs:
        return None
    self_, *others = [a.arg for a in args.args]
    call = cst.parse_expression(f"{self_}.{name}({', '.join(others)})")

    def change(block: cst.FunctionDef) -> list[cst.BaseStatement]:
        body = cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(call)])])
        calling = block.with_changes(body=body)
        blank = cst.EmptyLine(indent=False)
        return [calling, block.with_changes(name=cst.Name(name), leading_lines=[blank])]

    return changed_block(file, method, cst.FunctionDef, change)
