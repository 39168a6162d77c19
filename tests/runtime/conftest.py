"""One warm launcher for all tests that run torch; skipped where torch is not installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tsguard.runtime.attempts import Bounds, TargetAttempts, attempt_target
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits

SCRIPT_AND_TRACE = (AttemptSpec("script"), AttemptSpec("trace"))
QUICK = Bounds(Limits(seconds=60), Settings(timing_seconds=0))

Attempting = Callable[..., TargetAttempts]


def subject_in(file: Path, name: str, **fields: object) -> Subject:
    """The target ``name`` of a file that is no part of a package."""
    qualname, call, _ = name.partition("(")
    constructor = name if call else None
    source = file.read_text()
    kind = "function" if f"def {qualname}(" in source else "module"
    return Subject(
        f"{file.name}:{name}",
        str(file),
        file.name,
        str(file.parent),
        file.stem,
        qualname,
        kind,
        constructor,
        **fields,  # type: ignore[arg-type]
    )


@pytest.fixture
def attempting(launcher: Launcher, tmp_path: Path) -> Attempting:
    """Attempts on a target in a file of the given source."""

    def run(
        source: str,
        name: str = "Net",
        specs: tuple[AttemptSpec, ...] = SCRIPT_AND_TRACE,
        bounds: Bounds = QUICK,
        **fields: object,
    ) -> TargetAttempts:
        file = tmp_path / "model.py"
        file.write_text(source)
        return attempt_target(launcher.run, subject_in(file, name, **fields), specs, bounds)

    return run
