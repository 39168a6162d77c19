"""The children of a module and the items of module containers, in compiled code.

Source: torch/csrc/jit/python/python_sugared_value.cpp (SugaredDict, ModuleValue::getitem).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    Iterables,
    ModuleS,
    Sugared,
    Tuple,
    UnknownS,
    Value,
    simple,
)
from tsguard.language import types as t

if TYPE_CHECKING:
    from tsguard.analysis.script.compiler import Compiler
    from tsguard.analysis.script.function import FunctionCompiler


class Submodules:
    """A module's children as sugared tuples."""

    def __init__(self, compiler: Compiler, owner: ModuleS) -> None:
        self.compiler = compiler
        self.owner = owner

    def _children(self) -> list[tuple[str, py.Value]]:
        return [(n, c) for n, c in self.owner.instance.children.items() if not py.is_none(c)]

    def keys(self) -> Tuple:
        return Tuple([simple(t.STR) for _ in self._children()], self.owner.instance.open)

    def values(self) -> Tuple:
        faces = self.compiler.info(self.owner.instance).interfaces
        items = [child_value(self.owner, name, child, faces.get(name)) for name, child in self._children()]
        return Tuple(items, self.owner.instance.open)

    def items(self) -> Sugared:
        return Iterables([self.keys(), self.values()])

    def has_interfaces(self) -> bool:
        """Whether an interface hides what lies below."""
        return any(isinstance(m, ModuleS) and m.interface is not None for m in self.deep().items)

    def deep(self, above: tuple[py.ModuleValue, ...] = ()) -> Tuple:
        """``modules()``: the module itself and all below it; one that holds itself comes once."""
        above = (*above, self.owner.instance)
        self.compiler.spend()
        found: list[Sugared] = [self.owner]
        for child in self.values().items:
            if isinstance(child, ModuleS) and any(child.instance is module for module in above):
                continue
            found.extend(
                Submodules(self.compiler, child).deep(above).items if isinstance(child, ModuleS) else [child]
            )
        return Tuple(found, self.owner.instance.open)


def child_value(owner: ModuleS, name: str, child: py.Value, interface: t.ClassType | None = None) -> Sugared:
    path = f"{owner.path}.{name}" if owner.path else name
    if isinstance(child, py.ModuleValue):
        return ModuleS(child, path, interface)
    return UnknownS(child if isinstance(child, py.Unknown) else None)


def item(
    compiler: Compiler, fc: FunctionCompiler, owner: ModuleS, node: ast.Subscript, hint: t.Type | None
) -> Sugared:
    """``modules[index]``."""
    kind = compiler.container_kind(owner.instance)
    value = text_of(node.value)
    if isinstance(node.slice, ast.Slice):
        if kind != "list":
            raise Refusal("not-subscriptable", node, value=value, type="a module")
        for bound in (node.slice.lower, node.slice.upper, node.slice.step):
            index = fc.expression(bound) if bound is not None else None
            if index is not None and not index.is_constant and index.type is not t.UNKNOWN:
                raise Refusal("module-index", node, container=value, index=text_of(bound or node))
        return _slice_of(compiler, owner, node)
    index = fc.expression(node.slice)
    if kind in ("list", "parameters"):
        return _list_item(compiler, owner, index, node, hint)
    if kind in ("dict", "parameter dict"):
        return _dict_item(compiler, owner, index, node, hint)
    raise Refusal("not-subscriptable", node, value=value, type=compiler.name_of(owner.instance))


def _slice_of(compiler: Compiler, owner: ModuleS, node: ast.Subscript) -> Sugared:
    """A slice of a ModuleList is a tuple of bare objects, which cannot be called."""
    values = Submodules(compiler, owner).values()
    types = tuple(
        compiler.module_type(v.instance) if isinstance(v, ModuleS) else t.UNKNOWN for v in values.items
    )
    return UnknownS() if values.open else simple(t.TupleType(types[_bounds(node)]))


def _bounds(node: ast.Subscript) -> slice:
    assert isinstance(node.slice, ast.Slice)
    parts = []
    for bound in (node.slice.lower, node.slice.upper, node.slice.step):
        try:
            parts.append(None if bound is None else ast.literal_eval(bound))
        except ValueError:
            parts.append(None)
    return slice(*parts)


def _list_item(
    compiler: Compiler, owner: ModuleS, index: Value, node: ast.Subscript, hint: t.Type | None
) -> Sugared:
    kind = compiler.container_kind(owner.instance)
    if index.type is t.UNKNOWN:
        return UnknownS()
    if isinstance(hint, t.ClassType) and hint.interface:
        return _by_interface(compiler, owner, hint, node)
    if not isinstance(index.const, int):
        raise Refusal("module-index", node, container=text_of(node.value), index=text_of(node.slice))
    if kind == "parameters":
        return simple(t.TENSOR)
    values = Submodules(compiler, owner).values()
    if -len(values.items) <= index.const < len(values.items):
        return values.items[index.const]
    if values.open:
        return values.items[-1] if values.items else UnknownS()
    facts = {"tuple": text_of(node.value), "index": index.const, "length": len(values.items)}
    raise Refusal("tuple-index/range", node, **facts)


def _by_interface(compiler: Compiler, owner: ModuleS, wanted: t.ClassType, node: ast.Subscript) -> Sugared:
    """An item whose index only run time knows: all that the container holds must implement the interface."""
    from tsguard.analysis.script.interfaces import misfit

    for child in Submodules(compiler, owner).values().items:
        lacking = (
            misfit(compiler, compiler.module_type(child.instance), wanted)
            if isinstance(child, ModuleS)
            else ""
        )
        if lacking and isinstance(child, ModuleS):
            facts = {"container": text_of(node.value), "child": compiler.name_of(child.instance)}
            raise Refusal("module-index/interface", node, **facts, interface=wanted, method=lacking)
    return simple(wanted)


def _dict_item(
    compiler: Compiler, owner: ModuleS, index: Value, node: ast.Subscript, hint: t.Type | None
) -> Sugared:
    if index.type is t.UNKNOWN:
        return UnknownS()
    if isinstance(index.const, str):
        child = owner.instance.children.get(index.const)
        if child is not None:
            return child_value(owner, index.const, child)
        if owner.instance.open or owner.instance.parameters:
            return UnknownS()
        raise Refusal("module-index/key", node, container=text_of(node.value), key=repr(index.const))
    if isinstance(hint, t.ClassType) and hint.interface:
        return _by_interface(compiler, owner, hint, node)
    raise Refusal("module-index/key", node, container=text_of(node.value), key=text_of(node.slice))
