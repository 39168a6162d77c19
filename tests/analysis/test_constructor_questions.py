"""Worlds in which a constructor raises tell nothing; a parameter found to be a module is no longer its default."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.exploration import explore
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import built
from tsguard.analysis.worlds import World
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = "from torch import nn\n\n\n"
CALLS_PART = """
    def forward(self, x):
        return self.part(x)
"""
ASSERTED = """\
class Net(nn.Module):
    def __init__(self, part: nn.Module = None):
        super().__init__()
        self.part = part
        assert part is not None
"""
ALL_ASSERTED = """\
class Net(nn.Module):
    def __init__(self, part: nn.Module = None, norm: nn.Module = None):
        super().__init__()
        self.part = part
        self.norm = norm
        assert all(given is not None for given in (self.part, self.norm))
"""
PARSED = """\
def parse(part):
    if part == "relu":
        return nn.ReLU()
    assert isinstance(part, nn.Module)
    return part


class Net(nn.Module):
    def __init__(self, part="relu"):
        super().__init__()
        self.part = parse(part)
"""
PARSED_OR_RAISED = """\
def parse(part):
    if part == "relu":
        part = nn.ReLU()
    elif not isinstance(part, nn.Module):
        raise ValueError(part)
    return part


class Net(nn.Module):
    def __init__(self, part="relu"):
        super().__init__()
        self.part = parse(part)
"""
LEFT_OUT = """\
class Net(nn.Module):
    def __init__(self, part: nn.Module = None):
        super().__init__()
        self.part = part
"""
MADE = """\
class Net(nn.Module):
    def __init__(self, made: bool = True):
        super().__init__()
        self.part = nn.ReLU() if made else None
"""
PADDED = """\
class Net(nn.Embedding):
    def __init__(self, size: int, padding: int):
        if padding is not None:
            size += padding
        super().__init__(size, 8, padding)

    def forward(self, x):
        return x.ne(self.padding_idx).int() + self.padding_idx
"""

FITTED = """\
class Fit(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.weight = nn.Parameter(self.fitted(torch.rand(8, width), torch.rand(8, 3)))

    def fitted(self, x, y):
        assert x.dim() == 2 and x.size(1) == self.width
        found = torch.linalg.lstsq(x, y).solution.t()
        assert found.size() == (y.size(1), self.width) or found.size() == (self.width, y.size(1))
        return found.contiguous()

    def forward(self, x):
        return x @ self.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(*[Fit(width) for width in (3, 4, 5)])
"""

READ_FROM_THE_ENVIRONMENT = """\
import os


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.ReLU() if {question} else lambda x: x
"""


def _verdict(folder: Path, source: str) -> str:
    path = folder / "net.py"
    path.write_text(HEAD + source, encoding="utf-8")
    project = Project(())
    return judge_script(Program(project), find_target(project.module(path), "Net")).verdict


@pytest.mark.parametrize("constructor", [ASSERTED, ALL_ASSERTED, PARSED, PARSED_OR_RAISED])
def test_only_arguments_that_construct_count(tmp_path: Path, constructor: str):
    assert _verdict(tmp_path, constructor + CALLS_PART) in ("ok", "unknown")


def test_a_default_that_constructs_counts(tmp_path: Path):
    assert _verdict(tmp_path, LEFT_OUT + CALLS_PART) == "depends"
    assert _verdict(tmp_path, LEFT_OUT + CALLS_PART.replace("(x)", "(lambda: x)")) == "blocked"


def test_only_arguments_that_python_can_call_with_count(tmp_path: Path):
    assert _verdict(tmp_path, MADE + CALLS_PART) == "ok"
    assert _verdict(tmp_path, MADE.replace("None", "lambda x: x") + CALLS_PART) == "depends"
    on_one_way = CALLS_PART.replace("self.part(x)", "self.part(x) if x.sum() > 0 else x")
    assert _verdict(tmp_path, MADE + on_one_way) == "depends"
    exported = "\n    @torch.jit.export\n    def infer(self, x):\n        return x\n" + CALLS_PART
    assert (
        _verdict(tmp_path, "import torch\n\n\n" + MADE + exported) == "depends"
    )  # what users call may be infer
    later = "\n    def set(self, part):\n        self.part = part\n"
    assert _verdict(tmp_path, MADE + later + CALLS_PART) == "depends"
    first_of_none = MADE.replace("nn.ReLU() if made else None", "nn.ModuleList([nn.ReLU()] if made else [])")
    assert _verdict(tmp_path, first_of_none + CALLS_PART.replace("part", "part[0]")) == "ok"


def test_what_a_constructor_asserts_of_a_tensor_that_it_computes_holds_for_each(tmp_path: Path):
    assert _verdict(tmp_path, "import torch\n\n\n" + FITTED + CALLS_PART) == "ok"


def test_a_number_given_to_a_layer_is_not_the_layers_default(tmp_path: Path):
    assert _verdict(tmp_path, PADDED) == "ok"


@pytest.mark.parametrize(
    "question",
    [
        "os.getenv('LEVEL') is None",
        "os.environ.get('LEVEL') is None",
        "os.getenv('LEVEL', '0') == '0'",
        "'LEVEL' not in os.environ",
    ],
)
def test_an_environment_variable_that_nothing_tells_of_is_unset_first(tmp_path: Path, question: str):
    set_otherwise = READ_FROM_THE_ENVIRONMENT.format(question=question) + CALLS_PART
    assert _verdict(tmp_path, set_otherwise) == "depends"
    needed = READ_FROM_THE_ENVIRONMENT.format(question=f"not ({question})") + CALLS_PART
    assert _verdict(tmp_path, needed) == "blocked"


TRAINING = """\
class Net(nn.Module):
    def __init__(self{parameter}):
        super().__init__()
        self.scale = 1.0 if self.training else lambda: 2.0

    def forward(self, x):
        return x * self.scale
"""
NESTED = """\
class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.scale = 1.0
        for one in sizes:
            for other in sizes:
                if one != other:
                    self.scale = lambda: 2.0

    def forward(self, x):
        return x * self.scale
"""


@pytest.mark.parametrize("parameter", ["", ", training", ", training=False"])
def test_a_module_is_in_training_while_it_is_made(tmp_path: Path, parameter: str):
    assert _verdict(tmp_path, TRAINING.format(parameter=parameter)) == "ok"


def test_items_of_nested_loops_are_not_one_item(tmp_path: Path):
    path = tmp_path / "net.py"
    path.write_text(HEAD + NESTED, encoding="utf-8")
    project = Project(())
    outcome = judge_script(Program(project), find_target(project.module(path), "Net"))
    assert [when for _, when in outcome.events] == ["sizes[i] != sizes[j]"]


HANDED_ON = """\
from collections.abc import Iterable
from itertools import repeat

from torch import nn


def pair(x):
    return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, 2))


