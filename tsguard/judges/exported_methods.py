"""What torch.jit.trace compiles as torch.jit.script does: exported methods, and functions under ``script_if_tracing``."""

from __future__ import annotations

import ast

from tsguard.analysis.events import Event
from tsguard.judges.script import ScriptOutcome
from tsguard.judges.trace import TraceOutcome
from tsguard.language.rule_names import RuleName
from tsguard.report import TraceVerdict
from tsguard.report.records import dataclass, replace
from tsguard.rules import rule
from tsguard.source.remembering import remembered
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

_EXPORTED = frozenset({"torch.jit.export", "jit.export", "export"})
_IF_TRACING = frozenset({"torch.jit.script_if_tracing", "jit.script_if_tracing", "script_if_tracing"})


def compiled_too(script: ScriptOutcome, trace: TraceOutcome) -> TraceOutcome:
    """A trace raises where a method is exported, or a function is compiled for it, that does not compile."""
    if trace.verdict == "hazardous":
        return trace
    refused = [
        (event, when, part) for event, when in script.events if (part := _compiled_part(event)) is not None
    ]
    if not refused:
        return trace
    event, when, part = next((one for one in refused if one[1] is None), refused[0])
    event = replace(event, rule=part.rule, facts={"method": part.name}, cause=None)
    conditions = trace.when if when is None else {**trace.when, event.key: when}
    verdict: TraceVerdict = "hazardous" if when is None else "depends"
    return replace(trace, verdict=verdict, events=(*trace.events, event), when=conditions)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is compiled for a trace, and the rule that it breaks if it cannot be."""

    name: str
    rule: RuleName


def _compiled_part(event: Event) -> _Part | None:
    """The part that torch.jit.trace compiles and in which an event refuses to; None for any other event."""
    if rule(event.rule).outcome != "blocked":
        return None
    if _is_in_exported(event):
        return _Part(event.chain[0], "untraceable-call/exported")
    name = next((name for name in event.chain if name in _compiled_functions(event.module.file.tree)), None)
    return None if name is None else _Part(name, "untraceable-call/if-tracing")


def _is_in_exported(event: Event) -> bool:
    """Whether the method that compilation enters first is exported, in its module's class or in a base."""
    owner, _, name = event.chain[0].rpartition(".") if event.chain else ("", "", "")
    methods = _methods(event.module.file.tree)
    own = methods.get((owner.rpartition(".")[2], name))
    return own if own is not None else any(methods[key] for key in methods if key[1] == name)


@remembered(16)
def _compiled_functions(tree: ast.Module) -> frozenset[str]:
    """The names of the functions of a file that torch.jit compiles while it traces."""
    return frozenset(
        part.name
        for part in tree.body
        if isinstance(part, ast.FunctionDef)
        and any(unparsed(decorator) in _IF_TRACING for decorator in part.decorator_list)
    )


@remembered(16)
def _methods(tree: ast.Module) -> dict[tuple[str, str], bool]:
    """The methods of the classes of a file, each by the names of both, and whether it is exported."""
    return {
        (cls.name, part.name): any(unparsed(d) in _EXPORTED for d in part.decorator_list)
        for cls in walked(tree)
        if isinstance(cls, ast.ClassDef)
        for part in cls.body
        if isinstance(part, ast.FunctionDef)
    }
