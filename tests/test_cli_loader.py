"""``tsguard loader`` from the command line to the exit status."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran

FIXTURES = Path(__file__).parents[1] / "fixtures"
ONE_LOADER = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


def make_loader(size: int = 64) -> DataLoader:
    return DataLoader(TensorDataset(torch.rand(size, 3)), batch_size=8)


def needs_a_path(path) -> DataLoader:
    return DataLoader(TensorDataset(torch.rand(8, 3)), batch_size=8)
"""
QUICK = ("--time-budget", "4", "--workers", "0,1")

Running = Callable[..., Ran]


@pytest.fixture
def measured(tsguard: Running, folder: Path) -> Running:
    """Runs ``tsguard loader`` on files of the working folder."""
    shutil.copy(FIXTURES / "loaders.py", folder)
    (folder / "one.py").write_text(ONE_LOADER)

    def run(*arguments: str) -> Ran:
        return tsguard("loader", *arguments)

    return run


@pytest.mark.usefixtures("launcher")
def test_a_loader_is_measured_and_the_report_is_json(measured: Running):
    ran = measured("loaders.py:texts()", "--output-format", "json", *QUICK)
    assert ran.status == 0
    [loader] = ran.report["loaders"]
    assert loader["target"] == "loaders.py:texts()"
    assert [row["workers"] for row in loader["throughput"]] == [0, 1]
    assert loader["recommended"]["num_workers"] == 0
    assert ran.report["environment"]["torch"]


@pytest.mark.usefixtures("launcher")
def test_the_only_loader_of_a_file_need_not_be_named(measured: Running):
    ran = measured("one.py", *QUICK)
    assert ran.status == 0
    assert "one.py:make_loader(): TensorDataset (map, 64 items) in batches of 8" in ran.out
    assert "1 loader measured" in ran.err


@pytest.mark.usefixtures("launcher")
def test_what_fails_in_the_users_code_is_reported_with_status_1(measured: Running, folder: Path):
    (folder / "bad.py").write_text(ONE_LOADER + "\n\nloader = make_loader(0)\n")
    ran = measured("bad.py:loader")
    assert ran.status == 1
    assert "stopped at first batch" in ran.out
    assert "0 loaders measured, 1 stopped before" in ran.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.py:loader",), "no such file"),
        (("loaders.py",), "several loaders: loaders.py:decoding(), loaders.py:fetching()"),
        (("one.py:make_loader()", "--workers", "two"), "'two' is not a list of numbers"),
        (("one.py:make_loader()", "--time-budget", "0"), "--time-budget"),
        ((".",), "a loader lies in a file"),
    ],
)
def test_wrong_usage_is_told_before_torch_is_imported(
    measured: Running, arguments: tuple[str, ...], says: str
):
    ran = measured(*arguments)
    assert ran.status == 2
    assert says in ran.err


@pytest.mark.usefixtures("launcher")
def test_a_name_that_is_no_loader_is_wrong_usage(measured: Running):
    ran = measured("one.py:make_loder()")
    assert ran.status == 2
    assert "did you mean 'make_loader'?" in ran.err


def test_without_torch_it_is_told_how_to_get_it(measured: Running):
    ran = measured("one.py", "--python", "/bin/false")
    assert ran.status == 2
    assert "torch cannot be imported" in ran.err
