"""What the measurements of a DataLoader say to do, in settings and in a sentence."""

from __future__ import annotations

from dataclasses import replace

from tsguard.answer.speed import ratio
from tsguard.report import LoaderReport, LoaderSettings, Speedup
from tsguard.runtime.budgets import START_SHARE, WAITING
from tsguard.runtime.knee import Step


def advised(
    report: LoaderReport, workers: int, gain: Speedup | None, step: Step | None, most: int
) -> LoaderReport:
    """The report with recommended settings: so many workers of at most ``most``, and what follows from that."""
    settings = LoaderSettings(
        num_workers=workers,
        prefetch_factor=report.settings.prefetch_factor if workers else None,
        pin_memory=_pins(report),
        persistent_workers=workers > 0
        and (report.settings.persistent_workers or _starts_slowly(report, workers)),
        start_method=report.settings.start_method,
    )
    sentence = ". ".join([_about_workers(report, workers, gain, step), *_about_the_rest(report, settings)])
    notes = (*report.notes, *_about_cores(report, workers, most))
    return replace(report, recommended=settings, gain=gain, recommendation=sentence, notes=notes)


def _rate(report: LoaderReport, workers: int) -> float | None:
    return next((row.items_per_second for row in report.throughput if row.workers == workers), None)


def _pins(report: LoaderReport) -> bool:
    if report.pinned is None:
        return report.settings.pin_memory
    return report.pinned.conclusion == "faster"


def _starts_slowly(report: LoaderReport, workers: int) -> bool:
    """Whether starting the workers takes a noticeable part of an epoch."""
    rate = _rate(report, workers)
    first = next((row.first_batch_seconds for row in report.throughput if row.workers == workers), None)
    if report.length is None or rate is None or first is None:
        return False
    return first > START_SHARE * report.length / rate


def _about_workers(report: LoaderReport, workers: int, gain: Speedup | None, step: Step | None) -> str:
    current = report.settings.num_workers
    rate, now = _rate(report, workers), _rate(report, current)
    told = f"num_workers={workers}: {_rounded(rate)} items/s"
    if workers == current:
        others = [row for row in report.throughput if row.workers]
        broken = others and all(row.status not in ("ok", "skipped") for row in others)
        return f"keep {told}; {'workers do not return batches' if broken else 'no other number is faster'}"
    if now is None:
        row = next((row for row in report.throughput if row.workers == current), None)
        return f"{told}; {current}, as it is now, {row.status if row else 'was not tried'}"
    against = f"against {_rounded(now)} with {current}"
    if gain is None:
        return f"{told} {against} (too few rounds for an interval)"
    interval = ratio(gain)
    if gain.conclusion in ("no difference", "too noisy"):
        return f"{told} {against}: {interval}, {gain.conclusion}"
    if gain.conclusion == "slower" and step is not None:
        return f"{told} {against}, which is enough for a step of {step.seconds:g} s"
    return f"{told} {against}: {interval} {gain.conclusion}"


def _rounded(rate: float | None) -> str:
    if rate is None:
        return "?"
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _about_the_rest(report: LoaderReport, settings: LoaderSettings) -> list[str]:
    said = []
    if settings.persistent_workers and not report.settings.persistent_workers:
        first = next(r.first_batch_seconds for r in report.throughput if r.workers == settings.num_workers)
        said.append(f"persistent_workers=True saves {first or 0:.1f} s at the beginning of each epoch")
    if report.pinned is not None:
        said.append(f"pin_memory={settings.pin_memory}: {ratio(report.pinned)} with it")
    for attempt in report.collating:
        if attempt.speedup is not None and attempt.speedup.conclusion == "slower":
            what = (
                f"pass {report.collate} uncompiled"
                if report.collate_is_compiled
                else f"leave {report.collate} as it is"
            )
            said.append(f"{what}: torch.jit.{attempt.backend} makes it slower")
    return said


def _about_cores(report: LoaderReport, workers: int, most: int) -> list[str]:
    said = []
    if workers == most:
        said.append(
            f"{workers} is the largest number that was tried; more may be faster still: --max-workers N"
        )
    waiting = _waiting_share(report)
    if workers > report.cores and waiting is not None and waiting > WAITING:
        said.append(
            f"more workers than the {report.cores} cores pay, because items wait {waiting:.0%} of their time"
        )
    if report.settings.num_workers > report.cores >= workers:
        said.append(f"the loader has {report.settings.num_workers} workers for {report.cores} cores")
    return said


def _waiting_share(report: LoaderReport) -> float | None:
    cost = report.cost
    if cost is None or cost.item_waiting_seconds is None or cost.item_seconds <= 0:
        return None
    return cost.item_waiting_seconds / max(cost.item_waiting_seconds + cost.item_cpu_seconds, 1e-9)
