"""Code that only sets the values of parameters: what it goes over is the same before and after it."""

from __future__ import annotations

import ast

from tsguard.source.walking import walked

# Calls for their effect that nothing of a module's structure or settings hangs on.
_HARMLESS = frozenset({"print", "debug", "info", "warning", "warn"})
# The functions of torch/nn/init.py, which libraries have by the same names, and methods that fill a tensor.
_FILLING = frozenset(
    [
        "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
        "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
        "add_", "bernoulli_", "clamp_", "copy_", "div_", "exponential_", "fill_", "mul_", "random_", "sub_", "zero_",
    ]
)  # fmt: skip
_WALKS = frozenset({"modules", "named_modules", "parameters", "named_parameters", "buffers", "named_buffers"})


def only_initialises(node: ast.For, function: ast.AST | None) -> bool:
    """Whether a loop goes over submodules or parameters and does no more than to set values of parameters.

    What ``function``, which holds it, reads elsewhere of the loop's variables is more.
    """
    walk = node.iter
    goes_over = (
        isinstance(walk, ast.Call) and isinstance(walk.func, ast.Attribute) and walk.func.attr in _WALKS
    )
    if not goes_over or node.orelse or function is None or not sets_values(node.body):
        return False
    within = [inner for inner in walked(node) if isinstance(inner, ast.Name)]
    bound, own = {name.id for name in within if isinstance(name.ctx, ast.Store)}, set(map(id, within))
    names = (name for name in walked(function) if isinstance(name, ast.Name) and id(name) not in own)
    return not any(name.id in bound and isinstance(name.ctx, ast.Load) for name in names)


def sets_values(body: list[ast.stmt]) -> bool:
    """Whether statements do no more than to set values of parameters."""
    return all(map(_sets_values, body))


def _sets_values(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _fills(node.value)
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_number = isinstance(node.value, (ast.Constant, ast.UnaryOp))
        return all(_is_value_or_local(target, is_number) for target in targets)
    if isinstance(node, (ast.If, ast.For)):
        return sets_values(node.body) and sets_values(node.orelse)
    if isinstance(node, ast.With):
        return sets_values(node.body)
    return isinstance(node, (ast.Pass, ast.Continue, ast.Break)) or (
        isinstance(node, ast.Return) and node.value is None
    )


def _fills(node: ast.expr) -> bool:
    """``nn.init.ones_(m.weight)``, ``m.bias.data.zero_()``."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _HARMLESS or name in _FILLING


def _is_value_or_local(target: ast.expr, is_number: bool) -> bool:
    """``m.weight.data``, ``m.weight.data[:2]``, ``fan_out``, ``low, high``, ``row[0] = 1``: no ``layers[0] = layer``."""
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return is_number or isinstance(target.slice, ast.Tuple)
    if isinstance(target, ast.Subscript):
        return _is_value_or_local(target.value, is_number)
    if isinstance(target, ast.Tuple):
        return all(_is_value_or_local(part, is_number) for part in target.elts)
    return isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and target.attr == "data")
