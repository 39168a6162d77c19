"""How types relate: subtyping, unification, unions, type variables.

Source: aten/src/ATen/core/type.cpp and union_type.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tsguard.language.types import (
    ANY,
    ANY_DICT,
    ANY_ENUM,
    ANY_LIST,
    ANY_TUPLE,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    UNKNOWN,
    ClassType,
    DictType,
    EnumType,
    FutureType,
    ListType,
    ModuleType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
    VarType,
    has_variables,
    parts,
    with_parts,
)

_NUMBERS: tuple[Type, ...] = (INT, FLOAT, COMPLEX)

# Whether a class or module fulfils an interface; the analysis, which knows methods, sets it.
implements: Callable[[Type, ClassType], bool] = lambda type_, interface: True  # noqa: E731


def is_subtype(a: Type, b: Type) -> bool:
    """Whether a value of type ``a`` may stand where ``b`` is wanted."""
    if a is UNKNOWN or b is UNKNOWN or b is ANY or a == b:
        return True
    if isinstance(a, OptionalType):
        return _optional_subtype(a, b)
    if isinstance(a, UnionType):
        wanted = _alternatives(b)
        return all(any(is_subtype(member, w) for w in wanted) for member in a.members)
    if a is NONE:
        return isinstance(b, OptionalType) or (isinstance(b, UnionType) and NONE in b.members)
    if a is NUMBER:
        if isinstance(b, UnionType):
            return all(number in b.members for number in _NUMBERS)
        return isinstance(b, OptionalType) and is_subtype(a, b.element)
    if isinstance(b, OptionalType):
        return is_subtype(a, b.element)
    if isinstance(b, UnionType):
        return any(is_subtype(a, member) for member in b.members)
    return _structural_subtype(a, b)


def _optional_subtype(a: OptionalType, b: Type) -> bool:
    if isinstance(b, OptionalType):
        return is_subtype(a.element, b.element)
    return isinstance(b, UnionType) and NONE in b.members and is_subtype(a.element, b)


def _structural_subtype(a: Type, b: Type) -> bool:
    if a in _NUMBERS:
        return b is NUMBER
    if isinstance(a, ListType):
        return b is ANY_LIST or (isinstance(b, ListType) and same(a.element, b.element))
    if isinstance(a, DictType):
        return b is ANY_DICT or (isinstance(b, DictType) and same(a.key, b.key) and same(a.value, b.value))
    if isinstance(a, TupleType):
        return b is ANY_TUPLE or (isinstance(b, TupleType) and _tuple_subtype(a, b))
    if isinstance(a, FutureType) and isinstance(b, FutureType):
        return is_subtype(a.element, b.element)
    if isinstance(a, EnumType):
        return b is ANY_ENUM
    if isinstance(a, (ClassType, ModuleType)) and isinstance(b, ClassType) and b.interface:
        return implements(a, b)
    return False


def _tuple_subtype(a: TupleType, b: TupleType) -> bool:
    if b.fields and a.fields != b.fields:
        return False
    return len(a.elements) == len(b.elements) and all(map(is_subtype, a.elements, b.elements))


def same(a: Type, b: Type) -> bool:
    """Equality, where what is unknown equals anything."""
    return a == b or (is_subtype(a, b) and is_subtype(b, a))


def _alternatives(type_: Type) -> tuple[Type, ...]:
    if isinstance(type_, UnionType):
        return type_.members
    if isinstance(type_, OptionalType):
        inner = _NUMBERS if type_.element is NUMBER else _alternatives(type_.element)
        return (NONE, *inner)
    return _NUMBERS if type_ is NUMBER else (type_,)


def unify(a: Type, b: Type, *, default_to_union: bool = False, hint: Type | None = None) -> Type | None:
    """The type that holds both, or None where TorchScript finds none."""
    unified = _unify(a, b, default_to_union, hint)
    if unified is None and default_to_union:
        return union([a, b])
    return unified


def _unify(a: Type, b: Type, default_to_union: bool, hint: Type | None) -> Type | None:
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if is_subtype(a, b):
        return _more_known(b, a)
    if is_subtype(b, a):
        return _more_known(a, b)
    if a is NONE:
        return OptionalType(b)
    if b is NONE:
        return OptionalType(a)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, OptionalType):
            element = unify(one.element, other)
            return None if element is None else optional(element)
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.elements) == len(b.elements):
        elements = [
            unify(x, y, default_to_union=default_to_union)
            for x, y in zip(a.elements, b.elements, strict=True)
        ]
        return None if None in elements else TupleType(tuple(e for e in elements if e is not None))
    if isinstance(a, FutureType) and isinstance(b, FutureType):
        element = unify(a.element, b.element)
        return None if element is None else FutureType(element)
    if hint is not None and is_subtype(a, hint) and is_subtype(b, hint):
        return hint
    return None


def _more_known(wider: Type, narrower: Type) -> Type:
    """Of two types that hold each other, the one of which the source tells more."""
    if wider is UNKNOWN:
        return narrower
    if wider != narrower and type(wider) is type(narrower) and is_subtype(wider, narrower):
        return with_parts(wider, tuple(map(_more_known, parts(wider), parts(narrower))))
    return wider


def unify_all(
    types: Iterable[Type], *, default_to_union: bool = False, hint: Type | None = None
) -> Type | None:
    """The type that holds all of a list's elements."""
    result: Type | None = None
    for type_ in types:
        result = (
            type_ if result is None else unify(result, type_, default_to_union=default_to_union, hint=hint)
        )
        if result is None:
            return None
    return result


