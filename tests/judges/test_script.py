"""The script verdict of a class whose arguments nobody gives."""

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target


def _judged(folder: Path, source: str, target: str = "Net") -> Judgement:
    path = folder / "model.py"
    path.write_text(source, encoding="utf-8")
    project = Project((folder,))
    return judge(Program(project), find_target(project.module(path), target))


@pytest.mark.parametrize(
    ("parameter", "verdict"),
    [
        ("gain: float = 10", "blocked"),
        ("gain=10", "blocked"),
        ("gain: float = 10.0", "ok"),
        ("gain: float", "ok"),
        ("gain: int", "blocked"),
    ],
)
def test_a_whole_number_is_no_float_whatever_the_annotation_says(
    tmp_path: Path, parameter: str, verdict: str
) -> None:
    source = f"""
    import torch
    from torch import Tensor, nn

    def scaled(x: Tensor, gain: float) -> Tensor:
        return x * gain

    class Net(nn.Module):
        def __init__(self, {parameter}) -> None:
            super().__init__()
            self.gain = gain

        def forward(self, x: Tensor) -> Tensor:
            return scaled(x, self.gain)
    """
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path,))
    assert judge(Program(project), find_target(project.module(path), "Net")).script == verdict


TREE = """
from torch import nn

class Tree(nn.Module):
    def __init__(self, {parameter}):
        super().__init__()
        self.scale = 2
        self.inner = Tree(depth - 1) if depth > 0 else nn.Identity()

    def forward(self, x):
        return self.inner(x) * self.scale
"""


@pytest.mark.parametrize(
    ("parameter", "target", "verdict"),
    [
        ("depth=2", "Tree", "ok"),
        ("depth", "Tree(2)", "ok"),
        ("depth", "Tree", "unknown"),
    ],
)
def test_a_module_that_holds_its_own_kind_is_followed_as_deep_as_the_source_tells(
    tmp_path: Path, parameter: str, target: str, verdict: str
) -> None:
    judged = _judged(tmp_path, TREE.format(parameter=parameter), target)
    assert (judged.script, judged.findings) == (verdict, ())


def test_a_property_of_another_kind_is_nothing_that_the_target_returns(tmp_path: Path) -> None:
    source = """
    import torch
    from torch import Tensor, nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.depth = 3

        @property
        def stride(self):
            return 2 ** self.depth

        def forward(self, x: Tensor) -> Tensor:
            return x * 2
    """
    assert _judged(tmp_path, textwrap.dedent(source)).script == "ok"


DEFAULTS_TO_NONE = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x, mask=None):
{body}
        return self.attention(x, x, x, key_padding_mask=mask)[0]
"""


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("rows, columns = mask.shape", "ok"),
        ("assert mask.dim() == 2", "ok"),
        ("x = x + 1", "broken"),
        ("rows = 0 if mask is None else mask.size(0)", "broken"),
        ("if x.dim() == 2:\n    return x * mask.size(0)", "broken"),
        ("mask = x[..., 0]\nrows = mask.size(0)", "ok"),
        ('assert x.dim() == 3, f"{mask.shape}"', "broken"),
        ("fits = 7 < x.size(0) < mask.size(1)", "broken"),
        ("return self.attention(x, x, x, key_padding_mask=mask)[0]\nrows = mask.size(0)", "broken"),
    ],
)
def test_a_parameter_whose_attributes_are_read_in_any_case_is_never_none(
    tmp_path: Path, body: str, verdict: str
) -> None:
    source = DEFAULTS_TO_NONE.format(body=textwrap.indent(body, " " * 8))
    assert _judged(tmp_path, source).script == verdict


def test_where_a_module_refuses_to_be_prepared_is_said_in_the_file_it_lies_in(tmp_path: Path) -> None:
    helper = "\n" * 40 + "def refuse():\n    raise ValueError('eager only')\n"
    (tmp_path / "helper.py").write_text(helper, encoding="utf-8")
    source = """
    from torch import nn
    from helper import refuse

    class Net(nn.Module):
        def __prepare_scriptable__(self):
            refuse()

        def forward(self, x):
            return x
    """
    source = textwrap.dedent(source)
    (found,) = _judged(tmp_path, source).findings
    assert Path(found.path).name == "model.py"
    assert "__prepare_scriptable__" in source.splitlines()[found.line - 1]


def test_a_guess_refuses_no_preparation(tmp_path: Path) -> None:
    source = """
    from torch import nn

    class Old(nn.Module):
        def __init__(self, low=None, high=None):
            super().__init__()
            if low is not None and not 0 <= low <= high <= 1:
                raise ValueError("order")

        def forward(self, x):
            return x

    class Net(nn.Module):
        def __init__(self, bounds=None):
            super().__init__()
            self.low, self.high = (None, None) if bounds is None else (float(bounds[0]), float(bounds[1]))

        def __prepare_scriptable__(self):
            return Old(self.low, self.high)

        def forward(self, *inputs):
            return inputs
    """
    judgement = _judged(tmp_path, textwrap.dedent(source))
    assert (judgement.script, judgement.findings) == ("ok", ())


def test_super_is_known_in_a_comprehension(tmp_path: Path) -> None:
    source = """
    from torch import nn

    class Base(nn.Module):
        def settings(self):
            return {"mixed": False}

    class Net(Base):
        def __init__(self):
            super().__init__()
            settings = {name: value for name, value in super().settings().items()}
            self.table = {"a": 1, 2: 3} if settings["mixed"] else None

        def forward(self, x):
            return x if self.table is None else x + self.table["a"]
    """
    assert _judged(tmp_path, textwrap.dedent(source)).script == "ok"
