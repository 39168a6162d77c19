"""Code that is judged for several torch releases: one answer, which says where they part."""

from __future__ import annotations

import pytest

from tsguard.linting.parting import when_by_release

# torch.nn.GaussianNLLLoss compiles by old releases, nn.RMSNorm is there from 2.4 on.
PARTED = """\
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.GaussianNLLLoss()

    def forward(self, x: torch.Tensor, y: torch.Tensor, v: torch.Tensor):
        return self.loss(x, y, v)
"""
FINE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        return x + 1
"""


@pytest.fixture
def report(lint, folder):
    (folder / "loss.py").write_text(PARTED)
    (folder / "net.py").write_text(FINE)
    return lambda releases: lint("--torch-version", releases, ".").report


def loss(report):
    [target] = [target for target in report["targets"] if target["qualname"] == "Loss"]
    return target


def test_each_release_has_its_answer(report):
    assert loss(report("2.2"))["script"]["verdict"] == "ok"
    assert loss(report("2.13"))["script"]["verdict"] == "blocked"


def test_of_several_the_gravest_counts_and_the_finding_says_from_which_release(report):
    answer = report("2.2,2.13")
    assert answer["torch_tables"] == "2.2,2.13"
    assert loss(answer)["script"]["verdict"] == "blocked"
    [finding] = answer["findings"]
    first = next(each["release"] for each in loss(answer)["releases"] if each["script"] == "blocked")
    assert finding["when"] == f"torch is {first} or newer"
    assert loss(answer)["script"]["findings"] == [finding["id"]]
    # That release was not asked for: it is where the answer changes.
    assert loss(report(first))["script"]["verdict"] == "blocked"


def test_where_they_agree_nothing_is_said_of_releases(report):
    answer = report("2.2,2.13")
    [net] = [target for target in answer["targets"] if target["qualname"] == "Net"]
    assert (net["script"]["verdict"], net["releases"]) == ("ok", [])


def test_a_person_is_told_where_they_part(tsguard, folder):
    (folder / "loss.py").write_text(PARTED)
    shown = tsguard("lint", "--torch-version", "2.2,2.13", ".").out
    assert "loss.py:Loss: script is ok before torch " in shown


def test_a_second_run_answers_the_same_from_the_cache(report):
    assert report("2.2,2.13") == report("2.2,2.13")


@pytest.mark.parametrize(
    ("holds", "when"),
    [
        ([True, True, True, True], None),
        ([True, False, False, False], "torch is older than 2.3"),
        ([False, False, True, True], "torch is 2.4 or newer"),
        ([False, True, True, False], "torch is 2.3 or newer and older than 2.5"),
        ([True, False, True, False], "torch is 2.2, 2.4"),
    ],
)
def test_a_condition_names_the_releases(holds: list[bool], when: str | None):
    assert when_by_release(holds, ("2.2", "2.3", "2.4", "2.5")) == when
