"""Exceptions of user code and of torch, mapped to the user's own file and line."""

from __future__ import annotations

import linecache
import os
import re
import traceback
import warnings
from collections.abc import Iterator
from types import TracebackType
from typing import TextIO

from torch.jit._trace import TracerWarning

from tsguard.report import AttemptError
from tsguard.runtime.budgets import LONGEST_MESSAGE
from tsguard.runtime.usercode import UserCode

_LOCATION = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in \S+)?$', re.MULTILINE)
_BARE_LOCATION = re.compile(r"Expected a single top-level function: (?P<file>.+):(?P<line>\d+)")
_INTERPRETER = "The following operation failed in the TorchScript interpreter"
# How torch.compile begins to tell what its backend raised.
_COMPILER = re.compile(r"\Abackend='\w+' raised:\n")
# How torch.export begins to tell which of the sizes that were to stay open it could not leave so.
_CONSTRAINTS = re.compile(r"\AConstraints violated[^\n]*\n\s*- ([^\n]+?)\.(?: |\n|\Z)")
_EMBEDDED = "error stack is reproduced here:"
_LAYERS = re.compile(r"[/\\]torch[/\\]nn[/\\]")


def message_of(error: BaseException) -> str:
    """The text of an exception, even of one whose ``str`` raises."""
    try:
        return str(error)
    except BaseException as second:
        return f"(its message is not available: str() raises {type(second).__name__})"


def first_line(error: BaseException) -> str:
    """Type and cause of an exception in one short line."""
    text = _gist(message_of(error)).partition("\n")[0]
    name = type(error).__name__
    return f"{name}: {text[:160]}" if text else name


def described(error: BaseException, code: UserCode) -> AttemptError:
    """An exception as a report holds it: type, message, the user's place."""
    text = message_of(error)
    place = _place(error, text, code)
    name = type(error).__name__ if type(error).__module__ in ("builtins", "torch") else _qualified(error)
    return AttemptError(name, _gist(text), *(place or (None, None)))


def _qualified(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("torch.jit.frontend.")


def _gist(text: str) -> str:
    """What a message says before it lists locations, without blank lines."""
    if text.startswith(_INTERPRETER):
        text = text.rstrip().rpartition("\n")[2].removeprefix("RuntimeError: ")
    text = _CONSTRAINTS.sub(r"\1\n", _COMPILER.sub("", text, count=1), count=1)
    head = text[: m.start()] if (m := _LOCATION.search(text)) and m.start() else text
    head = head.partition("\nValue: ")[0]
    lines = [line.rstrip() for line in head.splitlines() if line.strip()]
    if not lines:
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    gist = "\n".join(lines[:8])
    return gist if len(gist) <= LONGEST_MESSAGE else gist[: LONGEST_MESSAGE - 3] + "..."


def _place(error: BaseException, text: str, code: UserCode) -> tuple[str, int] | None:
    if isinstance(error, SyntaxError) and error.filename and code.owns(error.filename):
        return error.filename, error.lineno or 1
    found = list(_locations(text))
    if text.startswith(_INTERPRETER):
        found.reverse()
    for file, line in found:
        if code.owns(file):
            return file, line
    return innermost(error.__traceback__, code) or _by_highlight(text, code)


def _locations(text: str) -> Iterator[tuple[str, int]]:
    """Places in a message of torch's; those of an embedded error come first."""
    for match in (*_LOCATION.finditer(text), *_BARE_LOCATION.finditer(text)):
        yield match["file"], int(match["line"])


def innermost(trace: TracebackType | None, code: UserCode) -> tuple[str, int] | None:
    """The innermost frame of a traceback that is the user's."""
    frames = [(f.filename, f.lineno or 1) for f in traceback.extract_tb(trace)]
    owned = [frame for frame in frames if code.owns(frame[0])]
    return owned[-1] if owned else None


def _by_highlight(text: str, code: UserCode) -> tuple[str, int] | None:
    """A location given under a wrapper's file, when the target's line reads the same."""
    if not os.path.isfile(code.own):
        return None
    for match in _LOCATION.finditer(text):
        quoted = text[match.end() :].lstrip("\n").partition("\n")[0].strip()
        if quoted and quoted == linecache.getline(code.own, int(match["line"])).strip():
            return code.own, int(match["line"])
    return None


class TracerWarnings:
    """Collects the tracer's warnings with the user's line, each place once.

    Those that torch's own layers cause by checking their input (``F.batch_norm`` counts
    values) say nothing about the user's code and are left out.
    """

    def __init__(self, code: UserCode) -> None:
        self._code = code
        self._found: dict[AttemptError, None] = {}
        self._catching = warnings.catch_warnings()

    def __enter__(self) -> TracerWarnings:
        self._catching.__enter__()
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", TracerWarning)
        warnings.showwarning = self._show
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._catching.__exit__(kind, error, trace)

    @property
    def found(self) -> tuple[AttemptError, ...]:
        return tuple(self._found)

    def _show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, TracerWarning) and not _LAYERS.search(filename):
            frames = [(f.filename, f.lineno or 1) for f in traceback.extract_stack()]
            owned = [frame for frame in frames if self._code.owns(frame[0])]
            path, number = owned[-1] if owned else (None, None)
            text = str(message).partition("\n")[0]
            self._found.setdefault(AttemptError("TracerWarning", text, path, number))


def user_places(error: BaseException, code: UserCode) -> tuple[tuple[str, int], ...]:
    """Every place in the user's code that an exception names, the innermost first."""
    found = dict.fromkeys((f, n) for f, n in _locations(message_of(error)) if code.owns(f))
    inner = innermost(error.__traceback__, code)
    return (*found, inner) if inner is not None and inner not in found else tuple(found)
