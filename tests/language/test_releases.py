"""The tables of every release: rebuilt as they were asked, small, and found by their release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.table_changes import NAMES, digest
from tsguard.language import tables

DIGESTS = json.loads((tables.FOLDER / "digests.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("release", tables.RELEASES)
def test_the_tables_of_a_release_are_rebuilt_as_torch_gave_them(release: str):
    whole = {name: tables.tables(release).table(name) for name in NAMES}
    assert digest(whole) == DIGESTS[release]


def test_every_release_that_is_kept_has_tables():
    assert tuple(sorted(DIGESTS, key=tables.as_numbers)) == tables.RELEASES


def test_releases_are_in_the_order_in_which_they_came():
    assert tables.RELEASES[0] == "2.2"
    assert tables.RELEASES.index("2.6") < tables.RELEASES.index("2.13")


def test_all_releases_take_no_more_than_twice_what_one_takes():
    assert sum(map(_size, tables.RELEASES)) <= 2 * _size("2.13")


def _size(release: str) -> int:
    return sum(path.stat().st_size for path in Path(tables.FOLDER, release).iterdir())


def test_a_release_has_what_it_had():
    assert "torch.nn.RMSNorm" not in tables.tables("2.2").modules
    assert "torch.nn.RMSNorm" in tables.tables("2.13").modules
    assert "fails" not in tables.tables("2.2").modules["torch.nn.GaussianNLLLoss"]["forward"]
    assert "fails" in tables.tables("2.13").modules["torch.nn.GaussianNLLLoss"]["forward"]
