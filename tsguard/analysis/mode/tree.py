"""The modules of a target: their attribute paths, and the flags that train() and eval() give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis.mode.choices import by_mode, in_mode
from tsguard.analysis.python import Raised, classes
from tsguard.analysis.python.copies import copy
from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    External,
    ListValue,
    ModuleValue,
    TupleValue,
    Value,
    constant,
)
from tsguard.language.modes import WRAPPERS

if TYPE_CHECKING:
    from tsguard.analysis.mode.walk import Walk

_MOST_CLONES = 64


@dataclass(eq=False)
class Tree:
    """``flags`` holds ``training`` after train() and after eval(); ``paths`` only registered modules;
    ``is_plain`` tells that train() and eval() reach them all."""

    root: ModuleValue | None = None
    paths: dict[ModuleValue, str] = field(default_factory=dict)
    flags: dict[ModuleValue, tuple[bool, bool]] = field(default_factory=dict)
    current: dict[ModuleValue, bool] = field(default_factory=dict)
    clones: dict[ModuleValue, list[ModuleValue]] = field(default_factory=dict)
    is_switching: bool = False
    is_plain: bool = True

    def register(self) -> None:
        """Name the modules that can be reached from the root through children."""
        if self.root is not None:
            for path, module in descendants(self.root):
                self._name(module, path)

    def _name(self, module: ModuleValue, path: str) -> None:
        self.paths.setdefault(module, path)
        for number, clone in enumerate(self.clones_in(module)):
            for below, part in descendants(clone):
                self.paths.setdefault(part, ".".join(filter(None, (path, f"layers.{number}", below))))

    def clones_in(self, module: ModuleValue) -> list[ModuleValue]:
        """The layers of a stack of torch.nn, copies of the one that its constructor was given."""
        if module not in self.clones:
            wrapped = WRAPPERS.get(module.cls.name) if isinstance(module.cls, External) else None
            layer = module.arguments.get(wrapped) if wrapped is not None else None
            count = constant(module.arguments.get("num_layers", NONE))
            turns = range(min(count, _MOST_CLONES) if isinstance(count, int) else 1)
            self.clones[module] = [
                made for _ in turns if layer is not None and isinstance(made := copy(layer), ModuleValue)
            ]
        return self.clones[module]

    def flag(self, module: ModuleValue) -> tuple[bool, bool]:
        """``module.training`` in train() and in eval()."""
        if module in self.flags:
            return self.flags[module]
        if module in self.paths:
            return True, False
        set_by_hand = module.training is not False
        return set_by_hand, set_by_hand

    def path(self, module: ModuleValue) -> str | None:
        """The attribute path of a module from the target, "" for the target itself."""
        return self.paths.get(module)

    def holder(self, module: ModuleValue) -> str | None:
        """The attribute of a registered module that keeps this one in a plain list or tuple."""
        for owner, path in self.paths.items():
            for name, value in owner.attributes.items():
                if isinstance(value, (ListValue, TupleValue)) and module in value.items:
                    return f"{path}.{name}".lstrip(".")
        return None


def of(walk: Walk, root: ModuleValue) -> Tree:
    """Name the modules below a target, and call train() and then eval() on it, its overrides included."""
    tree = walk.tree = Tree(root, current={m: m.training is not False for _, m in descendants(root)})
    tree.register()
    after: dict[str, dict[ModuleValue, bool]] = {}
    tree.is_switching = True
    for method, args in (("train", [TRUE]), ("eval", [])):
        bound = walk.attribute(root, method)
        try:
            if bound is not None:
                walk.call(bound, list(args), {}, None)
        except Raised:
            pass
        after[method] = dict(tree.current)
    tree.is_switching = False
    for module in {*after["train"], *after["eval"]}:
        tree.flags[module] = (after["train"].get(module, True), after["eval"].get(module, True))
    tree.is_plain = all(flags == (True, False) for flags in tree.flags.values())
    return tree


def set_flag(walk: Walk, module: ModuleValue, value: Value) -> None:
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
            walk.call(method, [value], {}, None)


def store(walk: Walk, module: ModuleValue, value: Value) -> None:
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


def training(walk: Walk, module: ModuleValue) -> Value:
    """The value of ``module.training``."""
    if walk.tree.is_switching:
        return TRUE if walk.tree.current.get(module, True) else FALSE
    train, other = walk.tree.flag(module)
    return by_mode(TRUE if train else FALSE, TRUE if other else FALSE)
