"""Functions and methods compiled once: for one target in one world, or for all of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeAlias

from tsguard.analysis import values as py
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.reports import Recording, Reporter
from tsguard.language.schemas import Schema
from tsguard.report.records import dataclass

if TYPE_CHECKING:
    from tsguard.analysis.python.context import Interpreter
    from tsguard.project.modules import Module


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A function or method as compiled."""

    schema: Schema
    recording: Recording


Done: TypeAlias = "dict[Hashable, _Compiled]"


_KEPT: Kept[Hashable, _Compiled] = Kept()


class CompilationCache:
    """What a target has compiled so far, beside what all targets share.

    What is met again is reported again only into recordings, which must be whole.
    ``met`` are sets of those who want to know what is asked for meanwhile.
    """

    def __init__(self, interp: Interpreter, reporter: Reporter) -> None:
        self._world = interp.world
        self._kept = _KEPT.of(interp.program)
        self._reporter = reporter
        self.done: Done = {}
        self.met: list[set[Hashable]] = []

    def compiled(
        self,
        key: Hashable,
        is_shared: bool,
        compile_: Callable[[], Schema],
        call: tuple[ast.AST | None, Module | None],
    ) -> Schema:
        """What compiling gives; the ``call`` is that which leads to it, with its module.

        ``is_shared`` where it is the same for other targets, unless compiling shows that
        it rests on answers of this world, or on the target.
        """
        for met in self.met:
            met.add(key)
        done = self.done.get(key)
        if done is None:
            done = self.done[key] = self._shared(key, compile_) if is_shared else self._new(compile_)
        elif not self._reporter.recordings and not self._reporter.aside:
            self._reporter.note_read(done.recording.read)
            return done.schema
        self._reporter.replay(done.recording, *call)
        return done.schema

    def _shared(self, key: Hashable, compile_: Callable[[], Schema]) -> _Compiled:
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        asks = self._world.asks
        done = self._new(compile_, is_target_specific=False)
        if self._world.asks != asks:
            done.recording.is_target_specific = True
        if not done.recording.is_target_specific:
            self._kept[key] = done
        return done

    def _new(self, compile_: Callable[[], Schema], *, is_target_specific: bool = True) -> _Compiled:
        with self._reporter.recording() as recording:
            schema = compile_()
        recording.is_target_specific = recording.is_target_specific or is_target_specific
        return _Compiled(schema, recording)


def is_shared(function: py.FunctionValue) -> bool:
    """Whether a function is the same for all targets: defined at the top level of its module."""
    source = function.wrapped if function.wrapped is not None else function
    return function.scope.is_global and source.scope.is_global
