"""Functions under decorators of other files."""

from __future__ import annotations

import importlib
import sys

import pytest
import torch


def test_what_a_decorator_of_another_file_wraps_is_reported_where_it_stands(lint, folder):
    (folder / "timing.py").write_text(
        "import functools\n\n\ndef timed(function):\n    @functools.wraps(function)\n"
        "    def inner(*args):\n        return function(*args)\n\n    return inner\n"
    )
    lines = ["import torch", "from timing import timed", *["# ..."] * 20, "@timed", "def act(x):"]
    lines += ["    if x.sum() > 0:", "        y = x", "    return y", ""]
    lines += ["class Net(torch.nn.Module):", "    def forward(self, x):", "        return act(x)", ""]
    (folder / "net.py").write_text("\n".join(lines))
    ran = lint("--select", "TSG1", "net.py")
    found = [(f["code"], f["path"], f["line"]) for f in ran.report["findings"]]
    assert found == [("TSG106", "net.py", 25)]


CHECKED = """
import pickle

class Settings:
    pass

def checked(function, settings={settings}):
    if not isinstance(settings, Settings):
        raise TypeError("no settings")
    return function
"""
USER = """
from torch import nn
from checking import checked

class Part(nn.Module):
    @checked
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.filterwarnings("ignore")
def test_a_decorator_that_raises_by_what_is_not_told_leaves_the_function_as_it_is(lint, folder, monkeypatch):
    (folder / "checking.py").write_text(CHECKED.format(settings="pickle.loads(pickle.dumps(Settings()))"))
    (folder / "net.py").write_text(USER)
    assert [t["script"]["verdict"] for t in lint("net.py").report["targets"]] == ["ok", "ok"]
    monkeypatch.syspath_prepend(folder)
    for name in ("net", "checking"):  # of another test
        monkeypatch.delitem(sys.modules, name, raising=False)
    torch.jit.script(importlib.import_module("net").Net())


def test_of_what_a_decorator_raises_for_sure_no_more_is_known(lint, folder):
    (folder / "checking.py").write_text(CHECKED.format(settings="None"))
    (folder / "net.py").write_text(USER)
    assert lint("net.py").report["targets"][1]["script"]["verdict"] == "unknown"
