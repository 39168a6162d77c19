"""The modules of a target: their attribute paths, and the flags that train() and eval() give them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tsguard.analysis.budgets import CLONED_LAYERS
from tsguard.analysis.python.copies import copy
from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import (
    NONE,
    DictValue,
    ListValue,
    ModuleValue,
    TupleValue,
    Value,
    constant,
)
from tsguard.language.modes import WRAPPED


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
            layer = next((module.arguments[name] for name in WRAPPED if name in module.arguments), None)
            count = constant(module.arguments.get("num_layers", NONE))
            turns = range(min(count, CLONED_LAYERS) if isinstance(count, int) else 1)
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

    def holder(self, module: ModuleValue) -> tuple[str, Value] | None:
        """The attribute of a registered module that keeps this one in a plain list, tuple or dict, and that."""
        for owner, path in self.paths.items():
            for name, value in owner.attributes.items():
                if _is_within(module, value):
                    return f"{path}.{name}".lstrip("."), value
        return None


# Containers that are nested deeper hold no layers.
_DEPTH = 3


def _is_within(module: ModuleValue, value: Value, depth: int = _DEPTH) -> bool:
    if isinstance(value, DictValue):
        items = list(value.items.values())
    elif isinstance(value, (ListValue, TupleValue)):
        items = list(value.items)
    else:
        return False
    return module in items or (depth > 0 and any(_is_within(module, item, depth - 1) for item in items))