def is_static(size, stride):
    if any([isinstance(v, (tuple, list)) for v in [size, stride]]):
        return all([is_static(*each) for each in zip(pair(size), pair(stride))])
    return stride == 1 and size % 2 == 1


class Net(nn.Module):
    def __init__(self, size=3, stride=1):
        super().__init__()
        self.static = is_static(size, stride)

    def forward(self, x):
        return x if self.static else -x
"""


def test_what_is_a_tuple_is_iterated_and_ends_the_recursion(tmp_path: Path):
    path = tmp_path / "net.py"
    path.write_text(HANDED_ON, encoding="utf-8")
    project = Project(())
    program, target = Program(project), find_target(project.module(path), "Net")
    spent: list[int] = []

    def run(world: World) -> None:
        interp = PythonInterpreter(program, world)
        built(interp, target)
        spent.append(world.spent)

    asked = [str(answer) for answer, _, _ in explore(run) if answer is not None]
    assert "isinstance(size, (tuple, list))" in asked
    assert max(spent) < 1_000


SET_BY_KIND = """\
class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        if isinstance(size, int):
            size = (size, size)
        self.size = size

    def forward(self, x):
        return x.new_zeros(self.size[0])
"""


def test_what_is_of_another_class_than_its_default_is_no_longer_that(tmp_path: Path):
    assert _verdict(tmp_path, SET_BY_KIND) in ("ok", "unknown")


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("inspect.isclass(nn.GELU)", "blocked"),
        ("inspect.isfunction(nn.GELU)", "ok"),
        ("inspect.ismethod(nn.GELU)", "ok"),
        ("inspect.isfunction(nn.init._no_grad_fill_)", "depends"),
    ],
)
def test_inspect_knows_a_class_that_the_tables_describe(question: str, verdict: str, tmp_path: Path) -> None:
    source = f"""\
import inspect
from torch import nn


class Refused(nn.Module):
    def forward(self, x):
        return [v for v in x if v]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Refused() if {question} else nn.ReLU()

    def forward(self, x):
        return self.part(x)
"""
    file = tmp_path / "net.py"
    file.write_text(source)
    project = Project()
    assert judge_script(Program(project), find_target(project.module(file), "Net")).verdict == verdict
