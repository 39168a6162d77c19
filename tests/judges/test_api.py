"""The API judge: how names are resolved and modes followed, and what it keeps quiet about."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.api import judge_api
from tsguard.project import Project

NET = """\
import torch
import torch.nn as nn
import torch.jit


class Net(nn.Module):
    def __init__(self, rate=0.5):
        super().__init__()
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(x)


x = torch.rand(2)
"""


@pytest.fixture
def found(tmp_path: Path):
    """The codes found in a file that begins with a small module, by line of what follows it."""

    def run(source: str, start: str = NET, **others: str) -> list[str]:
        for name, text in others.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        path = tmp_path / "use.py"
        path.write_text(start + textwrap.dedent(source), encoding="utf-8")
        project = Project((tmp_path,))
        findings = judge_api(Program(project), project.module(path))
        return [finding.code for finding in sorted(findings, key=lambda f: (f.line, f.column))]

    return run


@pytest.mark.parametrize(
    "source",
    [
        "torch.jit.trace(Net(), x)",
        "from torch import jit\njit.trace(Net(), x)",
        "import torch.jit as j\nj.trace(Net(), x)",
        "from torch.jit import trace as record\nrecord(Net(), x)",
        "def export():\n    from torch import jit\n    jit.trace(Net(), x)",
        "class Exporter:\n    def run(self):\n        net = Net()\n        return torch.jit.trace(net, x)",
        "try:\n    torch.jit.trace(Net(), x)\nexcept RuntimeError:\n    pass",
        "with torch.no_grad():\n    torch.jit.trace(Net().to('cpu'), x)",
        "traced = [torch.jit.trace(Net(), x) for _ in range(2)]",
        "assert torch.jit.trace(Net(), x) is not None",
    ],
)
def test_a_call_is_found_under_every_name_and_in_every_place(found, source):
    assert found(source) == ["TSG402"]


@pytest.mark.parametrize(
    "source",
    [
        "torch.jit.trace(Net().eval(), x)",
        "torch.jit.trace(Net(rate=0.0), x)",
        "torch.jit.trace(nn.Linear(2, 2), x)",
        "net = Net()\nnet.eval()\ntorch.jit.trace(net, x)",
        "net = Net()\nnet.to('cpu').eval()\ntorch.jit.trace(net.to('cpu').eval(), x)",
        "net = Net()\nnet.train(False)\ntorch.jit.trace(net, x)",
        "net = Net()\nif x.sum() > 0:\n    net.eval()\ntorch.jit.trace(net, x)",
        "net = Net()\nprepare(net)\ntorch.jit.trace(net, x)",
        "net = Net()\nnet.prepare()\ntorch.jit.trace(net, x)",
        "net = Net()\nnet = wrap(net)\ntorch.jit.trace(net, x)",
        "def export(net):\n    return torch.jit.trace(net, x)",
        "net = load()\ntorch.jit.trace(net, x)",
        "from elsewhere import Model\ntorch.jit.trace(Model(), x)",
        "from mine import trace\ntrace(Net(), x)",
    ],
)
def test_a_mode_that_may_be_eval_is_not_reported(found, source):
    assert found(source, mine="def trace(net, x):\n    return net\n") == []


def test_a_mode_is_followed_until_it_changes(found):
    assert found("""
        net = Net().eval()
        torch.jit.trace(net, x)
        net.train()
        torch.jit.trace(net, x)
        net.eval()
        torch.jit.trace(net, x)
    """) == ["TSG402"]


def test_a_function_that_makes_a_module_is_looked_into(found):
    builders = """
        from use import Net

        def ready():
            return Net().eval()

        def raw(rate=0.5):
            return Net(rate)
    """
    source = "from builders import ready, raw\n"
    assert found(source + "torch.jit.trace(ready(), x)", builders=builders) == []
    assert found(source + "torch.jit.trace(raw(), x)", builders=builders) == ["TSG402"]
    assert found(source + "torch.jit.trace(raw(0.0), x)", builders=builders) == []


def test_scripted_modules_keep_their_mode_until_they_are_frozen_or_saved(found):
    assert found("""
        scripted = torch.jit.script(Net())
        scripted.save("a.pt")
        torch.jit.freeze(scripted)
        scripted.eval()
        scripted.save("a.pt")
        torch.jit.freeze(scripted)
        torch.jit.freeze(torch.jit.trace(nn.Linear(2, 2).eval(), x)).save("b.pt")
    """) == ["TSG413", "TSG403"]


def test_optimizing_for_inference_leaves_a_module_in_eval_mode(found):
    assert found("""
        scripted = torch.jit.script(Net())
        torch.jit.optimize_for_inference(scripted)
        scripted.save("a.pt")
    """) == ["TSG404"]


def test_eager_modules_are_told_from_compiled_ones(found):
    assert found("""
        torch.jit.save(Net().eval(), "a.pt")
        torch.jit.save(torch.jit.script(Net().eval()), "a.pt")
        torch.jit.save(make(), "a.pt")
        torch.jit.optimize_for_inference(nn.Linear(2, 2).eval())
    """) == ["TSG418", "TSG418"]


def test_script_methods_need_a_script_module_that_is_known(found):
    assert found("""
        import os
        from elsewhere import Base

        Module = torch.jit.ScriptModule if os.environ.get("JIT") else nn.Module

        class Unknown(Base):
            @torch.jit.script_method
            def forward(self, x):
                return x

        class Chosen(Module):
            @torch.jit.script_method
            def forward(self, x):
                return x

        class Plain(nn.Module):
            @torch.jit.script_method
            def forward(self, x):
                return x
    """) == ["TSG406"]


def test_a_script_module_without_a_forward_of_its_own_is_left_alone(found):
    assert (
        found("""
        class Base(torch.jit.ScriptModule):
            def describe(self):
                return "base"
    """)
        == []
    )


@pytest.mark.parametrize(
    "source",
    [
        "from typing import *\n\ndef f(x: List[int]): ...",
        "from typing import List\n\ndef f(x: List[int]): ...",
        "try:\n    from typing import List\nexcept ImportError:\n    List = list\n\ndef f(x: List[int]): ...",
        "import typing\n\ndef f(x: typing.List[int]): ...",
        "def f(x: 'List[int]'): ...",
        "def f(x):\n    y: List[int] = []\n    return y",
        "def f():\n    from typing import List\n    def g(x: List[int]): ...\n    return g",
    ],
)
def test_annotations_that_python_can_evaluate_are_left_alone(found, source):
    assert found(source, "import torch.jit\n") == []


def test_postponed_annotations_are_left_alone(found):
    source = "def f(x: List[int]): ..."
    assert found(source, "from __future__ import annotations\nimport torch.jit\n") == []
    assert found(source, "import torch.jit\n") == ["TSG416"]


def test_each_missing_name_is_told_once_where_it_is_first_evaluated(found):
    source = """
        class Options:
            sizes: List[int]

        def f(x: List[int], y: Tuple[int, int]) -> Tuple[int, int]:
            z: Dict[str, int] = {}
            return y
    """
    assert found(source, "import torch.jit\n") == ["TSG416", "TSG416"]


def test_unused_is_left_alone_where_something_is_scripted(found):
    source = """
        class Branching(nn.Module):
            @torch.jit.unused
            def pick(self, x):
                if x.sum() > 0:
                    return x
                return -x

            def forward(self, x):
                return self.pick(x)

        torch.jit.trace(Branching(), x)
    """
    assert found(source) == ["TSG409"]
    assert found(source + "    torch.jit.script(Net().eval())\n") == []


def test_ignored_functions_that_compiled_code_never_calls_can_be_saved(found):
    source = """
        class Logged(nn.Module):
            @torch.jit.ignore
            def log(self, x: torch.Tensor) -> None:
                print(x)

            def forward(self, x):
                {call}
                return x

        torch.jit.script(Logged()).save("a.pt")
    """
    assert found(source.format(call="pass")) == []
    assert found(source.format(call="self.log(x)")) == ["TSG410"]


def test_arguments_given_by_unpacking_may_be_anything(found):
    assert (
        found("""
        options = {"map_location": "cpu"}
        torch.jit.load("a.pt", **options)
        torch.jit.trace(*[Net().eval(), x])
        torch.jit.trace(Net().eval(), **{"example_inputs": x})
    """)
        == []
    )


def test_files_that_do_not_mention_jit_cost_nothing(found):
    assert found("def f(x: List[int]): ...", "import torch\n") == []
