"""The children of a module and the items of module containers, in compiled code.

Source: torch/csrc/jit/python/python_sugared_value.cpp (SugaredDict, ModuleValue::getitem).
"""

from __future__ import annotations

from tsguard.analysis import values as py
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.sugared import (
    Iterables,
    Sugared,
    SugaredModule,
    SugaredUnknown,
    Tuple,
    simple,
)
from tsguard.language import types as t


class Submodules:
    """A module's children as sugared tuples."""

    def __init__(self, compiler: Compiler, owner: SugaredModule) -> None:
        self.compiler = compiler
        self.owner = owner

    def _children(self) -> list[tuple[str, py.Value]]:
        return [(n, c) for n, c in self.owner.instance.children.items() if not py.is_none(c)]

    def keys(self) -> Tuple:
        return Tuple([simple(t.STR) for _ in self._children()], self.owner.instance.open)

    def values(self) -> Tuple:
        faces = self.compiler.info(self.owner.instance).interfaces
        children = self._children()
        if not all(isinstance(child, py.ModuleValue) for _, child in children):
            self.compiler.reporter.mark_target_specific()
        items = [child_value(self.owner, name, child, faces.get(name)) for name, child in children]
        return Tuple(items, self.owner.instance.open)

    def items(self) -> Sugared:
        return Iterables([self.keys(), self.values()])

    def has_interfaces(self) -> bool:
        """Whether an interface hides what lies below."""
        return any(isinstance(m, SugaredModule) and m.interface is not None for m in self.deep().items)

    def deep(self, above: tuple[py.ModuleValue, ...] = ()) -> Tuple:
        """``modules()``: the module itself and all below it; one that holds itself comes once."""
        above = (*above, self.owner.instance)
        self.compiler.spend()
        found: list[Sugared] = [self.owner]
        for child in self.values().items:
            if isinstance(child, SugaredModule) and any(child.instance is module for module in above):
                continue
            found.extend(
                Submodules(self.compiler, child).deep(above).items
                if isinstance(child, SugaredModule)
                else [child]
            )
        return Tuple(found, self.owner.instance.open)


def child_value(
    owner: SugaredModule, name: str, child: py.Value, interface: t.ClassType | None = None
) -> Sugared:
    path = f"{owner.path}.{name}" if owner.path else name
    if isinstance(child, py.ModuleValue):
        return SugaredModule(child, path, interface)
    return SugaredUnknown(child if isinstance(child, py.Unknown) else None)
