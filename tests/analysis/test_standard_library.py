"""What the standard library holds under a name: as Python has it, where code runs as type checkers take it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.analysis.python.standard_library import value_of
from tsguard.analysis.values import Const, TupleValue, Unknown
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import collections, logging, os, string, sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {kept}

    def forward(self, x):
        return x, self.kept
"""


@pytest.mark.parametrize("name", ["string.punctuation", "logging.INFO", "math.pi", "sys.platform", "os.name"])
def test_what_is_the_same_everywhere_is_that_constant(name: str) -> None:
    module, _, short = name.rpartition(".")
    value = value_of(name)
    assert isinstance(value, Const)
    assert value.value == getattr(importlib.import_module(module), short)


@pytest.mark.parametrize(
    ("name", "kind"), [("os.sep", "str"), ("errno.ENOENT", "int"), ("time.timezone", "int")]
)
def test_of_what_machines_hold_only_the_type_is_known(name: str, kind: str) -> None:
    value = value_of(name)
    assert isinstance(value, Unknown)
    assert value.hint == kind


@pytest.mark.parametrize("name", ["os.getcwd", "sys.stdout", "os.path", "torch.pi", "antigravity.fly"])
def test_nothing_is_said_of_functions_objects_and_other_modules(name: str) -> None:
    assert value_of(name) is None


def test_the_version_is_the_one_that_runs() -> None:
    version = value_of("sys.version_info")
    assert isinstance(version, TupleValue)
    assert version.items[1].value == sys.version_info[1]


@pytest.mark.parametrize(
    "kept",
    [
        "string.digits",
        "logging.INFO",
        "os.sep",
        "sys.platform",
        "sys.version_info[0]",
        "torch.backends.cudnn.benchmark",
        "collections.Counter('abca')",
        "collections.Counter(a=1)['b']",
    ],
)
def test_attributes_that_hold_it_are_compiled(tmp_path: Path, kept: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(NET.format(kept=kept), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == "ok"


@pytest.mark.parametrize(
    "kept",
    [
        "(datetime.date(2020, 1, 2) - datetime.date(2020, 1, 1)).days",
        "pathlib.Path('a') / 'b'",
        "pathlib.Path('a').parent",
        "1 + fractions.Fraction(1, 2)",
    ],
)
def test_what_its_objects_hold_and_give_is_not_known(tmp_path: Path, kept: str) -> None:
    path = tmp_path / "model.py"
    path.write_text("import datetime, fractions, pathlib\n" + NET.format(kept=kept), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == "unknown"


LOGGING = """\
import logging
import torch
from torch import nn

logger = logging.getLogger(__name__)


def say(text):
    return logger.info(text)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = logging.getLogger("net").info

    def forward(self, x):
        {said}
        return x * 2
"""


@pytest.mark.parametrize(
    "said",
    [
        "logger.warning('a')",
        "logging.getLogger('a').getChild('b').info('%s', x.shape)",
        "self.log('a')",
        "say('a')",
        "if logger.level > 10: logger.info('a')",
    ],
)
def test_calls_of_its_objects_leave_modules_and_tensors_as_they_are(tmp_path: Path, said: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(LOGGING.format(said=said), encoding="utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.trace, found.mode) == ("safe", "independent")
