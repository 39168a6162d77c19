"""Items of lists, tuples, dicts and module containers: read and written."""

from __future__ import annotations

import ast

from tsguard.analysis.budgets import DICT_OPTIONS
from tsguard.analysis.python import classes, module_containers, operations, registries, tensor_sizes
from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.iteration import iterate, range_of
from tsguard.analysis.python.unread_mappings import keyed_by, override
from tsguard.analysis.terms import Eq, Item, Literal, Named, Term, placed, spelled
from tsguard.analysis.values import (
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    EnumMember,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    Partial,
    RangeValue,
    SliceValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
    plain,
    slice_of,
)
from tsguard.language.modes import LAYERS


def item(interp: Interpreter, owner: Value, key: Value, node: ast.AST | None = None) -> Value:
    """``owner[key]``."""
    owner, key = plain(interp.settled(owner)), interp.settled(key)
    if isinstance(owner, TensorValue):
        return TensorValue(sizes=tensor_sizes.of_item(owner, key))
    if isinstance(owner, (ListValue, TupleValue)):
        return _chosen_of(interp, owner, key) or _sequence_item(owner, key, node)
    if isinstance(owner, DictValue):
        return _dict_item(interp, owner, key, node)
    if isinstance(owner, ModuleValue):
        return module_containers.item(interp, owner, key, node)
    if isinstance(owner, Const):
        return _constant_item(owner, key, node)
    if isinstance(owner, ClassValue) or (isinstance(owner, External) and owner.name not in _MAPPINGS):
        return _subscripted_class(interp, owner, key, node)
    if isinstance(owner, ObjectValue):
        method = interp.attribute(owner, "__getitem__")
        if method is not None and not isinstance(method, Unknown):
            return interp.call(method, [key], {}, node)
    if isinstance(owner, RangeValue):
        return _range_item(owner, key)
    return _unknown_item(owner, key, node)


def _range_item(owner: RangeValue, key: Value) -> Value:
    """``range(5)[-1]``, ``range(9)[::2]``."""
    numbers, index = range_of(owner), slice_of(key) if isinstance(key, SliceValue) else constant(key)
    if numbers is None or not isinstance(index, (int, slice)):
        return Unknown(None, "" if isinstance(key, SliceValue) else "int")
    if isinstance(index, slice):
        part = numbers[index]
        return RangeValue(Const(part.start), Const(part.stop), Const(part.step))
    if not -len(numbers) <= index < len(numbers):
        raise Raised("IndexError")
    return Const(numbers[index])


# What of the standard library holds items of which nothing is known.
_MAPPINGS = frozenset({"sys.modules", "os.environ", "sys.argv", "sys.path", "sys.version_info"})


def _unknown_item(owner: Value, key: Value, node: ast.AST | None) -> Value:
    term = operations.combined(Item, [owner, key], node)
    default = owner.default if isinstance(owner, Unknown) else None
    index = constant(key)
    if (
        isinstance(default, (ListValue, TupleValue))
        and isinstance(index, int)
        and -len(default.items) <= index < len(default.items)
    ):
        found = default.items[index]
        return Unknown(term, operations.hint_of(found), found) if isinstance(found, Const) else found
    if isinstance(default, DictValue) and not isinstance(index, Value) and index in default.items:
        found = default.items[index]
        return Unknown(term, operations.hint_of(found), found) if isinstance(found, Const) else found
    return Unknown(term, unread=owner.unread if isinstance(owner, Unknown) else None)


def _sequence_item(owner: ListValue | TupleValue, key: Value, node: ast.AST | None) -> Value:
    if isinstance(key, SliceValue):
        return _sliced(owner, key)
    index = constant(key)
    if not isinstance(index, int):
        hinted = key.default if isinstance(key, Unknown) else None
        guess = constant(hinted) if hinted is not None else 0
        index = guess if isinstance(guess, int) else 0
        if not owner.items:
            return Unknown(placed(node))
        chosen = owner.items[index] if -len(owner.items) <= index < len(owner.items) else owner.items[0]
        return _blurred(chosen, node)
    if -len(owner.items) <= index < len(owner.items):
        return owner.items[index]
    if owner.open:
        return _blurred(owner.items[-1], node) if owner.items else Unknown(placed(node))
    raise Raised("IndexError", node)


