"""Iterating values: the items that are known, and whether there may be others."""

from __future__ import annotations

from collections.abc import Iterator

from tsguard.analysis.budgets import COUNTED_TURNS, HINTED_ITEMS, UNROLLED_ITEMS
from tsguard.analysis.python import ancestry, sizes
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.terms import Element, Item, Literal, Term
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    FunctionValue,
    IteratorValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    RangeValue,
    Scope,
    SetValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)


def iterate(interp: Interpreter, value: Value, wanted: int | None = None) -> tuple[list[Value], bool]:
    """The items of an iterable and whether it is open (more, or fewer, may follow).

    ``wanted`` is how many an unpacking assignment takes.
    """
    value = interp.settled(value)
    special = interp.items(value, wanted)
    if special is not None:
        return special
    if isinstance(value, IteratorValue) and value.open and not value.items:
        return [Unknown()], True  # each item is made when it is asked for
    if isinstance(value, (ListValue, SetValue, TupleValue)):
        sizes.charge(interp, len(value.items))
        return list(value.items), value.open
    if isinstance(value, DictValue):
        return keys_of(value), value.open
    if isinstance(value, RangeValue):
        return _range_items(value, _counted_turns(interp))
    if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
        return _letters(value.value, _counted_turns(interp))
    if isinstance(value, ModuleValue):
        return _children(interp, value)
    if isinstance(value, ClassValue):
        return [m for m in value.members.values() if isinstance(m, EnumMember)], False
    if isinstance(value, Unknown):
        return _unknown_items(interp, value, wanted)
    given = _of_object(interp, value, wanted) if isinstance(value, ObjectValue) else None
    if given is not None:
        return given
    return [value if isinstance(value, TensorValue) and value.filling is not None else Unknown()], True


def _of_object(
    interp: Interpreter, value: ObjectValue, wanted: int | None
) -> tuple[list[Value], bool] | None:
    """The items that an instance gives; None where they are not told."""
    method = interp.attribute(value, "__iter__")
    is_own = isinstance(method, BoundMethod) and isinstance(method.function, FunctionValue)
    if value.contents is not None and not is_own:
        return keys_of(value.contents), value.contents.open
    if isinstance(method, BoundMethod):
        given = interp.call(method, [], {})
        return iterate(interp, given, wanted) if isinstance(given, ListValue) else None
    items = _indexed(interp, value)
    return (items, False) if items is not None else None


def _indexed(interp: Interpreter, value: ObjectValue) -> list[Value] | None:
    """The items that ``__getitem__`` gives for 0, 1, ... until it raises ``IndexError``; None where no end is seen.

    Source: the Python language reference on ``object.__getitem__``; ``collections.abc.Sequence`` iterates so too.
    """
    method = interp.attribute(value, "__getitem__")
    if not isinstance(method, BoundMethod) or not isinstance(method.function, FunctionValue):
        return None
    items: list[Value] = []
    while len(items) <= UNROLLED_ITEMS:
        try:
            items.append(interp.call(method, [Const(len(items))], {}))
        except Raised as raised:
            if raised.name != "IndexError":
                raise
            return items
    return None


def consume(interp: Interpreter, value: Value, wanted: int | None = None) -> tuple[list[Value], bool]:
    """``iterate``, after which an iterator has nothing more to give."""
    value = interp.settled(value)
    if isinstance(value, IteratorValue):
        _refresh(value)
    items, is_open = iterate(interp, value, wanted)
    if isinstance(value, IteratorValue) and not is_open:
        if interp.open_loops or interp.branches:
            value.open = True  # it may be that this is not reached
        else:
            _take(value, len(items))
    return items, is_open


def growing(value: Value, items: list[Value]) -> Iterator[Value]:
    """The items that a loop runs over, with those that it puts into their list meanwhile."""
    yield from items
    if isinstance(value, ListValue) and not isinstance(value, IteratorValue) and not value.open:
        place = len(items)
        while place < len(value.items):
            yield value.items[place]
            place += 1


def any_turn(scope: Scope, before: dict[str, Value]) -> bool:
    """Make of the names that a turn of a loop counts, or adds letters to, what they may be in any further one."""
    counted = False
    for name, value in scope.names.items():
        was = before.get(name)
        if isinstance(value, Const) and isinstance(was, Const) and value != was:
            hint = type(value.value).__name__
            if hint in ("int", "float", "str"):
                scope.names[name] = Unknown(None, hint)
                counted = True
    return counted


