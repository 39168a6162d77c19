"""Scripting a target whose source has holes: what torch says once its first errors are out."""

from __future__ import annotations

import builtins
import linecache
import sys
import typing
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

import torch

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Refused
from tsguard.runtime.subject import Subject
from tsguard.runtime.usercode import UserCode
from tsguard.runtime.worker.errors import TracerWarnings, described
from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.prepare import Stopped, constructed
from tsguard.source.text import lines_of


def script_with_holes(argument: dict[str, Any], channel: Channel) -> None:
    """Import the target with the given sources in the place of its files', and script it."""
    subject = Subject.from_json(argument["subject"])
    code = UserCode.around(subject.file, subject.module)
    _replace_sources(argument["sources"])
    try:
        module, callee = constructed(subject, channel)
    except Stopped:
        return
    for name, annotation in argument["holes"].items():
        setattr(builtins, name, _hole(annotation, vars(module)))
    channel.phase("script")
    try:
        with TracerWarnings(code):
            torch.jit.script(callee)
    except Exception as error:
        channel.send(Refused(described(error, code)))


_ignored: Callable[..., Any] = torch.jit.ignore


def _replace_sources(sources: dict[str, str]) -> None:
    """Have files imported and quoted with another text; this process does nothing else."""
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if path in sources:
            return compile(sources[path], path, "exec", dont_inherit=True)
        return original(self, fullname)

    # Python's importers make loaders of this very class, and mypy lets no method be replaced.
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    for path, text in sources.items():
        # Without a modification time the cache takes the lines for current.
        linecache.cache[path] = (len(text), None, lines_of(text), path)
    sys.dont_write_bytecode = True


def _hole(annotation: str, names: dict[str, Any]) -> Any:
    """A function that compiles as a call back into Python and has the annotated type."""

    def hole() -> Any:
        raise AssertionError("holes are compiled, never run")

    known = {**vars(typing), "Tensor": torch.Tensor, "torch": torch, **names}
    hole.__annotations__ = {"return": value_or(torch.Tensor, lambda: eval(annotation, known))}
    return _ignored(hole)
