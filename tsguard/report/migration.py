"""The way from TorchScript to torch.export: what each target needs, and in which order to go."""

from __future__ import annotations

from tsguard.report.judgements import CompileVerdict, ExportVerdict, ScriptVerdict, TraceVerdict
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One target on the way.

    ``dynamic`` is the export verdict with sizes left open.  ``compile`` is what
    ``torch.compile(fullgraph=True)`` does.
    ``blockers`` are the ids of the findings on what torch.export refuses or holds, ``lost`` of those on
    what a program cannot do.  ``parts`` are the targets that it is made of, which come first.
    """

    target: str
    script: ScriptVerdict
    trace: TraceVerdict
    export: ExportVerdict
    dynamic: ExportVerdict
    compile: CompileVerdict = "unknown"
    blockers: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A name of torch.jit that the code uses, what takes its place, and the ids of the findings."""

    name: str
    successor: str
    findings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """``steps`` in the order to go, ``obstacles`` the ids of what is in the way, the most common first."""

    steps: tuple[Step, ...] = ()
    obstacles: tuple[int, ...] = ()
    uses: tuple[Use, ...] = ()
