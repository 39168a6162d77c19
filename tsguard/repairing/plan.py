"""What is left to do by hand where a repair did not get through."""

from __future__ import annotations

from collections.abc import Sequence

from tsguard.repairing.results import Judged
from tsguard.report import Finding


def left_to_do(findings: Sequence[Finding], farthest: Judged) -> tuple[Finding, ...]:
    """The findings that stand in the way still, what torch comes to first before the others."""
    blocking = [finding for finding in findings if finding.severity == "error"]
    places = set(farthest.places)

    def order(finding: Finding) -> tuple[bool, str, int]:
        return ((finding.path, finding.line) not in places, finding.path, finding.line)

    return tuple(sorted(blocking, key=order))
