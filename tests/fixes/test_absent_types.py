"""What defaults to None is declared with the type that it is used as, or left alone: torch takes the first, eager both."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

HEAD = "import torch\nfrom torch import Tensor, nn\n\n\n"
NET = "\n\nclass Net(nn.Module):\n    def forward(self, x: Tensor) -> Tensor:\n        return {result}\n"
TOLD = {
    "a bound of a slice": (
        "def part(x: Tensor, k=None):\n    return x if k is None else x[:, :k]\n",
        "part(x) + part(x, None)",
        "k: Optional[int] = None",
    ),
    "a number of turns": (
        "def part(x: Tensor, k=None):\n    if k is not None:\n        for _ in range(k):\n            x = x + 1\n    return x\n",
        "part(x)",
        "k: Optional[int] = None",
    ),
    "an argument of an operator": (
        "def part(x: Tensor, k=None):\n    return x if k is None else x.topk(k)[0]\n",
        "part(x)",
        "k: Optional[int] = None",
    ),
    "what stands in for None": (
        "def part(x: Tensor, by=None):\n    by = 0.5 if by is None else by\n    return x * by\n",
        "part(x)",
        "by: Optional[float] = None",
    ),
    "what a call elsewhere passes": (
        "def part(x: Tensor, mode=None):\n    return x if mode is None else x.abs()\n",
        'part(x) + part(x, mode="abs")',
        "mode: Optional[str] = None",
    ),
    "what another function takes": (
        "def inner(x: Tensor, k=None):\n    if k is None:\n        k = x.size(1)\n    return x[:, :k]\n\n\n"
        "def part(x: Tensor, k=None):\n    return inner(x, k)\n",
        "part(x)",
        "def part(x: Tensor, k: Optional[int] = None)",
    ),
    "a default that is a number": (
        "def part(x: Tensor, rate=0.5):\n    return x if rate is None else x * rate\n",
        "part(x, None)",
        "rate: Optional[float] = 0.5",
    ),
    "a Tensor": (
        "def part(x: Tensor, bias=None):\n    return x if bias is None else x + bias\n",
        "part(x)",
        "bias: Optional[Tensor] = None",
    ),
}
# What is no Tensor, and of no type that the code tells.
LEFT = {
    "a function": "def part(x: Tensor, hook=None):\n    return x if hook is None else hook(x)\n",
    "a number of either kind": (
        "def part(x: Tensor, n=None):\n    n = n if n is not None else x.max().item()\n    return x * n\n"
    ),
    "a dtype": "def part(x: Tensor, kind=None):\n    return x + torch.zeros(1, dtype=kind)\n",
}


def _fixed(folder: Path, text: str) -> Path:
    path = folder / "net.py"
    path.write_text(text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    fix(plan([parse(str(path), settings)], settings), settings, unsafe=False)
    return path


@pytest.mark.parametrize("name", TOLD)
def test_the_type_is_told_by_the_use(tmp_path, name):
    helper, result, declared = TOLD[name]
    text = HEAD + helper + NET.format(result=result)
    path = _fixed(tmp_path, text)
    assert declared in path.read_text(encoding="utf-8")
    spec = importlib.util.spec_from_file_location("net", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    before: dict = {}
    exec(text, before)
    x = torch.arange(12.0).view(3, 4)
    torch.testing.assert_close(torch.jit.script(module.Net())(x), before["Net"]()(x))
    torch.testing.assert_close(module.Net()(x), before["Net"]()(x))


@pytest.mark.parametrize("name", LEFT)
def test_what_nothing_tells_the_type_of_is_left_alone(tmp_path, name):
    text = HEAD + LEFT[name] + NET.format(result="part(x)")
    assert "Optional" not in _fixed(tmp_path, text).read_text(encoding="utf-8")


OVERRIDDEN = """\
class Base(nn.Module):
    def message(self, x: Tensor, edge: Optional[Tensor] = None):
        return x

    def forward(self, x: Tensor, edge: Optional[Tensor] = None):
        return self.message(x, edge)


class Net(Base):
    def message(self, x: Tensor, edge=None):
        return x * 2
"""
EITHER = """\
class Net(nn.Module):
    def __init__(self, most=0.5):
        super().__init__()
        self.most = most

    def forward(self, x: Tensor, k: Optional[int] = None):
        k = k if k is not None else self.most
        return x.topk(int(k))[0]
"""


@pytest.mark.parametrize("text", [OVERRIDDEN, EITHER])
def test_eager_goes_on_with_what_it_was_given(tmp_path, text):
    path = tmp_path / "net.py"
    source = "from typing import Optional\n" + HEAD + text
    path.write_text(source, encoding="utf-8")
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(str(path), settings)], settings), settings, unsafe=True)
    scopes: list[dict] = [{}, {}]
    exec(source, scopes[0])
    exec(path.read_text(encoding="utf-8"), scopes[1])
    x = torch.arange(4.0)
    args = [(x,)] if text is OVERRIDDEN else [(x, 2)]
    for given in args:
        torch.testing.assert_close(scopes[1]["Net"]()(*given), scopes[0]["Net"]()(*given))
    assert "float(k)" not in path.read_text(encoding="utf-8")
