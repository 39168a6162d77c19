"""What was met on a walk that concerns torch.export: events, and what they rest on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tsguard.analysis.events import Event, Gap


@dataclass(slots=True)
class Record:
    """The events of one walk.

    ``doubtful`` are those on a way that may not be the example's: behind a condition on sizes that are
    not known.  ``are_inputs_given`` where the file has examples of them, and ``harmless`` the gaps (by key) that hide nothing from torch.export, as a method of what must be a tensor.
    ``bare`` are the events that hold only if an input is a tensor, by the name of that, and ``tensors``
    the inputs of which the annotation or the use tells that they are.  ``is_asked_of_compile`` tells that
    nothing was called of which it is not known what torch.compile does with it, ``gaps`` what is not known
    of torch.export and does not matter to a trace.  ``keeping`` are the calls (by identity) that keep what
    they give for gradients, ``is_asked_of_gradients`` tells that of all others it is known that they do not.
    ``typed`` are the expressions (by identity) that ask for the exact type of a tensor, ``catching`` counts the
    ``try`` statements around that catch what torch.export raises, ``missing`` those that catch a missing attribute.
    ``computed`` are the operations (by identity) of Python that make tensors for sure.  ``kinds`` counts the branches around that inputs of one dtype take and those of another do not, ``by_kind`` are the
    events that were met in such only.  ``replaced`` are the parameters and buffers of which the ``.data`` was set, with
    what that is as soon as they are read again, ``annotated`` the inputs of which the annotation names the class.
    ``assigned`` are the buffers that hold another tensor as it is so far, with what that is if they do at the end.
    """

    events: dict[Hashable, Event] = field(default_factory=dict)
    doubtful: set[Hashable] = field(default_factory=set)
    harmless: set[Hashable] = field(default_factory=set)
    bare: dict[Hashable, str] = field(default_factory=dict)
    tensors: set[str] = field(default_factory=set)
    computed: set[int] = field(default_factory=set)
    gaps: list[Gap] = field(default_factory=list)
    are_inputs_given: bool = False
    is_asked_of_compile: bool = True
    typed: set[int] = field(default_factory=set)
    catching: int = 0
    missing: int = 0
    keeping: set[int] = field(default_factory=set)
    is_asked_of_gradients: bool = True
    kinds: int = 0
    replaced: dict[str, Event] = field(default_factory=dict)
    by_kind: set[Hashable] = field(default_factory=set)
    annotated: set[str] = field(default_factory=set)
    assigned: dict[str, tuple[Event, bool]] = field(default_factory=dict)

    @contextmanager
    def by_some_kinds(self, *, told: bool) -> Iterator[None]:
        """Meet what holds for inputs of some dtypes, and for the one that is taken for granted where it is ``told``."""
        self.kinds += not told
        try:
            yield
        finally:
            self.kinds -= not told

    def add(self, event: Event, *, is_sure: bool, input_: str = "") -> None:
        """Record an event, of what ``input_`` is if it is a tensor; what is met again for sure is no longer doubtful."""
        if event.key not in self.events:
            self.events[event.key] = event
            if input_:
                self.bare[event.key] = input_
            if not is_sure:
                self.doubtful.add(event.key)
            if self.kinds:
                self.by_kind.add(event.key)
        elif is_sure:
            self.doubtful.discard(event.key)
        if not self.kinds:
            self.by_kind.discard(event.key)

    def finish(self) -> None:
        """Record what holds at the end of the forward."""
        for event, is_sure in self.assigned.values():
            self.add(event, is_sure=is_sure)

    def told(self) -> dict[Hashable, Event]:
        """The events, without those that hold of an input which nothing shows to be a tensor."""
        unshown = {key for key, name in self.bare.items() if name not in self.tensors}
        return {key: event for key, event in self.events.items() if key not in unshown}

    def keys(self) -> tuple[Hashable, ...]:
        """What is recorded so far, for ``back_to``."""
        return tuple(self.events)

    def back_to(self, keys: tuple[Hashable, ...]) -> None:
        """Forget what was recorded since."""
        for key in list(self.events)[len(keys) :]:
            del self.events[key]
            self.doubtful.discard(key)
            self.by_kind.discard(key)
