"""A live module, handed to another process: saved here, loaded there by an expression."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class NotImportable(ValueError):
    """A live target is of a class or function that no other process can import; the message says why."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A target by its name, and the expression that makes it there; None for the target's own."""

    target: str
    constructor: str | None = None


def handed_over(target: Callable[..., Any], folder: Path) -> Handed:
    """Save a module in a folder, so that the worker can load it; a function or class is only named.

    Raises:
        NotImportable: it is defined in a function, or in no file, or cannot be pickled.
    """
    import torch

    if not isinstance(target, torch.nn.Module):
        return Handed(_name(target))
    file = folder / "module.pt"
    try:
        torch.save(target, file)
    except Exception as error:  # pickle raises whatever the module's own hooks raise
        raise NotImportable(
            f"{type(target).__qualname__} cannot be saved for another process: {error}"
        ) from error
    return Handed(_name(type(target)), _loading(file))


def named_inputs(
    inputs: Sequence[Any] | None, kwargs: Mapping[str, Any] | None, folder: Path
) -> tuple[str, ...]:
    """Expressions for the arguments of ``forward``; texts are taken for expressions."""
    return tuple(_expressions(inputs or (), kwargs or {}, folder))


def _expressions(inputs: Sequence[Any], kwargs: Mapping[str, Any], folder: Path) -> Iterator[str]:
    named = [("", value) for value in inputs] + list(kwargs.items())
    for number, (name, value) in enumerate(named):
        if isinstance(value, str) and not name:
            yield value
            continue
        import torch

        file = folder / f"input{number}.pt"
        torch.save(value, file)
        yield f"{name}={_loading(file)}" if name else _loading(file)


def _loading(file: Path) -> str:
    return f"__import__('torch').load({str(file)!r}, weights_only=False)"


def _name(target: Callable[..., Any]) -> str:
    """``FILE:Name`` of a class or function."""
    qualname = getattr(target, "__qualname__", repr(target))
    try:
        file = inspect.getsourcefile(target)
    except TypeError:
        file = None
    if file is None or not Path(file).is_file():
        raise NotImportable(f"{qualname} is defined in no file")
    if "<locals>" in qualname:
        raise NotImportable(f"{qualname} is defined within a function: move it to the top of a module")
    return f"{os.path.relpath(file)}:{qualname}"
