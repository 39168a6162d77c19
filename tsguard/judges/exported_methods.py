"""Methods under ``@torch.jit.export``, which torch.jit.trace compiles as torch.jit.script does."""

from __future__ import annotations

import ast
import functools
from dataclasses import replace

from tsguard.analysis.events import Event, Gap
from tsguard.judges.script import ScriptOutcome
from tsguard.judges.trace import TraceOutcome
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked


def compiled_too(script: ScriptOutcome, trace: TraceOutcome) -> TraceOutcome:
    """A trace is not safe where a method is exported that does not compile."""
    if trace.verdict != "safe" or script.verdict not in ("blocked", "depends"):
        return trace
    refused = next((event for event, _ in script.events if _is_in_exported(event)), None)
    if refused is None:
        return trace
    why = f"torch.jit.trace compiles {refused.chain[0]}, which is exported, and TorchScript refuses it"
    return replace(trace, verdict="unknown", gaps=(Gap(refused.module, refused.span.line, why), *trace.gaps))


def _is_in_exported(event: Event) -> bool:
    """Whether the method that compilation enters first is exported."""
    owner, _, name = event.chain[0].rpartition(".") if event.chain else ("", "", "")
    return (owner.rpartition(".")[2], name) in _exported(event.module.file.tree)


@functools.lru_cache(maxsize=256)
def _exported(tree: ast.Module) -> frozenset[tuple[str, str]]:
    """The classes of a file with their exported methods."""
    return frozenset(
        (cls.name, part.name)
        for cls in walked(tree)
        if isinstance(cls, ast.ClassDef)
        for part in cls.body
        if isinstance(part, ast.FunctionDef)
        and any(unparsed(d).endswith("export") for d in part.decorator_list)
    )
