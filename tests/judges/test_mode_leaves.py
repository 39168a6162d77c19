"""The walk in both modes leaves what it was given as it was: the walk of a trace comes after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tsguard.analysis.mode.walk import follow
from tsguard.analysis.python import Program
from tsguard.analysis.subjects import first_built
from tsguard.analysis.values import ModuleValue
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

KERNELS = """\
_KERNELS = {}


def register(function):
    def wrap(kernel):
        _KERNELS[function] = kernel
        return kernel

    return wrap


def scale(x, by):
    kernel = _KERNELS.get(scale)
    if kernel is None:
        raise TypeError
    return kernel(x, by)


@register(scale)
def scale_tensor(x, by):
    return x * by
"""
SCALES = """\
from torch import nn

from kernels import scale


class Net(nn.Module):
    def forward(self, x):
        return scale(x, 2)
"""
GATHERS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen, self.sizes, self.known = [], {}, {1}

    def forward(self, x):
        self.seen.append(x)
        self.sizes["last"] = x.shape
        self.sizes.update(first=x.shape)
        self.known.add(2)
        y = x * len(self.seen) * len(self.sizes) * len(self.known)
        return y
"""


def target_of(folder: Path, source: str) -> tuple[Program, Any]:
    file = folder / "net.py"
    file.write_text(source, encoding="utf-8")
    project = Project((folder,))
    return Program(project), find_target(project.module(file), "Net")


def test_what_is_registered_stays(tmp_path: Path):
    (tmp_path / "kernels.py").write_text(KERNELS, encoding="utf-8")
    judged = judge(*target_of(tmp_path, SCALES))
    assert (judged.trace, judged.export.verdict) == ("safe", "exports")


def test_containers_hold_what_they_held(tmp_path: Path):
    program, target = target_of(tmp_path, GATHERS)
    made = first_built(program, target)
    assert made is not None
    follow(program, target, made.world, made.value)
    assert isinstance(made.value, ModuleValue)
    held = {name: made.value.attributes[name] for name in ("seen", "sizes", "known")}
    assert [len(container.items) for container in held.values()] == [0, 0, 1]
    assert not any(container.open for container in held.values())
