"""What a constructor registers under names that the source does not tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter, registries
from tsguard.analysis.subjects import build
from tsguard.analysis.values import ModuleValue
from tsguard.judges.script import judge_script
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


REGISTERED = """\
from torch import nn

from pack.table import register


@register("net")
class Net(nn.Module):
    def forward(self, x):
        return {}
"""


class TestForgetting:
    """What a table held may come from a file that the home of the table does not import."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        texts = {
            "pack/__init__.py": "",
            "pack/table.py": "TABLE = {}\n\n\ndef register(name):\n    def add(cls):\n        TABLE[name] = cls\n"
            "        return cls\n\n    return add\n\n\ndef build(name):\n    return TABLE[name]()\n",
            "pack/net.py": REGISTERED.format("x * 2"),
            "pack/other.py": "SIZE = 3\n",
            "user.py": "from torch import nn\n\nfrom pack.table import build\n\n\nclass User(nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.net = build('net')\n\n"
            "    def forward(self, x):\n        return self.net(x)\n",
        }
        (tmp_path / "pack").mkdir()
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        return tmp_path

    @staticmethod
    def judged(program: Program, folder: Path) -> str:
        user = find_target(program.project.module(folder / "user.py"), "User")
        return judge_script(program, user).verdict

    @pytest.mark.parametrize("name", ["net.py", "other.py", "new.py"])
    def test_the_table_is_filled_anew(self, folder: Path, name: str):
        program = Program(Project((folder,)))
        net = folder / "pack" / "net.py"
        if name != "net.py":
            net.write_text("")
        before = self.judged(program, folder)
        (folder / "pack" / name).write_text(REGISTERED.format("x.numpy()"))
        program.forget([folder / "pack" / name])
        assert (before, self.judged(program, folder)) == ("ok" if name == "net.py" else "unknown", "blocked")


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
