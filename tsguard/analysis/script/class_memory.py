"""Classes compiled once: for one target in one world, or for all of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.compilation_cache import CompilationCache, Done
from tsguard.analysis.script.compiled import ScriptClass
from tsguard.analysis.script.reports import Recording, Reporter
from tsguard.report.records import dataclass, replace

if TYPE_CHECKING:
    from tsguard.analysis.python.context import Interpreter


@dataclass(frozen=True, slots=True)
class _Shared:
    """A class as another target compiled it, with all that it compiled for the first time on the way."""

    recording: Recording
    classes: dict[int, ScriptClass]
    recordings: dict[int, Recording]
    done: Done


_KEPT: Kept[py.ClassValue, _Shared] = Kept()


class ClassMemory:
    """The classes that a target has met, as compiled.

    What holds for all targets is what the first of them compiled: a class at the top level
    of its module, of which nothing that it reports rests on the target or on its world.
    """

    def __init__(self, interp: Interpreter, reporter: Reporter, cache: CompilationCache) -> None:
        self.classes: dict[int, ScriptClass] = {}
        self.recordings: dict[int, Recording] = {}
        self._world = interp.world
        self._kept = _KEPT.of(interp.program)
        self._reporter = reporter
        self._cache = cache

    def compiled(self, cls: py.ClassValue, compile_: Callable[[], ScriptClass]) -> ScriptClass:
        """A class as compiled; what it reports is reported again into recordings, which must be whole."""
        known = self.classes.get(id(cls))
        for met in self._cache.met:
            met.add(id(cls))
        if known is None:
            self.recordings[id(cls)] = self._first(cls, compile_)
            self._reporter.replay(self.recordings[id(cls)])
            return self.classes[id(cls)]
        self.replay(cls)
        return known

    def replay(self, cls: py.ClassValue) -> None:
        """Report what a class has shown where that is being recorded."""
        if id(cls) in self.recordings and self._reporter.recordings:
            self._reporter.replay(self.recordings[id(cls)])

    def forget_unfinished(self, begun: Container[int]) -> None:
        """Forget the classes that were not compiled to their end, but those that had been begun before."""
        for key in [key for key in self.classes if key not in begun and key not in self.recordings]:
            del self.classes[key]

    def _first(self, cls: py.ClassValue, compile_: Callable[[], ScriptClass]) -> Recording:
        kept = self._kept.get(cls)
        if kept is not None and self._is_new(kept):
            self.classes.update((key, _copied(known)) for key, known in kept.classes.items())
            self.recordings.update(kept.recordings)
            self._cache.done.update(kept.done)
            return kept.recording
        asks = self._world.asks
        classes, recordings, done = set(self.classes), set(self.recordings), set(self._cache.done)
        met: set[Hashable] = set()
        self._cache.met.append(met)
        try:
            with self._reporter.recording() as recording:
                compile_()
        finally:
            self._cache.met.pop()
        is_target_specific = recording.is_target_specific or self._world.asks != asks
        # What was met before may be reported already, or not be compiled to its end.
        is_alone = classes.isdisjoint(met) and done.isdisjoint(met)
        if cls.scope.is_global and is_alone and not is_target_specific:
            self._kept[cls] = _Shared(
                recording,
                {key: _copied(known) for key, known in self.classes.items() if key not in classes},
                {key: known for key, known in self.recordings.items() if key not in recordings},
                {key: known for key, known in self._cache.done.items() if key not in done},
            )
        return recording

    def _is_new(self, kept: _Shared) -> bool:
        """Whether nothing of what was compiled on the way has been met before."""
        return kept.classes.keys().isdisjoint(self.classes) and kept.done.keys().isdisjoint(self._cache.done)


def _copied(known: ScriptClass) -> ScriptClass:
    """A class that a target can add to: properties are compiled when they are read."""
    return replace(
        known,
        attributes=dict(known.attributes),
        schemas=dict(known.schemas),
        compiling=set(known.compiling),
    )
