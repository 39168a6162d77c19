"""Names for findings that survive edits elsewhere in the file: no line numbers in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b

from tsguard.report import Finding


def fingerprints(
    findings: Iterable[Finding],
    line_of: Callable[[str, int, int | None], str],
    path: Callable[[str], str] = str,
) -> list[str]:
    """A fingerprint for each finding, made of its code, path, condition and line of code.

    Findings that agree in all of these are told apart by their order.

    Args:
        findings: what is to be named, in the order of the report.
        line_of: the line of code at a path, a number and the cell of a notebook.
        path: what turns the shown path of a finding into the one that its fingerprint is made with.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    result = []
    for finding in findings:
        line = " ".join(line_of(finding.path, finding.line, finding.cell).split())
        key = (finding.code, path(finding.path), finding.when or "", line)
        result.append(_digest((*key, str(seen[key]))))
        seen[key] += 1
    return result


def _digest(parts: tuple[str, ...]) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
