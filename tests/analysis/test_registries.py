"""What a constructor registers under names that the source does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter, registries
from tsguard.analysis.subjects import build
from tsguard.analysis.values import ModuleValue
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, tensors):
        super().__init__()
        {statement}

    def forward(self, x):
        return x
"""


@pytest.mark.parametrize(
    "statement",
    [
        "self._buffers.update(dict(tensors.items()))",
        "self._buffers.update({name: tensor for name, tensor in tensors.items()})",
        "self._buffers.setdefault(tensors[0], tensors[1])",
        "for name in tensors: self._buffers[name] = tensors[name]",
        "for name in tensors: self.register_buffer(name, tensors[name])",
    ],
)
def test_the_module_may_hold_more_and_names_stay_texts(tmp_path: Path, statement: str):
    file = tmp_path / "net.py"
    file.write_text(NET.format(statement=statement))
    program = Program(Project((tmp_path,)))
    module = build(PythonInterpreter(program), find_target(program.project.module(file), "Net"))
    assert isinstance(module, ModuleValue)
    assert module.open
    assert {type(name) for name in module.buffers} <= {str}


class TestRegistrations:
    """Where a table may be filled from: modules that register, not those that only use a registrar's name."""

    @pytest.mark.parametrize(
        "text",
        [
            "@register\ndef made(): ...",
            "@registry.register('made')\nclass Made: ...",
            "class Made(Base, metaclass=register): ...",
            "register('made')(object)",
            "registry.register('made', object)",
            "if True:\n    register['made'] = object",
        ],
    )
    def test_what_may_register_is_read(self, text: str):
        assert registries.may_register(frozenset({"register"})).search(text)

    @pytest.mark.parametrize(
        "text",
        [
            "from registry import register",
            "made = register.get('made')",
            "def f():\n    return register['made']",
        ],
    )
    def test_what_only_uses_the_name_is_not(self, text: str):
        assert not registries.may_register(frozenset({"register"})).search(text)
