"""What ``lint --fix`` writes is right for all arguments and callers: what may be wrong for some waits for ``--unsafe-fixes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

HEAD = """\
from dataclasses import dataclass
from typing import List, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


"""

RESTING_ON_ARGUMENTS = {
    "a conversion of what may be None": """\
class Net(nn.Module):
    def __init__(self, scale=None, size=None):
        super().__init__()
        self.scale = scale
        self.size = size

    def forward(self, x):
        return F.interpolate(x, size=self.size, scale_factor=self.scale)
""",
    "a type that one of two layers asks for": """\
class Net(nn.Module):
    def __init__(self, kind="GRU"):
        super().__init__()
        self.rnn = nn.LSTM(2, 2) if kind == "LSTM" else nn.GRU(2, 2)

    def forward(self, x, h=None):
        x, h = self.rnn(x, h)
        return x, h
""",
    "a type that one of two callers asks for": """\
class Both(nn.Module):
    def forward(self, x):
        return x, x


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.both = Both()

    def forward(self, x):
        return self.both(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 2)
        self.both = Both()

    def forward(self, x):
        return self.both(self.rnn(x))
""",
    "a declaration that does not take the first value": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 1.0

    def forward(self, x):
        self.last = x
        return x
""",
    "a declaration that does not fit an heir": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        if self.mask is None:
            self.mask = x * 2
        return x


class Heir(Net):
    def __init__(self):
        super().__init__()
        self.mask = 3

    def forward(self, x):
        return x * self.mask
""",
    "a result that heirs make": """\
class Base(nn.Module):
    def forward(self, x) -> torch.Tensor:
        return self.made(x)


class Net(Base):
    def made(self, x):
        return x, x


class Plain(Base):
    def made(self, x):
        return x
""",
    "a field of a dataclass": """\
@dataclass(eq=False)
class Net(nn.Module):
    size: int = 4
    act: Optional[nn.Module] = None

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        nn.Module.__init__(made)
        return made

    def __post_init__(self):
        self.fc = nn.Linear(self.size, self.size)

    def forward(self, x: Tensor):
        return self.fc(x)
""",
}


def _fixed(folder: Path, text: str, *, unsafe: bool) -> str:
    path = folder / "net.py"
    path.write_text(HEAD + text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    fix(plan([parse(str(path), settings)], settings), settings, unsafe=unsafe)
    return path.read_text(encoding="utf-8")[len(HEAD) :]


@pytest.mark.parametrize("text", RESTING_ON_ARGUMENTS.values(), ids=RESTING_ON_ARGUMENTS)
def test_what_is_right_for_some_arguments_only_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    assert _fixed(tmp_path, text, unsafe=False) == text


def test_what_is_added_where_alone_it_is_missing_is_right_for_all(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self, use_pad: bool = False):
        super().__init__()
        self.use_pad = use_pad
        if use_pad:
            self.pad = nn.ZeroPad2d(1)

    def forward(self, x: Tensor) -> Tensor:
        if self.use_pad:
            x = self.pad(x)
        return x
"""
    assert _fixed(tmp_path, text, unsafe=False) != text


@pytest.mark.parametrize("kept", ["self.names = names", "self.names: List[str] = names"])
def test_an_empty_list_is_declared_as_the_constructor_says(tmp_path: Path, kept: str) -> None:
    text = f"""\
class Net(nn.Module):
    def __init__(self, names: List[str] = []):
        super().__init__()
        {kept}

    def forward(self, x):
        return x * 2 if len(self.names) > 1 else x
"""
    assert "\n    names: List[str]\n" in _fixed(tmp_path, text, unsafe=True)


