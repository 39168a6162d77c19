"""What tests share: the command line in a working folder, and the process that forks workers."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tsguard.cli import main
from tsguard.runtime.launcher import Launcher, TorchUnavailable
from tsguard.settings.config import find


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report on standard output."""
        report: dict[str, Any] = json.loads(self.out)
        return report

    @property
    def codes(self) -> list[str]:
        """The codes of the JSON report's findings."""
        return [finding["code"] for finding in self.report["findings"]]

    @property
    def targets(self) -> list[str]:
        """The names of the JSON report's targets."""
        return [target["target"] for target in self.report["targets"]]


def pytest_sessionstart() -> None:
    """A configuration above the temporary folders would be read by tests that bring none."""
    found = find([Path(tempfile.gettempdir())])
    if found is not None:
        pytest.exit(f"{found} would configure the tests: move it away, or set TMPDIR to another folder", 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, with a cache of its own and no environment settings."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("TSGUARD_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("NO_COLOR", "FORCE_COLOR", "TSGUARD_OUTPUT_FORMAT", "CI", "VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    return work


@pytest.fixture
def tsguard(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Runs the command line in the working folder."""

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "argv", ["tsguard", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def lint(tsguard: Callable[..., Ran]) -> Callable[..., Ran]:
    """Runs ``tsguard lint`` with a JSON report."""
    return lambda *arguments, **rest: tsguard("lint", "--output-format", "json", *arguments, **rest)


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """The process that forks workers, one for all tests."""
    try:
        with Launcher() as started:
            yield started
    except TorchUnavailable as reason:
        pytest.skip(f"torch cannot be imported here: {reason}")
