"""Attempts on a real Dask cluster of several worker processes."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tsguard.checking.run import CheckOptions, run
from tsguard.report import Report
from tsguard.runtime.progress import Progress
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install tsguard[dask]")

FIXTURES = Path(__file__).parents[2] / "fixtures"
NAMES = ("fine.py", "resnet.py", "transformer.py", "lstm.py")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None, processes=True
    ) as started:
        yield started


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        shutil.copy(FIXTURES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(cluster: Any, *names: str, on_progress: Progress | None = None) -> Report:
    settings = Settings(cache=False)
    options = CheckOptions(modes=("eval",), time_budget=0, scheduler=cluster.scheduler_address)
    requests = [parse(name, settings) for name in names]
    report, _ = run(requests, settings, options, progress=on_progress)
    return report


def statuses(report: Report) -> dict[str, list[str]]:
    return {target.qualname: [a.status for a in target.attempts] for target in report.targets}


EXPECTED = {
    "MixerBlock": ["ok", "ok", "ok"],
    "Mixer": ["ok", "ok", "ok"],
    "BasicBlock": ["ok", "ok", "ok"],
    "ResNet": ["ok", "ok", "ok"],
    "CausalSelfAttention": ["ok", "failed", "ok"],
    "Block": ["ok", "failed", "ok"],
    "Decoder": ["ok", "failed", "ok"],
    "LSTMCell": ["ok", "ok", "ok"],
    "LSTM": ["ok", "ok", "diverged"],
}


def test_the_same_report_comes_back(cluster: Any, models: Path) -> None:
    report = checked(cluster, *NAMES)
    assert report.errors == ()
    assert statuses(report) == EXPECTED
    assert dict(report.environment)["torch"]


def test_nothing_is_lost_when_a_worker_dies_midway(cluster: Any, models: Path) -> None:
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        killed = threading.Event()

        class Killer(Progress):
            def done(self, target: str, outcome: str) -> None:
                busy = [address for address, keys in client.processing().items() if keys]
                if busy and not killed.is_set():
                    killed.set()
                    os.kill(pids[busy[0]], signal.SIGKILL)

        report = checked(cluster, *NAMES, on_progress=Killer())
    assert killed.is_set()
    assert statuses(report) == EXPECTED


def test_a_cluster_that_is_not_there_is_one_clear_error(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tsguard.runtime.fleet.CLUSTER_SECONDS", 1)
    settings = Settings(cache=False)
    options = CheckOptions(scheduler="tcp://127.0.0.1:9")
    report, _ = run([parse("fine.py", settings)], settings, options)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in report.errors[0].message
    assert report.targets