def _blurred(value: Value, node: ast.AST | None) -> Value:
    """One of several like values: a constant's type stays, its value does not."""
    if isinstance(value, Const) and value.value is not None:
        return Unknown(placed(node), operations.hint_of(value), value)
    return value


def _sliced(owner: ListValue | TupleValue, key: SliceValue) -> Value:
    part = slice_of(key)
    whole = owner.open or part is None
    items = list(owner.items) if part is None or owner.open else list(owner.items)[part]
    return ListValue(items, whole) if isinstance(owner, ListValue) else TupleValue(tuple(items), whole)


def _dict_item(interp: Interpreter, owner: DictValue, key: Value, node: ast.AST | None) -> Value:
    index = usual_key(key)
    registries.fill(interp, owner, index)
    if index in owner.items:
        return usual_or_other(interp, owner, key, index)
    if owner.factory is not None and not isinstance(key, Unknown):
        made = interp.call(owner.factory, [], {}, node)
        if owner.open and isinstance(made, Const):
            return Unknown(placed(node), operations.hint_of(made))  # another may be there
        put(owner, key, made)
        interp.program.shared_state.used(owner, interp.is_defining)
        return made
    if isinstance(key, Unknown) and owner.items:
        if key.term is not None and isinstance(next(iter(owner.items.values())), _MADE_OF):
            return _chosen(interp, owner, key.term)
        return _blurred(next(iter(owner.items.values())), node)
    if owner.rest is not None and isinstance(index, str):
        return _unknown_item(owner.rest, key, node)
    if owner.open or isinstance(index, (ObjectValue, Unknown)):
        return Unknown(placed(node))  # of objects, those that are equal are one key
    raise Raised("KeyError", node)


# What a dict from names holds to make something of: which, a world decides.
_MADE_OF = (ClassValue, External, FunctionValue, ModuleValue, Partial)


def _chosen(interp: Interpreter, owner: DictValue, key: Term) -> Value:
    """The item of one of a few keys; of many, that of any."""
    options = [(Literal.of(k), item) for k, item in owner.items.items() if isinstance(k, (str, int))]
    if owner.open or len(options) != len(owner.items) or len(options) > DICT_OPTIONS:
        return Unknown(Item(Named(owner, "a dict"), key))
    for i, (literal, found) in enumerate(options[:-1]):
        if interp.world.decide(Eq(key, literal), i == 0, guess=True):
            return found
    return options[-1][1]


def _chosen_of(interp: Interpreter, owner: ListValue | TupleValue, key: Value) -> Value | None:
    """What a number that nobody knows chooses to make something of; None of other items, and where it is known."""
    term = key.term if isinstance(key, Unknown) and key.default is None else None
    if term is None or not interp.is_plain or not owner.items or not isinstance(owner.items[0], _MADE_OF):
        return None
    return _chosen(interp, DictValue(dict(enumerate(owner.items)), owner.open), term)


def usual_or_other(interp: Interpreter, owner: DictValue, key: Value, index: object) -> Value:
    """The item of a key that is there, or in a world in which the key is not its default that of another one.

    Functions of torch go alike, and so do its layers that are the same in both modes: they are not asked about.
    """
    usual = owner.items[index]
    if isinstance(key, Unknown) and key.term is not None and isinstance(usual, _MADE_OF):
        others = [
            (Literal.of(name), found)
            for name, found in owner.items.items()
            if isinstance(name, (str, int)) and name != index and not _goes_alike(found)
        ]
        for literal, found in others[:DICT_OPTIONS]:
            if interp.world.decide(Eq(key.term, literal), False):
                return found
    return usual


def _goes_alike(value: Value) -> bool:
    return isinstance(value, External) and value.name not in LAYERS


def key_of(key: Value) -> object:
    """A dict key: the constant itself, or the value where it is none."""
    key = plain(key)
    if isinstance(key, Const):
        return key.value
    if isinstance(key, TupleValue) and all(isinstance(plain(i), Const) for i in key.items):
        return tuple(constant(i) for i in key.items)
    return key


