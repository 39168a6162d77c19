"""An event of the analysis, worded by its rule's page: a finding."""

from __future__ import annotations

from functools import lru_cache
from sys import intern

from tsguard.analysis.events import Event, Gap
from tsguard.fixes import repair
from tsguard.fixes.given_literals import told_by_all_calls
from tsguard.report import Finding, Severity, Unknown
from tsguard.rules import Wording, rule


def finding(
    event: Event, when: str | None = None, severity: Severity | None = None, *, is_mended: bool = True
) -> Finding:
    """The finding that an event is, under a condition on constructor arguments (None: always).

    ``severity`` replaces that of the rule's page; no fix is sought where nothing ``is_mended``.
    """
    event = told_by_all_calls(event)
    page, wording = rule(event.rule), _worded(event)
    return Finding(
        code=page.code,
        name=page.name,
        family=page.family,
        severity=severity or page.severity,
        message=intern(wording.message),  # said of many targets alike
        help=wording.help and intern(wording.help),
        path=event.module.file.path,
        line=event.span.line,
        column=event.span.column,
        end_line=event.span.end_line,
        end_column=event.span.end_column,
        when=when,
        chain=_one(event.chain),
        fix=repair(event, is_conditional=when is not None) if is_mended else None,
        subject=event.facts.get("name", ""),
    )


@lru_cache(maxsize=1 << 14)
def _one(chain: tuple[str, ...]) -> tuple[str, ...]:
    """One of those that are equal: many findings have the same."""
    return chain


def _worded(event: Event) -> Wording:
    facts = event.facts
    if event.cause is not None:
        place = f"{event.cause.module.name}, line {event.cause.span.line}"
        facts = {**facts, "cause": _worded(event.cause).message, "place": place}
    return rule(event.rule).worded(event.rule.partition("/")[2], facts)


def unknown(gap: Gap) -> Unknown:
    """A place that the source leaves open, for the report."""
    return Unknown(gap.module.file.path, gap.line, gap.why, gap.help or None)
