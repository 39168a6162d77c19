"""What is left to do by hand where a repair did not get through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tsguard.repairing.results import Judged
from tsguard.report import Finding


def left_to_do(
    findings: Sequence[Finding], texts: Mapping[Path, str], farthest: Judged
) -> tuple[Finding, ...]:
    """The findings that stand in the way still, what torch comes to first before the others.

    Args:
        texts: the files as far as they could be mended, where the findings lie.
    """
    blocking = [f for f in findings if f.severity == "error"]
    if farthest.status == "ok":
        return ()
    places = set(farthest.places)

    def order(finding: Finding) -> tuple[bool, str, int]:
        return ((finding.path, finding.line) not in places, finding.path, finding.line)

    return tuple(sorted(blocking, key=order))
