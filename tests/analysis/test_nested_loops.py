"""A table of every pair of many places is not made entry by entry: nothing of a module hangs on all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.budgets import NESTED_TURNS
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import ListValue, ModuleValue
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import itertools
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        points = list(itertools.product(range({size}), range({size})))
        self.offsets, self.last = [], 0
        for first in points:
            for second in points:
                self.offsets.append(abs(first[0] - second[0]))
        for i in range(3):
            self.last = i
"""


def made(folder: Path, size: int) -> tuple[ModuleValue, int]:
    file = folder / "net.py"
    file.write_text(NET.format(size=size))
    interp = PythonInterpreter(Program(Project((folder,))))
    module = build(interp, find_target(interp.program.project.module(file), "Net"))
    assert isinstance(module, ModuleValue)
    return module, interp.world.spent


@pytest.mark.parametrize(("size", "is_counted"), [(5, True), (8, False)])
def test_pairs_are_told_apart_up_to_a_bound(tmp_path, size, is_counted):
    module, _ = made(tmp_path, size)
    offsets = module.attributes["offsets"]
    assert isinstance(offsets, ListValue)
    assert offsets.open is not is_counted
    assert (len(offsets.items) == size**4) is is_counted


def test_what_it_takes_grows_with_the_places_and_not_with_their_pairs(tmp_path):
    assert 12**4 > 8**4 > NESTED_TURNS
    few, many = made(tmp_path, 8)[1], made(tmp_path, 12)[1]
    assert many / few < (12 / 8) ** 3