OTHERWISE_IN_EAGER = {
    "a gradient manager that torch.jit.script does not enter": """\
class Net(nn.Module):
    @torch.enable_grad()
    def forward(self, x):
        return x * 2
""",
    "a function that is defined twice": """\
class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            def act(y):
                return y * 2
        else:
            def act(y):
                return y * 3
        return act(x)
""",
    "a flag that a derived class sets in forward": """\
class Net(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.causal = causal

    def forward(self, x):
        if self.causal:
            mask = x > 1
        x = x * 2
        if self.causal:
            x = x.masked_fill(mask, 0.0)
        return x


class Heir(Net):
    def forward(self, x):
        self.causal = False
        return x * 2
""",
    "arguments that change what the next one reads": """\
class Net(nn.Module):
    @torch.jit.ignore
    def mix(self, a: Tensor, b: Tensor, w: Tensor) -> Tensor:
        return a + b * w

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x, w=x.abs_().clone(), b=x.mul_(2).clone())
""",
    "levels of which nobody says that they are a Tensor": """\
class Net(nn.Module):
    def forward(self, levels):
        low, high = levels[-2:]
        return low + high
""",
    "functions of one name in two classes": """\
class Net(nn.Module):
    def forward(self, x):
        def step(y):
            return y * 2

        return step(x)


class Other(nn.Module):
    def forward(self, x):
        def step(y):
            return y * 3

        return step(x)
""",
    "a function that has the name of one that Python has": """\
class Net(nn.Module):
    def forward(self, x):
        def round(y):
            return y * 2

        return round(x)
""",
    "a default that each call makes anew": """\
class Net(nn.Module):
    def forward(self, x):
        def counted(y, seen=[]):
            seen.append(1)
            return y * len(seen)

        return counted(x)
""",
    "a parent that is not the next class for an heir": """\
class Base(nn.Module):
    def forward(self, x):
        return x


class Net(Base):
    def forward(self, x):
        return super().forward(x) + 1


class Tenfold(Base):
    def forward(self, x):
        return x * 10


class Heir(Net, Tenfold):
    pass
""",
}


@pytest.mark.parametrize("text", OTHERWISE_IN_EAGER.values(), ids=OTHERWISE_IN_EAGER)
def test_what_would_change_eager_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    assert _fixed(tmp_path, text, unsafe=False) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y @= torch.ones(5, 5)", "y = y @ torch.ones(5, 5)"),
        ("y //= 2", "y = y // 2"),
        ("y = y + 1  # noqa: TSG101, E501", "y = y + 1  # noqa: E501"),
        ("y = y + 1  # noqa: E501, TSG101", "y = y + 1  # noqa: E501"),
    ],
)
def test_what_is_written_instead(tmp_path: Path, before: str, after: str) -> None:
    text = f"""\
class Net(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        {before}
        return y
"""
    assert _fixed(tmp_path, text, unsafe=True) == text.replace(before, after)


