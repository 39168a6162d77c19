"""Code that only sets the values of parameters: what it goes over is the same before and after it."""

from __future__ import annotations

import ast

from tsguard.source.walking import walked

# Calls for their effect that nothing of a module's structure or settings hangs on.
_HARMLESS = frozenset({"print", "debug", "info", "warning", "warn"})
# Methods that end with _ and do more than to fill a tensor.
_MORE = frozenset({"requires_grad_", "_"})
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
        return all(map(_is_value_or_local, targets))
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
    return name in _HARMLESS or (name.endswith("_") and not name.endswith("__") and name not in _MORE)


def _is_value_or_local(target: ast.expr) -> bool:
    """``m.weight.data``, ``m.weight.data[:2]``, ``fan_out``, ``low, high``."""
    if isinstance(target, ast.Subscript):
        return _is_value_or_local(target.value)
    if isinstance(target, ast.Tuple):
        return all(map(_is_value_or_local, target.elts))
    return isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and target.attr == "data")
