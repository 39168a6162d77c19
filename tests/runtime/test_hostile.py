"""Whatever a module does to its process becomes one clear row; nothing is left running."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runtime.conftest import QUICK, SCRIPT_AND_TRACE, subject_in
from tests.runtime.hostile import HOSTILE, Hostile
from tsguard.runtime.attempts import TargetAttempts, attempt_target
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec
from tsguard.runtime.processes import descendants
from tsguard.runtime.task import Limits

BOUNDS = replace(QUICK, limits=Limits(seconds=6, memory_mb=700))


@pytest.fixture(scope="module")
def before() -> list[int]:
    """The processes that other tests keep."""
    return descendants(os.getpid())


@pytest.fixture(scope="module")
def survived(
    before: list[int], launcher: Launcher, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, TargetAttempts]:
    """All of them in one run over two workers at a time, and what came of each."""
    folder = tmp_path_factory.mktemp("hostile")

    def one(numbered: tuple[int, Hostile]) -> tuple[str, TargetAttempts]:
        number, hostile = numbered
        file = folder / f"hostile_{number}.py"
        file.write_text(hostile.source)
        subject = subject_in(file, "Net")
        return hostile.name, attempt_target(launcher.run, subject, SCRIPT_AND_TRACE, BOUNDS)

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(one, enumerate(HOSTILE)))


@pytest.mark.parametrize("hostile", [h for h in HOSTILE if not h.survives], ids=lambda h: h.name)
def test_misbehaviour_is_named_with_its_step(survived: dict[str, TargetAttempts], hostile: Hostile) -> None:
    found = survived[hostile.name]
    if hostile.step in ("script", "trace"):
        error = found.attempts[AttemptSpec(hostile.step)].error
    else:
        assert found.stop is not None
        assert found.stop.step == hostile.step
        error = found.stop.error
    assert error is not None
    assert hostile.says in f"{error.type}: {error.message}"
    if hostile.line is not None:
        assert (Path(error.path or "").suffix, error.line) == (".py", hostile.line)


@pytest.mark.parametrize("hostile", [h for h in HOSTILE if h.survives], ids=lambda h: h.name)
def test_harmless_misbehaviour_does_not_disturb(
    survived: dict[str, TargetAttempts], hostile: Hostile
) -> None:
    found = survived[hostile.name]
    assert found.stop is None
    assert [found.attempts[spec].status for spec in SCRIPT_AND_TRACE] == ["ok", "ok"]


def test_a_crash_takes_one_attempt_with_it(survived: dict[str, TargetAttempts]) -> None:
    found = survived["segfault in the compiler only"]
    assert found.attempts[AttemptSpec("script")].status == "crashed"
    assert found.attempts[AttemptSpec("trace")].status == "ok"


def test_output_is_capped(survived: dict[str, TargetAttempts]) -> None:
    assert len(survived["300 MB of output"].output) < 70_000


def test_nothing_is_left_running(before: list[int], survived: dict[str, TargetAttempts]) -> None:
    left = set(descendants(os.getpid())) - set(before)
    assert len(left) <= 1, f"only the warm process may be alive, there are {left}"
