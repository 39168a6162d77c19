"""Output formats: one module each, with a ``render``."""

from __future__ import annotations

import importlib
from dataclasses import field

from tsguard.report import Finding, Report, is_fixable
from tsguard.report.records import dataclass
from tsguard.source.sources import Sources


@dataclass(frozen=True, slots=True)
class View:
    """How a report is to be shown.

    ``quiet`` leaves out all but findings, ``verbose`` shows every target and why
    verdicts are unknown; machine-readable formats heed neither.  ``unsafe_fixes`` marks
    what an unsafe fix would repair, too, as fixable.  ``command`` and ``date`` tell what made the
    report and when, "" where that is not known; ``width`` is how many columns a terminal has.
    """

    sources: Sources = field(default_factory=Sources)
    color: bool = False
    quiet: bool = False
    verbose: bool = False
    unsafe_fixes: bool = False
    links: bool = False
    command: str = ""
    date: str = ""
    width: int = 100

    def mark(self, finding: Finding) -> str:
        """What stands before the message of a finding that ``--fix`` repairs."""
        return "[*] " if is_fixable(finding, self.unsafe_fixes) else ""


def render(report: Report, format: str, view: View) -> str:
    """The report in a format: one of ``tsguard.settings.config.FORMATS``."""
    text: str = importlib.import_module(f"tsguard.formats.{format}").render(report, view)
    return text
