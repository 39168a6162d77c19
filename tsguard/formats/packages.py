"""Findings inside installed packages: nobody mends those, so that one stands for all of a package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePath
from typing import NamedTuple

from tsguard.report import SEVERITIES, Finding, Report

_INSTALLED = frozenset({"site-packages", "dist-packages"})


class Shown(NamedTuple):
    """Findings to show, and how many more there are inside ``package``; "" for code that is not installed."""

    findings: list[Finding]
    package: str = ""
    more: int = 0


class Others:
    """The installed packages that no target of a report lies in."""

    def __init__(self, report: Report) -> None:
        self._own = frozenset(_package(target.path) for target in report.targets)

    def package(self, path: str) -> str:
        """The one of them that a file belongs to, "" for none."""
        package = _package(path)
        return "" if package in self._own else package


def folded(report: Report, verbose: bool) -> Iterator[Shown]:
    """The findings in their order, of each package that no target lies in at most the nearest.

    Where what it stands in the way of has a finding as grave in its own code, that one says enough.

    Args:
        verbose: all of them.
    """
    others = Others(report)
    told = {
        (target, found.severity)
        for found in report.findings
        if not others.package(found.path)
        for target in found.targets
    }
    for package, found in groupby(report.findings, lambda f: "" if verbose else others.package(f.path)):
        findings = list(found)
        if package:
            nearest = [f for f in _nearest(findings) if not all((t, f.severity) in told for t in f.targets)]
            yield Shown(nearest, package, len(findings) - len(nearest))
        else:
            yield Shown(findings)


def _nearest(findings: Iterable[Finding]) -> list[Finding]:
    """What weighs most and is reached by the fewest calls, with what else its rule says of the place."""
    first = max(findings, key=lambda found: (SEVERITIES.index(found.severity), -len(found.chain)))
    return [f for f in findings if (f.code, f.place, f.severity) == (first.code, first.place, first.severity)]


def _package(path: str) -> str:
    """The installed package that a file belongs to, "" for none."""
    parts = PurePath(path).parts
    places = [index for index, part in enumerate(parts[:-1]) if part in _INSTALLED]
    return parts[places[-1] + 1].removesuffix(".py") if places else ""