def optional(element: Type) -> Type:
    """``Optional[element]``, not nested."""
    if element is NONE or element is UNKNOWN or isinstance(element, OptionalType):
        return element
    if isinstance(element, UnionType):
        return union([*element.members, NONE])
    return OptionalType(element)


def union(types: Iterable[Type]) -> Type:
    """The union of types, flattened, merged, and an Optional where it is one."""
    members = merged(types)
    if UNKNOWN in members:
        return UNKNOWN
    if len(members) == 1:
        return members[0]
    numbers = all(number in members for number in _NUMBERS)
    rest = [m for m in members if m is not NONE]
    if NONE in members and len(rest) == 1:
        return OptionalType(rest[0])
    if NONE in members and numbers and len(rest) == 3:
        return OptionalType(NUMBER)
    return UnionType(tuple(members))


def merged(types: Iterable[Type]) -> list[Type]:
    """Types flattened out of unions, with subtypes merged into their supertypes."""
    flat = [member for type_ in types for member in _alternatives(type_)]
    kept: list[Type] = []
    for type_ in flat:
        for i, other in enumerate(kept):
            if (type_ is NONE) == (other is NONE):
                joint = unify(type_, other)
                if joint is not None:
                    kept[i] = joint
                    break
        else:
            kept.append(type_)
    return sorted(kept, key=str)


def match_variables(formal: Type, actual: Type, bound: dict[str, Type]) -> bool:
    """Bind the type variables of a schema's argument to the types of an actual one."""
    if not has_variables(formal) or actual is UNKNOWN:
        return True
    if isinstance(formal, VarType):
        if formal.name not in bound:
            bound[formal.name] = actual
            return True
        return unify(bound[formal.name], actual) is not None
    if isinstance(formal, ListType):
        if isinstance(actual, ListType):
            return match_variables(formal.element, actual.element, bound)
        if isinstance(actual, TupleType):
            element = unify_all(actual.elements)
            return element is not None and match_variables(formal.element, element, bound)
        return False
    if isinstance(formal, OptionalType):
        if isinstance(actual, OptionalType):
            return match_variables(formal.element, actual.element, bound)
        return actual is NONE or match_variables(formal.element, actual, bound)
    if type(formal) is not type(actual) or len(parts(formal)) != len(parts(actual)):
        return False
    return all(match_variables(f, a, bound) for f, a in zip(parts(formal), parts(actual), strict=True))


def evaluate_variables(formal: Type, bound: dict[str, Type]) -> Type | None:
    """A schema's type with its variables replaced; None while one is unbound."""
    if isinstance(formal, VarType):
        return bound.get(formal.name)
    if not has_variables(formal):
        return formal
    replaced = [evaluate_variables(part, bound) for part in parts(formal)]
    if None in replaced:
        return None
    return with_parts(formal, tuple(part for part in replaced if part is not None))
