"""What is not read is open, and what takes its place is read."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEADER = (
    "import importlib.util\nimport os\nfrom typing import Optional\n\nimport torch\nfrom torch import nn\n"
)
# Each with the verdicts on ``Net``: script, trace.
SOURCES = {
    "a submodule whose class derives from what is not read": (
        """
        from nosuch.layers import Block


        class Own(Block):
            def __init__(self):
                super().__init__(3)
                self.linear = nn.Linear(3, 3)

            def forward(self, x):
                return self.linear(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = Own()

            def forward(self, x):
                return self.own(x)
        """,
        ("unknown", "unknown"),
    ),
    "one that has a blocker of its own": (
        """
        from nosuch.layers import Block


        class Own(Block):
            def forward(self, x):
                return (lambda y: y)(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = Own()

            def forward(self, x):
                return self.own(x)
        """,
        ("blocked", "unknown"),
    ),
    "one that is nothing but that": (
        """
        from nosuch.layers import Block


        class Own(Block):
            pass


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = Own(3)

            def forward(self, x):
                return self.own(x)
        """,
        ("unknown", "unknown"),
    ),
    "a class that was not read, which no tensor is of": (
        """
        from nosuch import SparseTensor


        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                if isinstance(x, SparseTensor):
                    return x.no_such_method()
                return x * 2
        """,
        ("unknown", "unknown"),
    ),
    "that beside the class that it is of": (
        """
        from nosuch import SparseTensor


        class Net(nn.Module):
            def forward(self, x: torch.Tensor):
                return x * 2 if isinstance(x, (torch.Tensor, SparseTensor)) else x
        """,
        ("unknown", "safe"),
    ),
    "a submodule that another is scripted for": (
        """
        class Plain(nn.Module):
            def forward(self, x):
                return x * 2


        class Flexible(nn.Module):
            def forward(self, *inputs):
                return inputs[0] * 2

            def __prepare_scriptable__(self):
                return Plain()


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.Sequential(Flexible(), nn.ReLU(), Flexible())

            def forward(self, x):
                return self.parts(x)
        """,
        ("ok", "safe"),
    ),
    "a submodule that refuses to be scripted": (
        """
        class Refusing(nn.Module):
            def forward(self, x):
                return x

            def __prepare_scriptable__(self):
                raise RuntimeError("no")


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Refusing()

            def forward(self, x):
                return self.part(x)
        """,
        ("blocked", "safe"),
    ),
    "a global that the environment decides": (
        """
        FAST = bool(os.environ.get("FAST", ""))


        class Net(nn.Module):
            def forward(self, x):
                return x * 2 if FAST else x
        """,
        ("blocked", "safe"),
    ),
    "a tuple that is asked for what only arrays have": (
        """
        def listed(value):
            if hasattr(value, "ndim") and value.ndim == 0:
                return [value]
            return list(value)


        class Net(nn.Module):
            def __init__(self, sizes=(3, 4)):
                super().__init__()
                self.sizes = listed(sizes)

            def forward(self, x):
                return x.reshape(self.sizes)
        """,
        ("ok", "safe"),
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_the_verdicts(tmp_path: Path, case: str) -> None:
    source, expected = SOURCES[case]
    path = tmp_path / "net.py"
    path.write_text(HEADER + textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path,))
    judgement = judge(Program(project), find_target(project.module(path), "Net"))
    assert (judgement.script, judgement.trace) == expected


PACKAGE = """\
from typing import Optional

import torch
from torch import nn


def weighed(x: torch.Tensor, weight: Optional[float] = None) -> torch.Tensor:
    if weight is not None:
        number = torch.tensor(0.5).item()
        x = x * torch.tensor([1 - number, number])
    return x


class Weighed(nn.Module):
    def forward(self, x):
        return weighed(x)
"""


@pytest.mark.parametrize("call", ["weighed(x)", "self.part(x)"])
def test_what_goes_wrong_only_where_a_package_runs_it_is_open(tmp_path: Path, call: str) -> None:
    site = tmp_path / "site-packages"
    (site / "pkg").mkdir(parents=True)
    (site / "pkg" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    path = tmp_path / "net.py"
    path.write_text(
        "from torch import nn\nfrom pkg import Weighed, weighed\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.part = Weighed()\n\n"
        f"    def forward(self, x):\n        return {call}\n",
        encoding="utf-8",
    )
    project = Project((tmp_path, site))
    judgement = judge(Program(project), find_target(project.module(path), "Net"))
    assert judgement.script == "unknown"
    assert any("may go wrong when it is compiled" in place.why for place in judgement.unknown)


NAMES = """\
from torch import nn
import pkg


class Net(nn.Module):
    def __init__(self, name="fine"):
        super().__init__()
        self.part = {made}

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.parametrize("table", ["pkg.__dict__", "vars(pkg)"])
@pytest.mark.parametrize(("name", "expected"), [("fine", "ok"), ("refused", "blocked")])
def test_a_file_is_a_table_of_its_names(tmp_path: Path, table: str, name: str, expected: str) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .made import *\n", encoding="utf-8")
    (tmp_path / "pkg" / "made.py").write_text(
        "from torch import nn\n\n\nclass Refused(nn.Module):\n    def forward(self, x):\n        return (lambda y: y)(x)\n\n\n"
        "def fine():\n    return nn.ReLU()\n\n\ndef refused():\n    return Refused()\n",
        encoding="utf-8",
    )
    path = tmp_path / "net.py"
    path.write_text(NAMES.format(made=f"{table}['{name}']()"), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == expected
