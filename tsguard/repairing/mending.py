"""Repair what is requested: the targets found by lint, torch's workers started, one repair after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tsguard.linting.run import lint
from tsguard.repairing.loop import repair_all
from tsguard.repairing.results import Repaired
from tsguard.report import Error
from tsguard.runtime.assigning import assign
from tsguard.runtime.launcher import Launcher, TorchUnavailable, unavailable
from tsguard.runtime.options import CheckOptions
from tsguard.runtime.task import Limits
from tsguard.settings.config import Settings
from tsguard.settings.requests import Request, plan


def run(
    requests: Sequence[Request],
    settings: Settings,
    inputs: tuple[str, ...],
    python: Path | None,
    seconds: float,
    tell: Callable[[str], None],
) -> tuple[list[Repaired], tuple[Error, ...]]:
    """Repair the targets that are requested, on a copy; nothing is written.

    Args:
        inputs: expressions for the arguments of ``forward``, () to find some.
        python: the interpreter that has torch, None for ours.
        seconds: the most that one step of one target may take.

    Raises:
        ConfigError: as ``lint``.
    """
    planned = plan(requests, settings)
    report, _ = lint(planned, settings)
    options = CheckOptions(inputs=inputs, devices=("cpu",), modes=("eval",), backends=("script",))
    assigned = assign(report.targets, planned.jobs, requests, settings, options, 0)
    subjects = [a.assignment.subject for a in assigned if a.assignment.subject.kind == "module"]
    try:
        with Launcher(str(python) if python is not None else None) as launcher:
            done = repair_all(launcher, subjects, settings, Limits(seconds), tell)
    except TorchUnavailable as reason:
        told = f"nothing was repaired: {unavailable(reason, '')}; `tsguard lint --fix` needs no torch"
        return [], (*report.errors, Error(told))
    return done, report.errors
