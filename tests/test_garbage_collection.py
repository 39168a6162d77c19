"""The collector is held back while files are analysed, and as it was afterwards; what is kept has a bound."""

from __future__ import annotations

import ast
import gc
import sys
from pathlib import Path

import pytest

from tsguard.linting import garbage_collection
from tsguard.linting.garbage_collection import Memory, infrequent_collection
from tsguard.linting.run import lint
from tsguard.report import Report
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan


def test_what_is_kept_is_not_walked_meanwhile():
    left = gc.get_threshold()  # a command that ran in this process has set its own
    gc.set_threshold(700, 10, 10)
    try:
        with infrequent_collection():
            assert gc.get_threshold()[0] > 700
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*left)


def _raising() -> None:
    with infrequent_collection():
        gc.freeze()
        raise RecursionError


def test_the_collector_is_as_before_also_where_the_work_raises():
    before = gc.get_threshold()
    with pytest.raises(RecursionError):
        _raising()
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        return [x, y][0].reshape(x.size(0), -1).softmax(dim=1)


def table():
    return [
"""


def _linted(folder: Path) -> tuple[Report, list[int]]:
    """The report, and the blocks of memory that were in use after each file."""
    blocks: list[int] = []
    settings = Settings(root=folder, cache=False, jobs=1)
    report, _ = lint(
        plan([parse(str(folder), settings)], settings),
        settings,
        progress=lambda: blocks.append(sys.getallocatedblocks()),
    )
    return report, blocks


def test_what_is_kept_has_a_bound_and_the_report_does_not_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for number in range(8):
        source = NET + "".join(f"        ({i}, -{i}, x{i} + {i}),\n" for i in range(1000)) + "    ]\n"
        (tmp_path / f"net{number}.py").write_text(source, encoding="utf-8")
    # The tests before this one may have left more than an analysis may keep.
    gc.collect()
    monkeypatch.setattr(garbage_collection, "_MOST_BLOCKS", sys.maxsize)
    report, blocks = _linted(tmp_path)
    monkeypatch.setattr(garbage_collection, "_MOST_BLOCKS", 0)
    bounded, fewer = _linted(tmp_path)
    assert bounded == report
    growth = blocks[-1] - blocks[1]
    assert fewer[-1] - fewer[1] < growth / 4


def test_no_tree_of_a_file_stays(tmp_path: Path):
    source = NET.replace("def table", "def table_of_a_file_that_is_gone") + "    ]\n"
    (tmp_path / "net.py").write_text(source, encoding="utf-8")
    _linted(tmp_path)
    Memory().collect()
    functions = [o for o in gc.get_objects() if type(o) is ast.FunctionDef]
    assert not [f for f in functions if f.name == "table_of_a_file_that_is_gone"]
