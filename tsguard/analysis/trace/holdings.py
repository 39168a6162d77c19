"""What the objects of a target hold before the forward runs, and whether that may be state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.values import Number, Traced, parts
from tsguard.source.assigning import assigned_later


def is_empty(value: py.Value) -> bool:
    return isinstance(value, (py.ListValue, py.DictValue, py.SetValue)) and not (value.items or value.open)


def may_be_state(owner: py.ObjectValue, name: str, value: py.Value | None) -> bool:
    """Whether an attribute may hold what a call has left there, or hides a constant of the class until then."""
    if name in owner.attributes or is_registered(owner, name):
        return True
    return value is None or isinstance(value, py.Const)


def is_setting(frames: Sequence[Frame], owner: py.ObjectValue, name: str) -> bool:
    """Whether an attribute holds a number or the like that neither the code of its class nor the code that runs changes."""
    held = owner.attributes.get(name)
    if not isinstance(held, (py.Const, py.Atom, py.Unknown)) or not isinstance(owner.cls, py.ClassValue):
        return False
    modules = {owner.cls.module, frames[-1].module} if frames else {owner.cls.module}
    known = [assigned_later(module.file.tree) for module in modules]
    return all(names is not None and name not in names for names in known)


def is_of_sizes(value: py.Value) -> bool:
    """Whether a value is a size, or a tensor made of sizes and constants alone.

    What is kept of them for later calls (a table of positions) is what each trace makes anew: a call that finds
    too little of it makes more, and one for which it does not fit raises.
    """
    if isinstance(value, Traced):
        return value.of == "inputs" and value.sizes_only
    if isinstance(value, (py.TupleValue, py.ListValue)):
        return bool(value.items) and all(map(is_of_sizes, value.items))
    return isinstance(value, Number) and value.kind == "size"


def is_of_values(value: py.Value) -> bool:
    """Whether a tensor, or one that something holds, hangs on the values of inputs, or on random numbers."""
    tensors = [part for part in parts([value]) if isinstance(part, Traced)]
    return any(part.of == "random" or (part.of == "inputs" and not part.sizes_only) for part in tensors)


def is_registered(owner: py.ObjectValue, name: str) -> bool:
    return isinstance(owner, py.ModuleValue) and (name in owner.buffers or name in owner.parameters)


def is_held(owner: py.ObjectValue, name: str, value: py.Value) -> bool:
    """Whether an attribute is assigned what it holds already."""
    held = owner.attributes.get(name)
    of_state = isinstance(value, Traced) and value.of == "state" and value.origin.name == f"self.{name}"
    return held is not None and (value is held or (of_state and isinstance(held, py.TensorValue)))


def reachable(root: py.Value) -> Iterator[py.ObjectValue]:
    pending, seen = [root], set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, py.ObjectValue):
            yield value
            pending.extend(value.attributes.values())
        if isinstance(value, py.ModuleValue):
            pending.extend(value.children.values())
        elif isinstance(value, (py.ListValue, py.TupleValue)):
            pending.extend(value.items)
        elif isinstance(value, py.DictValue):
            pending.extend(value.items.values())
