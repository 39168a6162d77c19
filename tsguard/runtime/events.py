"""What a worker tells of its task: a frozen dataclass for each kind of event, and its form in a frame.

Workers run on the user's interpreter, where only the standard library is sure to be there: ``framed``
needs nothing else.  ``read`` is for the process that tsguard itself is installed for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from tsguard.report import Attempt, AttemptError, AttemptStatus, BatchCost, Breakdown, LoaderSettings, Speedup

Place = tuple[str, int]
InputSource = Literal["given", "get_module()", "example_inputs()", "inferred"]
Scripting = Literal["ok", "refused", "raises", "diverges", "changed"]


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase begins, and with it the clock of the limit.

    ``phase`` is what a crash from here on is attributed to, ``seconds`` wall clock for it instead of the
    task's limit, ``tried`` the inputs that are tried in it, as expressions.
    """

    phase: str
    seconds: float | None = None
    tried: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class InternalError:
    """The worker's own code failed."""

    traceback: str


@dataclass(frozen=True, slots=True)
class End:
    """The task's function has returned."""


# -- preparing a target ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constructed:
    """The target is made, by ``expression``."""

    expression: str | None
    guessed: bool


@dataclass(frozen=True, slots=True)
class InputsFound:
    """The target is called with ``expressions``, None where they cannot be written down."""

    expressions: tuple[str, ...] | None
    source: InputSource


@dataclass(frozen=True, slots=True)
class Stopped:
    """The target could not be called, or the loader not be made: the step that failed.

    ``needed`` are parameters to be given; ``fault`` tells that it was no exception that one catches.
    """

    step: str
    error: AttemptError
    needed: tuple[str, ...] = ()
    fault: bool = False


@dataclass(frozen=True, slots=True)
class Harvested:
    """A submodule as a target of its own: the class ``name``, made by ``constructor`` and called with ``inputs``."""

    name: str
    constructor: str
    inputs: tuple[str, ...]


# -- attempts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Artifact:
    """A saved file, its form, and the file with inputs and eager's outputs, where these can be saved."""

    path: str
    form: str
    example: str | None = None


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of an attempt, with paths as the worker sees them; ``places`` are all that its error names."""

    attempt: Attempt
    places: tuple[Place, ...] = ()
    artifact: Artifact | None = None


@dataclass(frozen=True, slots=True)
class Reloaded:
    """A saved artifact was loaded and called: what is ``wrong`` with it, if anything."""

    wrong: str | None


@dataclass(frozen=True, slots=True)
class BrokenDown:
    """The breakdown of a target as far as it is known."""

    breakdown: Breakdown


@dataclass(frozen=True, slots=True)
class Refused:
    """torch.jit.script refuses the source as it is now."""

    error: AttemptError


@dataclass(frozen=True, slots=True)
class Devices:
    """The names of the GPUs that torch sees."""

    cuda: tuple[str, ...]


# -- repairs ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenFunction:
    """A function of the user's code as eager calls it: for each parameter the types of what was passed.

    ``results`` are the file and line of each call in the user's code, with the type of what came back.
    """

    file: str
    line: int
    name: str
    types: dict[str, tuple[str, ...]]
    results: tuple[tuple[str, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """The functions that one call of the target reaches."""

    functions: tuple[SeenFunction, ...]


@dataclass(frozen=True, slots=True)
class RepairJudged:
    """What became of a copy of the code; ``parts`` are submodules that script by themselves."""

    status: Scripting
    error: AttemptError | None = None
    places: tuple[Place, ...] = ()
    changed: str | None = None
    inputs: int = 0
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartsImported:
    """Parts of torch that the code brought in, as names of modules."""

    modules: tuple[str, ...]


# -- data loaders ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoaderFound:
    """A DataLoader as its constructor was called."""

    settings: LoaderSettings
    dataset: str
    kind: Literal["map", "iterable"]
    length: int | None
    batch_size: int | None
    collate: str
    collate_is_compiled: bool


@dataclass(frozen=True, slots=True)
class CostMeasured:
    """What one batch costs in one process."""

    cost: BatchCost


@dataclass(frozen=True, slots=True)
class Collated:
    """An attempt on the loader's collate function."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Unpicklable:
    """Parts of the loader that cannot be sent to workers that are spawned, each with the reason."""

    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Whether two workers of an iterable dataset begin with the same batch."""

    repeated: bool


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """One measurement with a number of workers: items a second, wall seconds until the first batch.

    ``foreign`` is the share of the cores that other processes used meanwhile, where it is known.
    """

    workers: int
    round: int
    rate: float
    first_batch_seconds: float
    foreign: float | None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """A number of workers with which the loader does not work."""

    workers: int
    status: AttemptStatus
    error: AttemptError


@dataclass(frozen=True, slots=True)
class Pinned:
    """The gain of pinned memory, and the wall seconds that a copy to the GPU takes."""

    speedup: Speedup | None
    transfer_seconds: float


Event = (
    Phase
    | InternalError
    | End
    | Constructed
    | InputsFound
    | Stopped
    | Harvested
    | Attempted
    | Reloaded
    | BrokenDown
    | Refused
    | Devices
    | Seen
    | RepairJudged
    | PartsImported
    | LoaderFound
    | CostMeasured
    | Collated
    | Unpicklable
    | Repeated
    | TurnTaken
    | TurnFailed
    | Pinned
)
_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}


def framed(event: Event) -> dict[str, Any]:
    """An event as a frame: plain JSON values."""
    return {"event": type(event).__name__, **asdict(event)}


def read(frame: dict[str, Any]) -> Event | None:
    """The event that a frame tells of; None where it is none: what came over a pipe may be anything."""
    import msgspec

    kind = _KINDS.get(str(frame.get("event")))
    if kind is None:
        return None
    try:
        event: Event = msgspec.convert(frame, kind)
    except msgspec.ValidationError:
        return None
    return event