def usual_key(key: Value) -> object:
    """A dict key, that of the default where only that is known."""
    return key_of(key.default if isinstance(key, Unknown) and key.default is not None else key)


def _constant_item(owner: Const, key: Value, node: ast.AST | None) -> Value:
    if not isinstance(owner.value, (str, bytes)):
        raise Raised("TypeError", node)
    if isinstance(key, SliceValue):
        part = slice_of(key)
        if part is not None:
            return Const(owner.value[part])
    index = constant(key)
    if isinstance(index, int) and -len(owner.value) <= index < len(owner.value):
        return Const(owner.value[index])
    return Unknown(placed(node), "str")


def _subscripted_class(
    interp: Interpreter, owner: ClassValue | External, key: Value, node: ast.AST | None
) -> Value:
    """``Enum["NAME"]`` is a member; ``Generic[T]`` is still the class, unless that has a method for it."""
    if not isinstance(owner, ClassValue):
        return owner
    member = owner.members.get(str(key.value)) if isinstance(key, Const) else None
    if isinstance(member, EnumMember):
        return member
    found = classes.class_member(interp, owner, "__class_getitem__")
    own = found[0] if found is not None else None
    return interp.call(BoundMethod(own, owner), [key], {}, node) if isinstance(own, FunctionValue) else owner


def set_item(interp: Interpreter, owner: Value, key: Value, value: Value) -> None:
    """``owner[key] = value``."""
    owner = interp.settled(owner)
    if isinstance(owner, DictValue):
        put(owner, key, value)
        owner.open = owner.open or interp.open_loops > 0
    elif isinstance(owner, TensorValue):
        interp.change(owner)
    elif isinstance(owner, ListValue):
        index = constant(key)
        if isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
            owner.items[index] = value
        else:
            _replace(interp, owner, key, value)
    elif isinstance(owner, ModuleValue):
        module_containers.put(interp, owner, key, value)
    elif isinstance(owner, ObjectValue):
        method = interp.attribute(owner, "__setitem__")
        if isinstance(method, BoundMethod):
            interp.call(method, [key, value], {})


def _replace(interp: Interpreter, owner: ListValue, key: Value, value: Value) -> None:
    """``owner[1:3] = value``; any other key leaves the list open."""
    part = slice_of(key) if isinstance(key, SliceValue) and not owner.open else None
    items, is_open = iterate(interp, value) if part is not None else ([], True)
    if part is None or (part.step not in (None, 1) and len(items) != len(owner.items[part])):
        owner.open = True
        # Nobody knows which of them it takes the place of.
        owner.items = [_any_like(item) if item != value else item for item in owner.items]
    else:
        owner.items[part] = items
        owner.open = is_open


def _any_like(value: Value) -> Value:
    return Unknown(None, operations.hint_of(value)) if isinstance(value, Const) else value


def put(target: DictValue, key: Value, value: Value) -> None:
    """Add a key to a dict; one that is no constant leaves the dict open."""
    _put(target, key_of(key), value)


def merge(target: DictValue, other: DictValue) -> None:
    """``target.update(other)``."""
    override(target.items, other.rest)
    for index, value in other.items.items():
        _put(target, other.untold.get(index, index), value)
    if other.open:
        _open(target)
        target.rest = target.rest or other.rest


def _open(target: DictValue) -> None:
    target.open = True
    if target.registry_of is not None:
        target.registry_of.open = True


def _put(target: DictValue, index: object, value: Value) -> None:
    if isinstance(index, Unknown) or (target.registry_of is not None and not isinstance(index, str)):
        _open(target)
        mapping = keyed_by(index) if isinstance(index, Unknown) else None
        override(target.items, mapping)
        target.rest = target.rest or mapping
        known = index.term if isinstance(index, Unknown) else None
        place = f"?{len(target.items) if known is None else spelled(known)}"
        if place not in target.items:
            target.items[place] = value
            target.untold[place] = index if isinstance(index, Value) else Unknown()
        return
    target.items[index] = value
