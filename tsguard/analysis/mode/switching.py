"""What train() and eval() do to the modules of a target, their overrides included."""

from __future__ import annotations

import ast

from tsguard.analysis.mode.choices import by_mode, in_mode
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.mode.tree import Tree
from tsguard.analysis.python import Raised, classes
from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import (
    FALSE,
    TRUE,
    BoundMethod,
    Const,
    FunctionValue,
    ModuleValue,
    Value,
)
from tsguard.source.functions import positional_parameters


def of(walk: ModeInterpreter, root: ModuleValue) -> Tree:
    """Name the modules below a target, and call train() and then eval() on it, its overrides included."""
    tree = walk.tree = Tree(root, current={m: m.training is not False for _, m in descendants(root)})
    tree.register()
    after: dict[str, dict[ModuleValue, bool]] = {}
    tree.is_switching = True
    for method, args in (("train", [TRUE]), ("eval", [])):
        bound = walk.attribute(root, method)
        try:
            if bound is not None:
                call(walk, bound, list(args))
        except Raised:
            pass
        after[method] = dict(tree.current)
    tree.is_switching = False
    for module in {*after["train"], *after["eval"]}:
        tree.flags[module] = (after["train"].get(module, True), after["eval"].get(module, True))
    tree.is_plain = all(flags == (True, False) for flags in tree.flags.values())
    return tree


def call(walk: ModeInterpreter, method: Value, given: list[Value], node: ast.AST | None = None) -> Value:
    """Call ``train``, also one that takes no flag: that nobody can call it so is said of itself."""
    function = method.function if isinstance(method, BoundMethod) else method
    takes_flag = True
    if isinstance(function, FunctionValue):
        takes_flag = bool(function.node.args.vararg) or len(positional_parameters(function.node)) > 1
    return walk.call(method, given if takes_flag else [], {}, node)


def set_flag(walk: ModeInterpreter, module: ModuleValue, value: Value) -> None:
    """``module.train(value)`` as torch.nn.Module has it: the flag, then the children's own train()."""
    walk.spend()
    store(walk, module, value)
    for child in module.children.values():
        if not isinstance(child, ModuleValue):
            continue
        if "train" not in child.attributes and classes.class_member(walk, child.cls, "train") is None:
            set_flag(walk, child, value)
            continue
        method = walk.attribute(child, "train")
        if method is not None:
            call(walk, method, [value])


def store(walk: ModeInterpreter, module: ModuleValue, value: Value) -> None:
    """``module.training = value``."""
    if walk.tree.is_switching and isinstance(value, Const):
        walk.tree.current[module] = bool(value.value)
        return
    train, other = (in_mode(value, mode) for mode in ("train", "eval"))
    flags = tuple(bool(v.value) if isinstance(v, Const) else True for v in (train, other))
    if walk.tree.is_switching:
        walk.tree.current[module] = flags[0]
    else:
        walk.tree.flags[module] = (flags[0], flags[1])
        walk.tree.is_plain = False


def training(walk: ModeInterpreter, module: ModuleValue) -> Value:
    """The value of ``module.training``."""
    if walk.tree.is_switching:
        return TRUE if walk.tree.current.get(module, True) else FALSE
    train, other = walk.tree.flag(module)
    return by_mode(TRUE if train else FALSE, TRUE if other else FALSE)
