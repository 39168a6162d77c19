"""What a build demands of attempts: that they work, how fast, and no worse than before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsguard.answer.facts import was_run
from tsguard.report import SCHEMA_VERSION, Attempt, Finding, Speedup, TargetReport
from tsguard.runtime.findings import finding
from tsguard.runtime.options import Required
from tsguard.runtime.shown import place, ratio


class UnusablePrevious(ValueError):
    """The file given to ``--compare`` is no report; the message says why."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """``require`` a backend that works in every mode; ``min_speedup`` the least ratio wanted."""

    require: Required | None = None
    min_speedup: float | None = None


def unmet(target: TargetReport, demands: Requirements) -> Iterator[Finding]:
    """A finding for each requirement that the target's attempts do not meet."""
    wanted = ("script", "trace") if demands.require in (None, "either") else (demands.require,)
    candidates = [a for a in target.attempts if a.backend in wanted]
    if demands.require is not None and not _works(candidates, wanted):
        backends = " or ".join(wanted)
        yield finding("TSG906", target, None, what=f"{backends} must work", how=_states(candidates))
    if demands.min_speedup is not None:
        timed = [a for a in target.attempts if a.speedup is not None and a.backend != "eager"]
        # Only an interval that lies below the wanted ratio as a whole proves a shortfall.
        if not any(a.speedup is not None and a.speedup.high >= demands.min_speedup for a in timed):
            wish = f"a speedup of {demands.min_speedup:g} is wanted"
            yield finding("TSG906", target, None, what=wish, how=_speeds(timed))


def _works(candidates: list[Attempt], wanted: tuple[str, ...]) -> bool:
    for backend in wanted:
        made = [a for a in candidates if a.backend == backend and a.status != "skipped"]
        if made and all(was_run(a) and a.status == "ok" and a.saved is not False for a in made):
            return True
    return False


def _states(candidates: list[Attempt]) -> str:
    told = {f"{a.backend} {_state(a)} in {place(a)}": None for a in candidates}
    return ", ".join(told) or "nothing was attempted"


def _state(attempt: Attempt) -> str:
    if not was_run(attempt):
        return "compiles but was not run"
    return "cannot be saved" if attempt.saved is False else attempt.status


def _speeds(timed: list[Attempt]) -> str:
    best = max(timed, key=lambda a: a.speedup.median if a.speedup else 0.0, default=None)
    if best is None or best.speedup is None:
        return "nothing could be timed"
    return f"the best is {best.backend} with {ratio(best.speedup)} in {place(best)}"


def previous_attempts(file: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """The attempts of an earlier JSON report, by target, backend, device, mode and dtype.

    Raises:
        UnusablePrevious: the file cannot be read or is no such report.
    """
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
        if report["schema_version"] != SCHEMA_VERSION:
            told = f"{file} is a report of schema version {report['schema_version']}, not {SCHEMA_VERSION}"
            raise UnusablePrevious(f"{told}: write it again with this tsguard")
        return {
            _key(target["target"], a["backend"], a["device"], a["mode"], a.get("dtype")): a
            for target in report["targets"]
            for a in target["attempts"]
        }
    except OSError as error:
        raise UnusablePrevious(f"{file} cannot be read: {error.strerror}") from None
    except UnusablePrevious:
        raise
    except (ValueError, KeyError, TypeError):
        raise UnusablePrevious(
            f"{file} is not a JSON report of tsguard (--output-format json -o FILE)"
        ) from None


def _key(*parts: str | None) -> tuple[str, ...]:
    return tuple(part or "" for part in parts)


def regressions(target: TargetReport, previous: dict[tuple[str, ...], dict[str, Any]]) -> Iterator[Finding]:
    """Attempts that worked before and do not now, or whose interval fell below the former one.

    A target that is not attempted any more is worse; those that an interruption left out are no matter of this.
    """
    if target.not_attempted is not None:
        worked = [k for k, before in previous.items() if k[0] == target.target and before["status"] == "ok"]
        backends = " and ".join(dict.fromkeys(backend for _, backend, *_ in worked if backend != "eager"))
        if backends:
            how = f"worked before and is not attempted now: {target.not_attempted}"
            yield finding("TSG907", target, None, what=backends, how=how)
        return
    for attempt in target.attempts:
        key = _key(target.target, attempt.backend, attempt.device, attempt.mode, attempt.dtype)
        before = previous.get(key)
        if before is None or before["status"] != "ok":
            continue
        where = f"{attempt.backend} in {place(attempt)}"
        if attempt.status not in ("ok", "skipped"):
            yield finding(
                "TSG907", target, attempt.error, what=where, how=f"worked before and is {attempt.status} now"
            )
        elif attempt.speedup is not None and before.get("speedup"):
            former = Speedup(**before["speedup"])
            if attempt.speedup.high < former.low:
                how = f"had a speedup of {ratio(former)} before and has {ratio(attempt.speedup)} now"
                yield finding("TSG907", target, None, what=where, how=how)
