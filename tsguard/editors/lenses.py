"""The three verdicts over each target."""

from __future__ import annotations

from lsprotocol import types as lsp

from tsguard.editors.places import Places
from tsguard.editors.reading import Reading
from tsguard.report import TargetReport

SHOW = "tsguard.showVerdicts"


def lenses(reading: Reading, places: Places) -> list[lsp.CodeLens]:
    """A line over each class and function that torch.jit may be handed."""
    return [
        lsp.CodeLens(
            range=places.line(target.path, target.line),
            command=lsp.Command(verdicts(target), SHOW, arguments=[str(reading.path), target.qualname]),
        )
        for target in reading.report.targets
        if target.path == str(reading.path)
    ]


def verdicts(target: TargetReport) -> str:
    """``script: blocked (2) | trace: safe | mode: dependent (1)``."""
    judged = (("script", target.script), ("trace", target.trace), ("mode", target.mode))
    return " | ".join(
        f"{name}: {judgement.verdict}{f' ({len(judgement.findings)})' if judgement.findings else ''}"
        for name, judgement in judged
    )


def reasons(reading: Reading, qualname: str) -> str:
    """What the verdicts on a target rest on."""
    target = next((t for t in reading.report.targets if t.qualname == qualname), None)
    if target is None:
        return f"{qualname} is not there any more"
    by_id = {finding.id: finding for finding in reading.report.findings}
    lines = [f"{qualname}: {verdicts(target)}"]
    for judgement in (target.script, target.trace, target.mode):
        lines += [f"line {by_id[i].line}: {by_id[i].code} {by_id[i].message}" for i in judgement.findings]
        lines += [f"line {place.line}: unknown, {place.why}" for place in judgement.unknown]
    return "\n".join(lines)
