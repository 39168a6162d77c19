"""``modules[index]``: items and slices of module containers."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.interfaces import misfit
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.submodules import Submodules, child_value
from tsguard.analysis.script.sugared import Sugared, SugaredModule, SugaredUnknown, Value, simple
from tsguard.language import types as t


def item(
    compiler: Compiler, fc: FunctionCompiler, owner: SugaredModule, node: ast.Subscript, hint: t.Type | None
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


def _slice_of(compiler: Compiler, owner: SugaredModule, node: ast.Subscript) -> Sugared:
    """A slice of a ModuleList is a tuple of bare objects, which cannot be called."""
    values = Submodules(compiler, owner).values()
    types = tuple(
        compiler.module_type(v.instance) if isinstance(v, SugaredModule) else t.UNKNOWN for v in values.items
    )
    return SugaredUnknown() if values.open else simple(t.TupleType(types[_bounds(node)]))


def _bounds(node: ast.Subscript) -> slice:
    assert isinstance(node.slice, ast.Slice)
    parts = []
    for bound in (node.slice.lower, node.slice.upper, node.slice.step):
        try:
            parts.append(None if bound is None else ast.literal_eval(bound))
        except ValueError:
            parts.append(None)
    return slice(*parts)


def _is_untold(index: Value) -> bool:
    """Whether an index is not known here, though torch may know it: a constant that an argument tells."""
    return index.type is t.UNKNOWN or (not index.is_constant and index.source is not None)


def _list_item(
    compiler: Compiler, owner: SugaredModule, index: Value, node: ast.Subscript, hint: t.Type | None
) -> Sugared:
    kind = compiler.container_kind(owner.instance)
    if _is_untold(index):
        return SugaredUnknown(index.source)
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
        return values.items[-1] if values.items else SugaredUnknown()
    facts = {"tuple": text_of(node.value), "index": index.const, "length": len(values.items)}
    raise Refusal("tuple-index/range", node, **facts)


def _by_interface(
    compiler: Compiler, owner: SugaredModule, wanted: t.ClassType, node: ast.Subscript
) -> Sugared:
    """An item whose index only run time knows: all that the container holds must implement the interface."""
    for child in Submodules(compiler, owner).values().items:
        lacking = (
            misfit(compiler, compiler.module_type(child.instance), wanted)
            if isinstance(child, SugaredModule)
            else ""
        )
        if lacking and isinstance(child, SugaredModule):
            facts = {"container": text_of(node.value), "child": compiler.name_of(child.instance)}
            raise Refusal("module-index/interface", node, **facts, interface=wanted, method=lacking)
    return simple(wanted)


def _dict_item(
    compiler: Compiler, owner: SugaredModule, index: Value, node: ast.Subscript, hint: t.Type | None
) -> Sugared:
    if _is_untold(index):
        return SugaredUnknown(index.source)
    if isinstance(index.const, str):
        child = owner.instance.children.get(index.const)
        if child is not None:
            return child_value(owner, index.const, child)
        if owner.instance.open or owner.instance.parameters:
            return SugaredUnknown()
        raise Refusal("module-index/key", node, container=text_of(node.value), key=repr(index.const))
    if isinstance(hint, t.ClassType) and hint.interface:
        return _by_interface(compiler, owner, hint, node)
    raise Refusal("module-index/key", node, container=text_of(node.value), key=text_of(node.slice))
