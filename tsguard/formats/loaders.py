"""What was measured about DataLoaders, as rows of cells and lines for people to read, and as a drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

from tsguard.formats.tables import Cell, attempt_row, said, speedup_cell
from tsguard.report import Attempt, LoaderReport, Throughput

THROUGHPUT_HEAD = ("workers", "items/s", "first batch", "speed against now")
COLLATE_HEAD = ("collate", "result", "parity", "speed against eager")

_WIDTH, _HEIGHT = 480, 212
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 24, 36
_GRID = 4


def about(loader: LoaderReport) -> str:
    """What the loader is: its dataset, the size of its batches, what collates them."""
    length = f", {loader.length} items" if loader.length is not None else ""
    batched = f"batches of {loader.batch_size}" if loader.batch_size is not None else "its own batches"
    return f"{loader.dataset} ({loader.kind}{length}) in {batched} by {loader.collate}"


def cost_line(loader: LoaderReport) -> str:
    """Where the time of one batch goes; "" where it is not known."""
    cost = loader.cost
    if cost is None:
        return ""
    waiting = cost.item_waiting_seconds or 0.0
    told = f" ({waiting / (waiting + cost.item_cpu_seconds):.0%} of it waiting)" if waiting > 0 else ""
    parts = [f"items {seconds(cost.item_seconds)}{told}"]
    parts.append(f"collate {seconds(cost.collate_seconds)}")
    if cost.transfer_seconds is not None:
        parts.append(f"copy to the GPU {seconds(cost.transfer_seconds)}")
    items = f"{cost.items} item{'s' if cost.items != 1 else ''}"
    return f"one batch in one process: {', '.join(parts)}; {items}, {_size(cost.bytes)}"


def told(loader: LoaderReport) -> str:
    """A loader's measurement in a line: what is recommended, or where it stopped."""
    if loader.error is not None:
        return f"stopped at {loader.step}: {said(loader.error)}"
    return loader.recommendation or about(loader)


def rates(loader: LoaderReport) -> str:
    """What each number of workers delivers, in a line."""
    rows = (throughput_row(row, loader) for row in loader.throughput)
    return "; ".join(
        f"{name.text} workers: {rate.text}{' items/s' if first.text else ''}" for name, rate, first, _ in rows
    )


def path(loader: LoaderReport) -> str:
    """The file of a loader's target."""
    return loader.target.partition(":")[0]


def throughput_row(row: Throughput, loader: LoaderReport) -> list[Cell]:
    """A number of workers: what it delivers, how long it takes to start, against the current number."""
    marks = [" now"] if row.workers == loader.settings.num_workers else []
    marks += [" recommended"] if loader.recommended and row.workers == loader.recommended.num_workers else []
    name = Cell(f"{row.workers}{','.join(marks)}", "good" if " recommended" in marks else "plain")
    if row.items_per_second is None:
        return [name, Cell(row.status, "faint" if row.status == "skipped" else "bad"), Cell(""), Cell("")]
    rate = number(row.items_per_second)
    if row.rounds > 1:
        rate += f" [{number(row.low or 0)}, {number(row.high or 0)}]"
    return [name, Cell(rate), Cell(seconds(row.first_batch_seconds or 0)), speedup_cell(row.speedup)]


def collate_row(attempt: Attempt) -> list[Cell]:
    """What became of the collate function with one backend."""
    backend, _, _, _, *outcome = attempt_row(attempt)
    return [backend, *outcome]


def seconds(value: float) -> str:
    """A duration with two digits and a unit that suits it."""
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if value >= s), ("us", 1e-6))
    return f"{value / size:.{0 if value / size >= 10 else 1}f} {unit}"


def number(value: float) -> str:
    """A rate: whole above a hundred, three digits below."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is not less."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))


def plot(loader: LoaderReport) -> Iterator[str]:
    """Items per second over the number of workers: medians, the range of the turns, the cores."""
    rows = [row for row in loader.throughput if row.items_per_second is not None]
    if len(rows) < 2:
        return
    top = _GRID * _round_step(max(row.high or row.items_per_second or 0 for row in rows) / _GRID)
    most = max(row.workers for row in rows)

    def place(workers: float, rate: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * workers / most
        return x, _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - rate / top)

    yield f'<svg class="throughput" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="items per second">'
    for step in range(_GRID + 1):
        _, y = place(0, top * step / _GRID)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>'
        yield f'<text class="left" x="{_LEFT - 6}" y="{y + 4:.1f}">{number(top * step / _GRID)}</text>'
    if loader.cores <= most:
        x, _ = place(loader.cores, 0)
        yield f'<line class="cores" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}"/>'
        plural = "s" if loader.cores > 1 else ""
        side = "left" if x > _WIDTH - 2 * _RIGHT else "below"
        yield f'<text class="{side}" x="{x:.1f}" y="{_TOP - 4}">{loader.cores} core{plural}</text>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(r.workers, r.items_per_second or 0) for r in rows))
    yield f'<polyline points="{path}"/>'
    for row in rows:
        if row.rounds > 1:
            (x, low), (_, high) = place(row.workers, row.low or 0), place(row.workers, row.high or 0)
            yield f'<line class="range" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>'
        x, y = place(row.workers, row.items_per_second or 0)
        chosen = loader.recommended is not None and loader.recommended.num_workers == row.workers
        title = escape(f"{row.workers} workers: {number(row.items_per_second or 0)} items/s")
        kind = ' class="chosen"' if chosen else ""
        yield f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="{5 if chosen else 3}"><title>{title}</title></circle>'
        yield f'<text class="below" x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}">{row.workers}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text class="left" x="{_LEFT - 6}" y="{_TOP - 12}">items/s</text>'
    yield f'<text class="below" x="{middle}" y="{_HEIGHT - 4}">workers</text></svg>'
