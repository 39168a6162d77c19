"""Methods of plain values: lists, dicts, strings, sets and tensors."""

from __future__ import annotations

import ast
from typing import Any

from tsguard.analysis.python import (
    builtin_calls,
    comparisons,
    numpy_arrays,
    operations,
    registries,
    sets,
    sizes,
    sorting,
    tensor_sizes,
    texts,
)
from tsguard.analysis.python.constants import known
from tsguard.analysis.python.containers import merge, put, usual_key, usual_or_other
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.folding import folded
from tsguard.analysis.python.iteration import consume, iterate, key_value, keys_of
from tsguard.analysis.python.unread_mappings import pairs, perhaps_other
from tsguard.analysis.terms import placed
from tsguard.analysis.values import (
    NONE,
    TRUE,
    Const,
    DictValue,
    External,
    ListValue,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    distinct,
    plain,
)
from tsguard.language.same_shape import RESHAPING

Args = list[Value]

# Methods that change what they are called on.
CHANGING = frozenset(
    [
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "remove", "clear", "update",
        "setdefault", "popitem", "add", "discard", "sort", "reverse", "rotate", "__setitem__", "__delitem__",
    ]
)  # fmt: skip


def call(
    interp: Interpreter,
    name: str,
    receiver: Value,
    args: Args,
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    """The result of ``receiver.name(*args)``."""
    receiver = interp.settled(receiver)
    if isinstance(receiver, ListValue):
        return _list(interp, name, receiver, args, kwargs)
    if isinstance(receiver, DictValue):
        return _dict(interp, name, receiver, args, kwargs, node)
    if isinstance(receiver, SetValue):
        return _set(interp, name, receiver, args)
    if isinstance(receiver, Const):
        return _constant_method(interp, name, receiver, args, kwargs, node)
    if isinstance(receiver, TensorValue):
        if name == "requires_grad_":
            asked = args[0] if args else kwargs.get("requires_grad", TRUE)
            receiver.grad = constant(interp.settled(asked)) is not False
        elif name.endswith("_"):
            interp.change(receiver)
        if name == "numpy" and interp.is_plain:
            return numpy_arrays.array()
        made = _tensor(name, receiver, node)
        if made is receiver:
            return made
        return tensor_sizes.sized(interp, made, name, [receiver, *args], kwargs)
    if isinstance(receiver, TupleValue) and name in ("count", "index"):
        return _count(receiver, args) if name == "count" else _index(receiver.items, args)
    if isinstance(receiver, TupleValue) and receiver.cls is not None and name in ("_replace", "_asdict"):
        return _of_record(receiver, kwargs, list(receiver.cls.annotations), is_dict=name == "_asdict")
    found = numpy_arrays.method(receiver, name, args)
    return Unknown(placed(node)) if found is None else found


def _of_record(record: TupleValue, kwargs: dict[str, Value], names: list[str], *, is_dict: bool) -> Value:
    """A named tuple with other fields, or as a dict."""
    if len(names) != len(record.items):
        return Unknown()
    fields = {**dict(zip(names, record.items, strict=True)), **kwargs}
    return DictValue(dict(fields.items())) if is_dict else TupleValue(tuple(fields.values()), cls=record.cls)


def _index(items: list[Value] | tuple[Value, ...], args: Args) -> Value:
    for i, item in enumerate(items):
        if args and item == args[0]:
            return Const(i)
        if isinstance(item, Unknown):
            break
    return Unknown(None, "int")


def _list(interp: Interpreter, name: str, receiver: ListValue, args: Args, kwargs: dict[str, Value]) -> Value:
    inside_open = interp.open_loops > 0
    if name in ("append", "appendleft") and args:
        receiver.items.insert(0 if name == "appendleft" else len(receiver.items), args[0])
        receiver.open = receiver.open or inside_open
    elif name == "extend" and args:
        items, is_open = consume(interp, args[0])
        receiver.items.extend(items)
        receiver.open = receiver.open or is_open or inside_open
    elif name == "insert" and len(args) == 2:
        index = constant(args[0])
        receiver.items.insert(index if isinstance(index, int) else 0, args[1])
        receiver.open = receiver.open or inside_open or not isinstance(index, int)
    elif name in ("pop", "popleft"):
        index = 0 if name == "popleft" else constant(args[0]) if args else -1
        if receiver.items and isinstance(index, int) and -len(receiver.items) <= index < len(receiver.items):
            return receiver.items.pop(index)
        receiver.open = True
        return Unknown()
    elif name == "copy":
        return ListValue(list(receiver.items), receiver.open)
    elif name == "index":
        return _index(receiver.items, args)
    elif name == "count":
        return _count(receiver, args)
    elif name in _REARRANGING:
        _rearrange(interp, name, receiver, args, kwargs)
    elif name == "__setitem__" and len(args) == 2:
        interp.set_item(receiver, *args)
    else:
        receiver.open = receiver.open or name in CHANGING
        return Unknown()
    return NONE


_REARRANGING = frozenset({"clear", "remove", "reverse", "sort"})


def _count(receiver: ListValue | TupleValue, args: Args) -> Value:
    wanted, items = [constant(arg) for arg in args], [constant(item) for item in receiver.items]
    is_told = not receiver.open and not any(isinstance(value, Value) for value in (*wanted, *items))
    return Const(items.count(wanted[0])) if is_told and wanted else Unknown(None, "int")


def _rearrange(
    interp: Interpreter, name: str, receiver: ListValue, args: Args, kwargs: dict[str, Value]
) -> None:
    """Methods of a list that put nothing into it."""
    items = receiver.items
    if name == "sort":
        items[:] = sorting.ordered(interp, items, kwargs) or sorting.unordered(items)
    elif name == "reverse":
        items.reverse()
    elif name == "clear":
        items.clear()
    elif name == "remove" and args:
        index = constant(_index(items, args))
        if isinstance(index, int):
            del items[index]
        else:
            receiver.open = True


def _dict(
    interp: Interpreter,
    name: str,
    receiver: DictValue,
    args: Args,
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    if name in ("items", "keys", "values"):
        keys = keys_of(receiver)
        values = list(receiver.items.values())
        others = [pairs(interp, receiver.rest, name)] if receiver.rest is not None else []
        if name == "items":
            known = [TupleValue(pair) for pair in zip(keys, values, strict=True)]
            return ListValue([*known, *others], receiver.open)
        return ListValue([*(keys if name == "keys" else values), *others], receiver.open)
    if name in ("get", "pop", "setdefault") and args:
        return _dict_get(interp, name, receiver, args, node)
    if name == "update":
        other = builtin_calls.HANDLERS["builtins.dict"](interp, args, kwargs, node)
        assert isinstance(other, DictValue)
        sizes.charge(interp, len(other.items))
        merge(receiver, other)
        return NONE
    if name == "copy":
        twin = DictValue({}, receiver.open)
        merge(twin, receiver)
        return twin
    return _dict_rearranged(name, receiver, args, kwargs)


def _dict_rearranged(name: str, receiver: DictValue, args: Args, kwargs: dict[str, Value]) -> Value:
    """Methods of a dict that put nothing into it."""
    if name == "clear":
        receiver.items.clear()
        receiver.open = False
        return NONE
    if name == "popitem" and receiver.items and (receiver.untold or not receiver.open):
        is_last = constant(args[0] if args else kwargs.get("last", TRUE))
        taken = list(receiver.items)[-1 if is_last else 0]
        return TupleValue((key_value(receiver, taken), receiver.items.pop(taken)))
    key = usual_key(args[0]) if args else None
    if name == "move_to_end" and key in receiver.items:
        is_last = constant(args[1] if len(args) > 1 else kwargs.get("last", TRUE))
        moved, others = {key: receiver.items.pop(key)}, dict(receiver.items)
        receiver.items.clear()
        receiver.items.update({**others, **moved} if is_last else {**moved, **others})
        return NONE
    if name not in _READING:
        receiver.open = True
    return Unknown()


_READING = frozenset({"__contains__", "__getitem__", "__iter__", "__len__", "__eq__"})


def _dict_get(interp: Interpreter, name: str, receiver: DictValue, args: Args, node: ast.AST | None) -> Value:
    key = interp.settled(args[0])
    index = usual_key(key)
    registries.fill(interp, receiver, index)
    if index in receiver.items:
        return receiver.items.pop(index) if name == "pop" else usual_or_other(interp, receiver, key, index)
    default = args[1] if len(args) > 1 else NONE
    if name == "setdefault":
        put(receiver, args[0], default)
        if receiver.filled_by is not None and index in receiver.items:
            return default  # who else adds to the table was asked before
    if name == "pop" and isinstance(key, Unknown) and receiver.items:
        receiver.items.clear()  # which of them is left is not told
        receiver.open = True
    is_told = isinstance(index, External) or not isinstance(index, Value) or not receiver.items
    if is_told and not receiver.open and not isinstance(key, Unknown):
        return default
    is_rest = receiver.rest is not None and isinstance(index, str)
    return perhaps_other(default, str(index), receiver.rest) if is_rest else Unknown(placed(node))


def _set(interp: Interpreter, name: str, receiver: SetValue, args: Args) -> Value:
    if name == "add" and args:
        receiver.items = distinct([*receiver.items, args[0]])
    elif name in ("remove", "discard") and args and isinstance(args[0], Const):
        receiver.items[:] = [item for item in receiver.items if item != args[0]]
    elif name in ("difference", "intersection", "symmetric_difference") and args:
        return sets.by_method(name, receiver, SetValue(*iterate(interp, args[0]))) or Unknown()
    elif name in ("update", "union") and args:
        items, is_open = iterate(interp, args[0])
        sizes.charge(interp, len(receiver.items))
        target = receiver if name == "update" else SetValue(list(receiver.items), receiver.open)
        target.items = distinct([*target.items, *items])
        target.open = target.open or is_open
        return target
    if name in ("issubset", "issuperset") and args:
        items, is_open = iterate(interp, args[0])
        given = SetValue(items, is_open)
        part, whole = (receiver, given) if name == "issubset" else (given, receiver)
        held = [comparisons.compare(interp, ast.In(), item, whole) for item in part.items]
        if all(isinstance(answer, Const) for answer in held) and not part.open:
            return Const(all(constant(answer) for answer in held))
        return Unknown(hint="bool")
    return NONE if name in ("add", "clear", "discard", "remove", "update") else Unknown()


def _constant_method(
    interp: Interpreter,
    name: str,
    receiver: Const,
    args: Args,
    kwargs: dict[str, Value],
    node: ast.AST | None,
) -> Value:
    method = getattr(receiver.value, name, None)

    def given(value: Value) -> Any:
        settled = interp.settled(value)
        return known(texts.shown(interp, settled) if name == "format" else plain(settled))

    values, named = [given(a) for a in args], {key: given(a) for key, a in kwargs.items()}
    if method is None or any(isinstance(v, Value) for v in (*values, *named.values())):
        if name == "join" and args:
            items, is_open = iterate(interp, args[0])
            parts = [constant(i) for i in items]
            if not is_open and all(isinstance(p, str) for p in parts):
                return operations.joined_text(str(receiver.value), list(map(str, parts)))
        return Unknown(placed(node), "str" if isinstance(receiver.value, str) else "")
    return folded(interp, sizes.method, (method, receiver.value, values, named), node)


_NUMBERS = {"item": "", "size": "int", "dim": "int", "numel": "int", "tolist": "list", "nelement": "int"}


_PARTS = frozenset({"split", "chunk", "unbind", "flip", "cpu", "to", "detach", "clone"})


def _tensor(name: str, receiver: TensorValue, node: ast.AST | None) -> Value:
    filling = receiver.filling
    if filling is not None and name in ("item", "tolist"):
        return filling if name == "item" else ListValue([filling], open=True)
    if name == "tolist":
        element = Unknown(placed(node))
        return ListValue([element], open=True) if receiver.rank == 1 else element
    if name in _NUMBERS:
        return Unknown(placed(node), _NUMBERS[name])
    if name in ("fill_", "zero_", "normal_", "uniform_", "copy_", "requires_grad_", "data"):
        return receiver
    if name in RESHAPING:
        receiver.sizes = receiver.rank = None
        return receiver
    return TensorValue("", receiver.name, receiver.dtype, filling=filling if name in _PARTS else None)
