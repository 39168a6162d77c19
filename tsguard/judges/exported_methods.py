"""Methods under ``@torch.jit.export``, which torch.jit.trace compiles as torch.jit.script does."""

from __future__ import annotations

import ast

from tsguard.analysis.events import Event, Gap
from tsguard.judges.script import ScriptOutcome
from tsguard.judges.trace import TraceOutcome
from tsguard.report.records import replace
from tsguard.rules import rule
from tsguard.source.remembering import remembered
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

_SPELLINGS = frozenset({"torch.jit.export", "jit.export", "export"})


def compiled_too(script: ScriptOutcome, trace: TraceOutcome) -> TraceOutcome:
    """A trace raises where a method is exported that does not compile."""
    refused = [(event, when) for event, when in script.events if _is_refused_export(event)]
    if trace.verdict == "hazardous" or not refused:
        return trace
    event = next((event for event, when in refused if when is None), None)
    if event is not None:
        raised = replace(
            event, rule="untraceable-call/exported", facts={"method": event.chain[0]}, cause=None
        )
        return replace(trace, verdict="hazardous", events=(*trace.events, raised))
    event, when = refused[0]
    why = f"torch.jit.trace compiles {event.chain[0]}, which is exported, and TorchScript refuses it when {when}"
    return replace(trace, verdict="unknown", gaps=(Gap(event.module, event.span.line, why), *trace.gaps))


def _is_refused_export(event: Event) -> bool:
    return rule(event.rule).outcome == "blocked" and _is_in_exported(event)


def _is_in_exported(event: Event) -> bool:
    """Whether the method that compilation enters first is exported, in its module's class or in a base."""
    owner, _, name = event.chain[0].rpartition(".") if event.chain else ("", "", "")
    methods = _methods(event.module.file.tree)
    own = methods.get((owner.rpartition(".")[2], name))
    return own if own is not None else any(methods[key] for key in methods if key[1] == name)


@remembered(16)
def _methods(tree: ast.Module) -> dict[tuple[str, str], bool]:
    """The methods of the classes of a file, each by the names of both, and whether it is exported."""
    return {
        (cls.name, part.name): any(unparsed(d) in _SPELLINGS for d in part.decorator_list)
        for cls in walked(tree)
        if isinstance(cls, ast.ClassDef)
        for part in cls.body
        if isinstance(part, ast.FunctionDef)
    }
