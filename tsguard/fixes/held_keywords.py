"""Fixes of ``f(**self.options)``, where the constructor writes the dict: its items become attributes that are passed by name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import class_around, inserted_after
from tsguard.fixes.composing import unsafe
from tsguard.fixes.constructors import constructor_of
from tsguard.fixes.edits import edit
from tsguard.fixes.relatives import is_set_once, relatives
from tsguard.fixes.unpacked_keywords import items_of, pass_by_name
from tsguard.report import Fix
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_NUMBERS = frozenset({"int", "float", "bool", "str", "tuple", "len", "min", "max", "round", "abs"})


def pass_held_by_name(event: Event) -> Fix | None:
    """A dict of the function's own, or of its module's constructor, is passed item by item."""
    return pass_by_name(event) or _pass_attribute(event)


def _pass_attribute(event: Event) -> Fix | None:
    """``self.options = dict(dim=-1)`` is followed by ``self.options_dim = -1``, and ``f(x, dim=self.options_dim)`` takes that.

    Unsafe: who changes the dict from another file is not heard any more.
    """
    file, held = event.module.file, event.facts["value"]
    owner = class_around(file, event.span)
    if owner is None or not held.startswith("self.") or not held.removeprefix("self.").isidentifier():
        return None
    init, nodes = constructor_of(owner), [n for kin in relatives(file, owner) for n in walked(kin)]
    uses = [n for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n) == held]
    made_by = [n for n in (init.body if init else ()) if isinstance(n, ast.Assign) and n.targets[0] in uses]
    items = items_of(made_by[0].value) if len(made_by) == 1 and len(made_by[0].targets) == 1 else None
    if not items or not all(map(_is_plain, items.values())):
        return None
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    passed = [k for n in calls for k in n.keywords if k.arg is None and k.value in uses]
    read = [n.value for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)]
    known = {id(n) for n in (*made_by[0].targets, *read, *(k.value for k in passed))}
    if any(id(n) not in known for n in uses) or not is_set_once(file, owner, made_by[0].targets[0]):
        return None
    names = {key: f"{held}_{key}" for key in items}
    if set(names.values()) & {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute)}:
        return None
    lines = [f'{name} = {held}["{key}"]' for key, name in names.items()]
    text = ", ".join(f"{key}={name}" for key, name in names.items())
    added = inserted_after(file, made_by[0], *lines)
    named = [edit(file, file.span(keyword), text) for keyword in passed]
    return unsafe(f"Pass what {held} holds by name", added, named)


def _is_plain(value: ast.expr) -> bool:
    """Whether a value makes no module and no parameter, which would get a name in the state dict as attributes."""
    return not any(isinstance(n, ast.Call) and ast.unparse(n.func) not in _NUMBERS for n in ast.walk(value))
