"""What an error of a constructor tells for certain: an attribute that an object lacks, a value that must be a sequence."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
from collections.abc import Iterator
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

from torch import Tensor, nn

from tsguard.runtime.worker.conditions import innermost_frame
from tsguard.runtime.worker.constructing.arguments import (
    MAPPING,
    OBJECT,
    STUB,
    Path,
    Wanted,
    chosen_for,
)
from tsguard.runtime.worker.constructing.uses import Use
from tsguard.runtime.worker.constructing.written import Chosen
from tsguard.runtime.worker.errors import message_of

_NOT_AN_OBJECT = re.compile(r"'(int|float|str|bool|tuple|list|dict)' object has no attribute '(\w+)'")
_NOT_SEVERAL = re.compile(
    r"'(?:int|float|bool)' object is not (?:iterable|subscriptable)|type '(?:int|float|bool)' has no len\(\)"
    r"|cannot unpack non-iterable|after \* must be an iterable"
    r"|can only concatenate (?:list|tuple) \(not \"(?:int|float)\"\)"
)
_NOT_ONE = re.compile(
    r"not supported between instances of '(?:int|float)' and '(?:tuple|list)'"
    r"|not supported between instances of '(?:tuple|list)' and '(?:int|float)'"
    r"|unsupported operand type\(s\) for .*'(?:tuple|list)'|'(?:tuple|list)' object cannot be interpreted as an integer"
)
# What has the attributes of one of these is one: an expression where that is enough.
_USUAL: dict[type, str] = {dict: "", str: "'mean'", Tensor: "torch.randn(64, 64)", nn.Module: STUB}
_NOT_CALLABLE = re.compile(r"'(?:int|float|str|tuple|bool|list)' object is not callable")
_TOO_SHORT = re.compile(r"(?:tuple|list) index out of range|not enough values to unpack \(expected (\d+)")


def learned(
    error: Exception,
    chosen: Chosen,
    options: dict[Path, tuple[str, ...]],
    module: ModuleType,
    cls: type,
) -> Chosen | None:
    """The arguments with what the error asks for; None if it does not tell.

    Args:
        options: what else there is to choose for each part; parts that are new get theirs.
    """
    message = message_of(error)
    lacking = _lacking(error, message, chosen)
    if lacking is not None:
        path, name, kind = lacking
        use = Use()
        use.attributes[name] = Use()
        fresh = dict(chosen)
        if not fresh[path].endswith("(...)"):
            fresh[path] = kind
            options[path] = (kind,)
        for parameter in chosen_for(Wanted((*path, name), None, use.attributes[name]), module, cls):
            if not parameter.values:
                return None
            fresh[parameter.path] = parameter.values[0]
            options[parameter.path] = parameter.values
        return fresh if fresh != chosen else None
    for path, values in _instead(error, message, chosen):
        if values[0] != chosen[path]:
            options[path] = tuple(dict.fromkeys((*values, *options[path])))
            return {**chosen, path: values[0]}
    return None


def _lacking(error: Exception, message: str, chosen: Chosen) -> tuple[Path, str, str] | None:
    """The object that lacks something, what it lacks, and what it should be then."""
    name = getattr(error, "name", None)
    if isinstance(error, AttributeError) and isinstance(getattr(error, "obj", None), SimpleNamespace):
        known = set(vars(error.obj))
        for path, text in chosen.items():
            if text == OBJECT and {p[-1] for p in chosen if p[:-1] == path} == known:
                return path, str(name), OBJECT
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        for path in (p for p, text in chosen.items() if text == MAPPING):
            if (*path, error.args[0]) not in chosen:
                return path, error.args[0], MAPPING
    match = _NOT_AN_OBJECT.match(message)
    if match is not None:
        for path in _behind(error, chosen):
            usual = match[1] != "dict" and _kind_with(match[2], error) is not None
            return None if usual else (path, match[2], OBJECT)
    return None


def _instead(error: Exception, message: str, chosen: Chosen) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Values of another kind for what the failing line iterates, subscripts or calls."""
    lacks = _NOT_AN_OBJECT.match(message)
    kind = _kind_with(lacks[2], error) if lacks is not None else None
    for path in _behind(error, chosen) if kind else ():
        yield path, (str(kind),)
    if _NOT_SEVERAL.search(message):
        for path in _behind(error, chosen):
            key = _key(error)
            text = chosen[path]
            if key is not None:
                yield path, (f"{{{key!r}: 64}}",)
            yield path, (f"({text}, {text})", f"[{text}] * 4")
    if _NOT_ONE.search(message):
        for path in _behind(error, chosen):
            if chosen[path][:1] in "([":
                yield path, (chosen[path].strip("([ ])").partition(",")[0],)
    if _NOT_CALLABLE.search(message):
        for path in _behind(error, chosen):
            yield path, ("nn.ReLU", STUB, "nn.LayerNorm")
    short = _TOO_SHORT.search(message)
    for path in _behind(error, chosen) if short is not None else ():
        yield from ((path, (text,)) for text in _longer(chosen[path], int(short[1] or 0) if short else 0))


def _longer(text: str, wanted: int) -> Iterator[str]:
    """A list or tuple with ``wanted`` items, 0 for one more."""
    items = re.fullmatch(r"([(\[])(.*?),?([)\]])", text)
    if items is not None and text.count(",") < 8:
        parts = items[2].split(", ")
        longer = (parts * 8)[: wanted or len(parts) + 1]
        yield f"{items[1]}{', '.join(longer)}{items[3]}"


def _kind_with(method: str, error: Exception) -> str | None:
    """A value that has the method which the failing line calls, "" where more must be known; None for no method."""
    frame, line = innermost_frame(error)
    calls = (node.func for node in _nodes(frame, line) if isinstance(node, ast.Call))
    if not any(isinstance(called, ast.Attribute) and called.attr == method for called in calls):
        return None
    return next((text for kind, text in _USUAL.items() if method in dir(kind)), None)


def _key(error: Exception) -> str | None:
    """The text that the failing line subscripts with."""
    frame, line = innermost_frame(error)
    for node in _nodes(frame, line):
        index = node.slice if isinstance(node, ast.Subscript) else None
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return index.value
    return None


def _behind(error: Exception, chosen: Chosen) -> list[Path]:
    """The chosen parts that the failing line may be about, by what its expressions are called and worth."""
    frame, line = innermost_frame(error)
    found: dict[Path, int] = {}
    for node in _nodes(frame, line):
        if isinstance(node, (ast.Name, ast.Attribute)) and frame is not None:
            name = node.id if isinstance(node, ast.Name) else node.attr
            value = _worth(node, frame)
            for path, text in chosen.items():
                same = path[-1] == name
                if repr(value) == text or (same and isinstance(value, (int, float, str, tuple, list))):
                    found[path] = max(found.get(path, 0), 1 + same)
    return sorted(found, key=lambda path: -found[path])


def _nodes(frame: FrameType | None, line: int) -> Iterator[ast.AST]:
    if frame is None:
        return
    text = textwrap.dedent(linecache.getline(frame.f_code.co_filename, line)).strip()
    for attempt in (text, f"{text} pass", text.rstrip(",")):
        try:
            yield from ast.walk(ast.parse(attempt))
        except SyntaxError:
            continue
        return


def _worth(node: ast.expr, frame: FrameType) -> Any:
    """The value of a name or of an attribute that is read without running anything."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id)
    if isinstance(node, ast.Attribute):
        whole = _worth(node.value, frame)
        return vars(whole).get(node.attr) if hasattr(whole, "__dict__") else None
    return None
