"""``dataclass`` for values that never change, at the cost of those that may, and for many classes.

mypy keeps frozen values from being changed.  That Python would check it too makes each of them
three times as dear to create, and their classes half as dear again to define.  And what
``dataclasses`` writes for a class it compiles at once, though most classes of a run are
never made or compared: here a method is written when it is first called.

The hash of a value that holds values that hold values ... is computed once where a base class has a
slot ``_hash``; slots of bases that are no dataclasses begin as 0.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def dataclass(*, frozen: bool = False, eq: bool = True, **options: bool) -> Callable[[_Class], _Class]:
        """``dataclasses.dataclass``, but that ``frozen`` only makes instances hashable."""

        def made(cls: _Class) -> _Class:
            hashed = frozen and eq and "__hash__" not in vars(cls)
            if not cls.__dictoffset__:  # a class that mypyc has compiled takes no methods later
                return dataclasses.dataclass(eq=eq, unsafe_hash=hashed, **options)(cls)
            return _written_late(cls, eq, hashed, **options)

        return made

    def replace(value: Any, **changes: object) -> Any:
        """``dataclasses.replace``, in half the time."""
        cls = type(value)
        given = {name: changes[name] if name in changes else getattr(value, name) for name in _fields(cls)}
        return cls(**given)


@cache
def _fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _written_late(cls: _Class, eq: bool, hashed: bool, repr: bool = True, **options: bool) -> _Class:
    own = set(vars(cls))
    cls.__doc__ = cls.__doc__ or cls.__name__  # or else ``dataclasses`` would look up the signature
    with_fields: Any = dataclasses.dataclass(init=False, repr=False, eq=False, **options)
    cls = with_fields(cls)
    methods: dict[str, object] = {"__init__": _late(cls, "__init__", _init)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = _late(cls, "__eq__", _eq)
        methods["__hash__"] = _late(cls, "__hash__", _hash) if hashed else None
    for name in methods.keys() - own:
        setattr(cls, name, methods[name])
    return cls


def _late(cls: type, name: str, write: Callable[[type], tuple[str, dict[str, object]]]) -> Callable[..., Any]:
    """A method that writes itself when it is first called."""

    def first(self: object, *args: object, **kwargs: object) -> Any:
        source, names = write(cls)
        exec(source, names)  # what ``dataclasses`` does, too
        method: Any = names[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(self, *args, **kwargs)

    return first


def _init(cls: type) -> tuple[str, dict[str, object]]:
    names: dict[str, object] = {"_LEFT_OUT": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for field in filter(lambda field: field.init, dataclasses.fields(cls)):
        given = value = field.name
        if field.default is not dataclasses.MISSING:
            names[f"_default_{field.name}"] = field.default
            given = f"{field.name}=_default_{field.name}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_made_{field.name}"] = field.default_factory
            given = f"{field.name}=_LEFT_OUT"
            value = f"_made_{field.name}() if {field.name} is _LEFT_OUT else {field.name}"
        parameters.append(given)
        lines.append(f"    self.{field.name} = {value}\n")
    lines += [f"    self.{name} = 0\n" for name in _kept(cls)]
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()\n")
    return f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}", names


def _kept(cls: type) -> Iterator[str]:
    """The slots of bases that hold what is found out later, as ``_hash``."""
    for base in cls.__mro__[1:]:
        if not dataclasses.is_dataclass(base):
            yield from vars(base).get("__slots__", ())


def _compared(cls: type, owner: str) -> str:
    fields = (field.name for field in dataclasses.fields(cls) if field.compare)
    return "(" + "".join(f"{owner}.{name}, " for name in fields) + ")"


def _eq(cls: type) -> tuple[str, dict[str, object]]:
    equal = f"{_compared(cls, 'self')} == {_compared(cls, 'other')}"
    return (
        f"def __eq__(self, other):\n    return {equal} if other.__class__ is self.__class__ else NotImplemented",
        {},
    )


def _hash(cls: type) -> tuple[str, dict[str, object]]:
    computed = f"hash({_compared(cls, 'self')})"
    if not hasattr(cls, "_hash"):
        return f"def __hash__(self):\n    return {computed}\n", {}
    return (
        f"def __hash__(self):\n    if not self._hash:\n        self._hash = {computed}\n    return self._hash\n",
        {},
    )


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (
        f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"
