"""The checks of an input pipeline, in the order of what they look at."""

from __future__ import annotations

from tsguard.analysis.pipeline import (
    arrays,
    batches,
    collating,
    epochs,
    items,
    options,
    transfers,
    workers,
)

CHECKS = (options, workers, epochs, transfers, batches, collating, arrays, items)