NOT_TENSORS = {
    "modules": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        chosen = self.a if x.sum() > 3 else self.b
        return chosen(x)
""",
    "functions": """\
class Net(nn.Module):
    def forward(self, x):
        op = torch.add
        if x.sum() > 0:
            op = torch.sub
        return op(x, x)
""",
}


@pytest.mark.parametrize("text", NOT_TENSORS.values(), ids=NOT_TENSORS)
def test_what_is_called_is_not_chosen_with_where(tmp_path: Path, text: str) -> None:
    fixed = _fixed(tmp_path, text, unsafe=True)
    assert "where" not in fixed
    assert "script_if_tracing" not in fixed


@pytest.mark.parametrize(
    "body",
    [
        # the loop that is written would leave another value in the variable
        ["i = 100", "rows = [x * i for i in range(4) if i % 2 == 0]", "return torch.stack(rows).sum() + i"],
        # what the calls give would have to be written within what is written for them
        ["double = lambda t: t * 2", "return double(double(x))"],
        # the name is read before it is assigned
        ["n = 1", "return x * n + (n := 2)"],
        ["if x.size(0) > 1:", "    x = x + 1", "elif (n := x.size(1)) > 2:", "    x = x * n", "return x"],
    ],
    ids=lambda body: body[-1],
)
def test_what_cannot_be_written_otherwise_stays(tmp_path: Path, body: list[str]) -> None:
    lines = "".join(f"        {line}\n" for line in body)
    text = f"class Net(nn.Module):\n    def forward(self, x: Tensor):\n{lines}"
    assert _fixed(tmp_path, text, unsafe=True) == text


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("x.size(-1) ** -0.5", "float"),
        ("x.shape[0] // 2", "int"),
        ("1.0 / math.sqrt(x.size(1))", "float"),
        ("torch.ones(5)", "Tensor"),
    ],
)
def test_what_stands_for_none_tells_the_type_of_a_parameter(tmp_path: Path, value: str, type_: str) -> None:
    text = f"""\
class Net(nn.Module):
    def forward(self, x, scale=None):
        if scale is None:
            scale = {value}
        return x * scale
"""
    assert f"scale: Optional[{type_}] = None" in _fixed(tmp_path, text, unsafe=True)


@pytest.mark.parametrize(
    ("annotation", "test", "written"),
    [
        ("Optional[int]", "if n:", "if n is not None and n != 0:"),
        ("Optional[float]", "if not n:", "if n is None or n == 0:"),
        ("Optional[str]", "if n:", "if n is not None and len(n) > 0:"),
        ("Optional[List[int]]", "if not n:", "if n is None or len(n) == 0:"),
        ("Optional[int]", "if flag and n:", "if flag and (n is not None and n != 0):"),
    ],
)
def test_what_is_false_besides_none_is_asked_for(
    tmp_path: Path, annotation: str, test: str, written: str
) -> None:
    text = f"""\
class Net(nn.Module):
    def forward(self, x: Tensor, flag: bool, n: {annotation} = None) -> Tensor:
        {test}
            x = x + 1
        return x
"""
    assert _fixed(tmp_path, text, unsafe=False) == text.replace(test, written)


def test_an_empty_container_of_modules_is_false(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict()

    def forward(self, x):
        if not self.heads:
            x = x + 1
        return x
"""
    fixed = _fixed(tmp_path, text, unsafe=False)
    assert fixed == text.replace("not self.heads", "len(self.heads) == 0")


def test_a_name_that_other_keywords_may_have_stays_by_position(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def forward(self, x, k: int = 1, /, **options):
        return x * k
"""
    assert _fixed(tmp_path, text, unsafe=False) == text


def test_a_negative_number_is_written_out_in_parentheses(tmp_path: Path) -> None:
    text = """\
OFFSET = -3


def powered(x):
    return x * OFFSET**2


class Net(nn.Module):
    def forward(self, x):
        return powered(x)
"""
    assert "return x * (-3)**2" in _fixed(tmp_path, text, unsafe=False)


def test_no_empty_lines_are_left_where_something_stood(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def forward(self, x):
        def double(y):
            return y * 2

        def triple(y):
            return y * 3

        # what they are for
        return double(x) + triple(x)
"""
    assert "def forward(self, x):\n        # what they are for\n" in _fixed(tmp_path, text, unsafe=False)


def test_an_argument_whose_type_is_asked_for_gets_none_from_one_branch(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def forward(self, x, ys):
        if torch.is_tensor(ys):
            return x + ys
        return x + torch.cat(ys)
"""
    assert "def forward(self, x, ys):" in _fixed(tmp_path, text, unsafe=False)


def test_an_empty_default_that_is_made_in_the_body_has_its_type(tmp_path: Path) -> None:
    text = """\
class Net(nn.Module):
    def forward(self, x: Tensor, sizes: List[int] = []) -> Tensor:
        return x + len(sizes)
"""
    fixed = _fixed(tmp_path, text, unsafe=True)
    assert "sizes: Optional[List[int]] = None" in fixed
    assert "            sizes = torch.jit.annotate(List[int], [])\n" in fixed
