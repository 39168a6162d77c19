"""What a constructor must be given: each parameter, and each part of one that is an object."""

from __future__ import annotations

import collections.abc
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from tsguard.runtime.budgets import DEEPEST_ARGUMENT
from tsguard.runtime.worker.constructing.names import by_name
from tsguard.runtime.worker.constructing.uses import Use, use_of
from tsguard.runtime.worker.guarding import value_or

Path = tuple[str, ...]
"""A parameter's name, then the attributes or keys that lead to a part of it."""

OBJECT = "SimpleNamespace(...)"
MAPPING = "dict(...)"
"""Values with parts: the dots stand for what is chosen for each."""

STUB = "nn.Identity()"
_SEVERAL = "nn.Sequential(nn.Linear(64, 64), nn.ReLU())"
# By the number of arguments of the call: an activation takes none, a norm its width.
_FACTORIES = (
    ("nn.ReLU", "nn.Identity"),
    ("nn.LayerNorm", "nn.BatchNorm2d", "nn.Identity", "nn.ReLU"),
    ("nn.Linear", "nn.Identity", "nn.Conv2d"),
    ("nn.Conv2d", "nn.Linear", "nn.Identity"),
)


# Modules of torch that take several arguments, and how many values each returns.
_OF_TORCH = {
    "nn.MultiheadAttention(64, 4, batch_first=True)": (nn.MultiheadAttention, 2),
    "nn.LSTM(64, 64, batch_first=True)": (nn.LSTM, 2),
    "nn.TransformerDecoderLayer(64, 4, batch_first=True)": (nn.TransformerDecoderLayer, 0),
    "nn.TransformerEncoderLayer(64, 4, batch_first=True)": (nn.TransformerEncoderLayer, 0),
    "nn.Bilinear(64, 64, 64)": (nn.Bilinear, 0),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something to choose, and expressions for it, the likeliest first."""

    path: Path
    values: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path[-1]


def required(cls: type, module: ModuleType, *, optional: bool = False) -> list[Parameter]:
    """The parameters to give; with ``optional`` also those whose default is None.

    A constructor that passes ``*args, **kwargs`` on takes what its base classes take.
    """
    return list(_required(cls, module, (), optional))


def _required(cls: type, module: ModuleType, above: Path, optional: bool = False) -> Iterator[Parameter]:
    seen: set[str] = set()
    for owner, init in _constructors(cls):
        try:
            signature = inspect.signature(init)
        except (TypeError, ValueError):
            return
        passes_on = False
        for p in list(signature.parameters.values())[1:]:
            if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
                passes_on = True
            elif p.name not in seen and (p.default is p.empty or (optional and p.default is None)):
                seen.add(p.name)
                wanted = Wanted((*above, p.name), _annotation(p, init, owner), use_of(init, p.name, owner))
                yield from chosen_for(wanted, module, cls)
        if not passes_on:
            return


def _constructors(cls: type) -> Iterator[tuple[type, Any]]:
    for owner in cls.__mro__:
        made = owner.__dict__.get("__init__")
        if made is None and issubclass(cls, tuple):
            # A named tuple is made by its __new__.
            made = getattr(owner.__dict__.get("__new__"), "__func__", None)
        if made is not None and owner not in (nn.Module, object, tuple):
            yield owner, made


@dataclass(frozen=True, slots=True)
class Wanted:
    """A parameter or a part of one: its declared type, None for none, and how it is used."""

    path: Path
    annotation: Any
    use: Use

    @property
    def name(self) -> str:
        return self.path[-1]


def chosen_for(wanted: Wanted, module: ModuleType, cls: type) -> Iterator[Parameter]:
    """What there is to choose: the value, or that there is an object, and each of its parts."""
    declared = _declared_class(wanted, module)
    if declared is not None and len(wanted.path) < DEEPEST_ARGUMENT:
        text, made = declared
        yield Parameter(wanted.path, (text,))
        yield from _required(made, module, wanted.path)
        return
    use = wanted.use
    parts = use.keys if _is_mapping(use) else use.attributes if _is_object(wanted) else None
    if parts is None or len(wanted.path) >= DEEPEST_ARGUMENT + 1:
        yield Parameter(wanted.path, tuple(dict.fromkeys(values(wanted, module, cls))))
        return
    models = _with_modules(use, module, cls) if parts is use.attributes else ()
    if models:
        yield Parameter(wanted.path, models)
        return
    yield Parameter(wanted.path, (MAPPING if parts is use.keys else OBJECT,))
    for name, part in parts.items():
        yield from chosen_for(Wanted((*wanted.path, name), None, part), module, cls)


def _with_modules(use: Use, module: ModuleType, cls: type) -> tuple[str, ...]:
    """Models that have what is read of a value, where some of that is called: no object of sizes."""
    if not any(part.called for part in use.attributes.values()):
        return ()
    read = set(use.attributes) - set(dir(nn.Module()))
    return tuple(f"{text}()" for text, found in _models(module, cls).items() if read and _has(found, read))


def _declared_class(wanted: Wanted, module: ModuleType) -> tuple[str, type] | None:
    """The class of the project that a value must be an instance of, with the expression that makes one."""
    for annotation in _options(wanted.annotation):
        if isinstance(annotation, type) and annotation.__module__ not in ("builtins", "typing", "torch"):
            name = name_of(annotation, module)
            if name is not None and annotation is not nn.Module and not inspect.isabstract(annotation):
                return f"{name}(...)", annotation
    return None


def _is_mapping(use: Use) -> bool:
    return bool(use.keys)


def _is_object(wanted: Wanted) -> bool:
    """Whether attributes are read that no usual value has; what is called is a module or a class of them."""
    if wanted.use.called or wanted.use.makes is not None:
        return False
    read = set(wanted.use.attributes)
    usual = (str, list, dict, nn.Module, Tensor, type)
    return bool(read) and wanted.annotation is None and not any(read <= set(dir(kind)) for kind in usual)


def values(wanted: Wanted, module: ModuleType, cls: type) -> Iterator[str]:
    """Expressions for one value, most likely first."""
    if wanted.use.path:
        return
    name = wanted.name
    declared = {a for a in _options(wanted.annotation) if a in (int, float)}
    if wanted.annotation is None:
        told = {a for a in wanted.use.annotations if a in (int, float)}
        declared = told if not wanted.use.texts else set()
    yield from _by_annotation(wanted.annotation, name, module, cls) if not declared else ()
    yield from _by_use(wanted, module, cls)
    named = by_name(name)
    if wanted.use.count:
        # What is made so many times costs so many times: a width need not be that small.
        yield from sorted((text for text in ("2", *named) if text.isdigit()), key=int)
    if declared and float in declared:
        named = tuple(text for text in named if re.fullmatch(r"[\d.]+", text)) or ("0.5",)
    elif declared:
        named = (*(text for text in named if text.isdigit()), "4", "64")
    yield from named
    if wanted.use.none:
        yield "None"
    if not named[0].replace(".", "").isdigit() and not declared:
        yield from ("64", "4")


def _by_use(wanted: Wanted, module: ModuleType, cls: type) -> Iterator[str]:
    use, name = wanted.use, wanted.name
    if use.makes is not None:
        yield from _like_named(name, module, cls)
        yield from (text for text in by_name(name) if re.fullmatch(r"nn\.\w+", text))
        if use.makes > 1:
            yield from (n for n, found in _models(module, cls).items() if _takes(found, use.makes))
        yield from _FACTORIES[min(use.makes, len(_FACTORIES) - 1)]
    elif use.called or set(use.attributes) & (set(dir(nn.Module)) - set(dir(Tensor)) - set(dir(str))):
        read = set(use.attributes) - set(dir(nn.Module()))
        models = _models(module, cls)
        several = any(number > 1 or keywords for number, keywords in use.calls)
        fitting = {
            text: found
            for text, found in models.items()
            if (read or several) and _has(found, read) and _accepts(found, use.calls)
        }
        yield from (f"{text}()" for text in fitting)
        for text, (found, returned) in _OF_TORCH.items() if several else ():
            if returned == use.unpacked and _has(found, read) and _accepts(found, use.calls):
                yield text
        yield from (f"{text}()" for text in _like_named(name, module, cls))
        yield from (text for text in by_name(name) if text.startswith("nn.") and text.endswith("()"))
        yield from (STUB, "nn.Linear(64, 64)", _SEVERAL, *(f"{text}()" for text in list(models)[:6]))
    elif use.length is not None or use.elements is not None:
        yield from _sequences(wanted, module, cls)
    yield from map(repr, use.texts)
    for annotation in use.annotations:
        if annotation not in (int, float):
            yield from _by_annotation(annotation, name, module, cls)


def _sequences(wanted: Wanted, module: ModuleType, cls: type) -> Iterator[str]:
    use, singular = wanted.use, wanted.name.removesuffix("s")
    element = Wanted((*wanted.path[:-1], singular), None, use.elements or Use())
    text = next(values(element, module, cls), "4")
    least = use.length or 0
    for count in dict.fromkeys([least] if use.exact else [max(least, 2), 4, max(least, 1), 3]):
        items = ", ".join([text] * count)
        yield from (f"({items}{',' if count == 1 else ''})", f"[{items}]")


def _models(module: ModuleType, cls: type) -> dict[str, type]:
    """The module classes of the file, then those that its package exports, by expression."""
    found = {name: vars(module)[name] for name in reversed(_classes(vars(module), cls))}
    root = module.__name__.partition(".")[0]
    if root != module.__name__:
        exported = vars(sys.modules.get(root, module))
        found |= {f"{root}.{name}": exported[name] for name in _classes(exported, cls)}
    return found


def _takes(found: type, number: int) -> bool:
    """Whether a class can be made with so many arguments."""
    try:
        inspect.signature(found).bind(*[None] * number)
    except (TypeError, ValueError):
        return False
    return True


def _accepts(found: Any, calls: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    """Whether a module class takes the calls that are made of a value."""
    try:
        signature = inspect.signature(found.forward)
        for number, keywords in calls:
            signature.bind(None, *[None] * number, **dict.fromkeys(keywords))
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def _has(found: type, attributes: set[str]) -> bool:
    return all(hasattr(found, a) or re.search(rf"self\.{a}\s*=", _source(found)) for a in attributes)


def _source(found: Any) -> str:
    try:
        return inspect.getsource(found)
    except (OSError, TypeError):
        return ""


def _annotation(p: inspect.Parameter, init: Callable[..., Any], owner: type) -> Any:
    # The constructors of named tuples and dataclasses are written elsewhere: the class knows the names.
    for told in (init, owner):
        hints = value_or({}, partial(typing.get_type_hints, told))
        if p.name in hints:
            return hints[p.name]
    written = isinstance(p.annotation, (str, typing.ForwardRef)) or p.annotation is p.empty
    return None if written else p.annotation


def _options(annotation: Any) -> list[Any]:
    """The types that an annotation allows, None apart."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [a for a in typing.get_args(annotation) if a is not type(None)]
    return [annotation]


def _by_annotation(annotation: Any, name: str, module: ModuleType, cls: type) -> Iterator[str]:
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for option in _options(annotation):
            yield from _by_annotation(option, name, module, cls)
    elif origin is typing.Literal:
        yield from map(repr, inner)
    elif annotation in (int, float):
        named = [text for text in by_name(name) if re.fullmatch(r"[\d.]+", text)]
        yield from (t for t in named if annotation is float or t.isdigit())
        yield "4" if annotation is int else "0.5"
    elif annotation is bool:
        yield from ("False", "True")
    elif annotation is str:
        yield from (t for t in by_name(name) if t.startswith("'"))
        yield from ("'relu'", "'mean'")
    elif origin in (list, tuple, typing.Sequence) or str(origin).endswith(
        ("abc.Sequence'>", "abc.Iterable'>")
    ):
        yield from _declared_sequence(origin, inner, name, module, cls)
    elif origin in (dict, collections.abc.Mapping) and len(inner) == 2:
        items = next(_by_annotation(inner[1], name.removesuffix("s"), module, cls), "8")
        keys = ("'a'", "'b'") if inner[0] is str else ("0", "1")
        yield "{" + ", ".join(f"{key}: {items}" for key in keys) + "}"
    elif annotation in (list, tuple):
        yield from ("[64, 64]", "(64, 64)") if annotation is list else ("(64, 64)", "[64, 64]")
    elif isinstance(annotation, type):
        yield from _instances(annotation, module)
    elif origin is type or "Callable" in str(origin):
        yield from _like_named(name, module, cls)
        yield from ("nn.Identity", "nn.ReLU", "nn.BatchNorm2d", "nn.Conv2d")


def _declared_sequence(
    origin: Any, inner: tuple[Any, ...], name: str, module: ModuleType, cls: type
) -> Iterator[str]:
    singular = name.removesuffix("s")

    def element(annotation: Any) -> str:
        return next(_by_annotation(annotation, singular, module, cls), "8")

    if origin is tuple and inner and inner[-1] is not Ellipsis:
        yield "(" + "".join(f"{element(a)}, " for a in inner) + ")"
    else:
        text = element(inner[0]) if inner else "8"
        yield from (f"[{text}, {text}]", f"[{text}] * 4", f"[{text}]", f"({text}, {text})")


def _instances(annotation: type, module: ModuleType) -> Iterator[str]:
    """An instance of a class that the file knows by name."""
    if annotation is nn.Module:
        yield from (STUB, "nn.Linear(64, 64)")
        return
    if issubclass(annotation, Tensor):
        yield from ("torch.randn(64, 64)", "torch.randn(64)")
        return
    name = name_of(annotation, module)
    if name is not None:
        yield f"{name}()"


def name_of(wanted: type, module: ModuleType) -> str | None:
    """The expression by which the file can name a class: its own name, or one of its package."""
    own = next((name for name, value in vars(module).items() if value is wanted), None)
    if own is not None:
        return own
    root = module.__name__.partition(".")[0]
    text = f"{wanted.__module__}.{wanted.__qualname__}"
    return text if text.startswith(f"{root}.") and "<locals>" not in text else None


def _like_named(name: str, module: ModuleType, cls: type) -> list[str]:
    """Module classes whose name says the parameter's (``block`` and ``BasicBlock``), of the file."""
    wanted = name.lower().replace("_", "").removesuffix("layer").removesuffix("s") or name
    return [n for n in _classes(vars(module), cls) if len(wanted) > 2 and wanted in n.lower()]


def _classes(names: Mapping[str, Any], cls: type) -> list[str]:
    return [
        name
        for name, value in names.items()
        if isinstance(value, type)
        and issubclass(value, nn.Module)
        and value is not cls
        and not value.__module__.startswith("torch.")
    ]


def named_class(text: str, module: ModuleType) -> type[nn.Module] | None:
    """The module class that ``Name`` or ``package.Name`` means in the file."""
    package, _, name = text.rpartition(".")
    found = getattr(sys.modules.get(package) if package else module, name, None)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None