def give_back(value: Value, items: list[Value]) -> None:
    """The items that a loop has left to an iterator when it ended early."""
    if isinstance(value, IteratorValue) and not value.open:
        value.items[:0] = items
        value.taken -= len(items)


def next_of(value: ListValue) -> Value | None:
    """The next item of an iterator, which has it no more then; None of an empty one."""
    if isinstance(value, IteratorValue):
        _refresh(value)
    if not value.items:
        return None
    first = value.items[0]
    if isinstance(value, IteratorValue):
        _take(value, 1)
    else:
        del value.items[0]
    return first


def _refresh(value: IteratorValue) -> None:
    if value.source is not None:
        value.items[:] = value.source.items[value.taken :]
        value.open = value.open or value.source.open


def _take(value: IteratorValue, count: int) -> None:
    del value.items[:count]
    value.taken += count


def keys_of(owner: DictValue) -> list[Value]:
    """The keys of a dict; those that are not told are unknown."""
    return [key_value(owner, key) for key in owner.items]


def key_value(owner: DictValue, key: object) -> Value:
    """A key of a dict as code sees it."""
    if isinstance(key, Value):
        return key
    if isinstance(key, tuple):
        return TupleValue(tuple(Const(part) for part in key))
    return owner.untold.get(key) or Const(key)


def _unknown_items(interp: Interpreter, value: Unknown, wanted: int | None) -> tuple[list[Value], bool]:
    if value.default is not None and not isinstance(value.default, Unknown):
        items, is_open = iterate(interp, value.default)
        if not is_open and len(items) <= UNROLLED_ITEMS:
            return [_hinted(value, i, item) for i, item in enumerate(items)], False
    if wanted is not None:
        return [Unknown(item_term(value, i)) for i in range(wanted)], False
    loops = interp.open_loops + interp.outer_loops
    return [Unknown(Element(value.term, loops) if value.term is not None else None)], True


def item_term(value: Value, index: int) -> Term | None:
    """What stands for the item of an unknown at a place."""
    term = value.term if isinstance(value, Unknown) else None
    return None if term is None else Item(term, Literal.of(index))


def _hinted(value: Unknown, index: int, item: Value) -> Value:
    if isinstance(item, Const):
        return Unknown(item_term(value, index), type(item.value).__name__, item)
    return item


def _counted_turns(interp: Interpreter) -> int:
    return UNROLLED_ITEMS if interp.repeats else COUNTED_TURNS


def _letters(text: str | bytes, most: int) -> tuple[list[Value], bool]:
    letters: list[Value] = [Const(letter) for letter in text[:most]]
    if len(text) <= most:
        return letters, False
    return [*letters, Unknown(None, "str" if isinstance(text, str) else "int")], True


def range_of(value: RangeValue) -> range | None:
    """The numbers of a range; None where its bounds are not told."""
    bounds = [constant(part) for part in (value.start, value.stop, value.step)]
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    return range(*numbers) if len(numbers) == len(bounds) and numbers[2] else None


def _range_items(value: RangeValue, most: int) -> tuple[list[Value], bool]:
    first, last, step = (constant(bound) for bound in (value.start, value.stop, value.step))
    if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
        counted = range(first, last, step or 1)
        if len(counted) <= most:
            return [Const(i) for i in counted], False
        return [Const(counted[0]), Const(counted[1]), Unknown(None, "int")], True
    stop = value.stop
    hinted = stop.default if isinstance(stop, Unknown) else None
    if isinstance(hinted, Const) and isinstance(hinted.value, int) and isinstance(first, int):
        count = range(first, hinted.value)
        if len(count) <= HINTED_ITEMS:
            return [Const(i) for i in count], False
    lowest = value.start if isinstance(value.start, (Const, Unknown)) else Const(0)
    return [lowest, Unknown(None, "int")], True


def _children(interp: Interpreter, value: ModuleValue) -> tuple[list[Value], bool]:
    if ancestry.derives_from(interp, value.cls, "torch.nn.ModuleDict"):
        return [Const(name) for name in value.children], value.open
    if ancestry.derives_from(interp, value.cls, "torch.nn.ParameterList"):
        return list(value.parameters.values()), value.open
    return list(value.children.values()), value.open
