"""What Python makes of plain values in a forward decides what is traced: each claim here is true in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from tests.judges.test_trace_consequences import verdict

SIZES = "rows, columns = x.shape\ny = self.layer(x)"
CLAIMS = {
    "numbers in order": ("", "sorted([3, 1, 2]) == [1, 2, 3]"),
    "numbers in the order of a key": ("", "sorted([3, 1, 2], key=lambda n: -n)[0] == 3"),
    "keys in order": ("", "sorted({'b': 1, 'a': 2}) == ['a', 'b']"),
    "sizes in order": (SIZES, "sorted([y.shape[1], 2]) == [2, 5]"),
    "a list of sizes that is sorted": (f"{SIZES}\nfound = [y.shape[1], 2]\nfound.sort()", "found[0] == 2"),
    "the largest size of a list": (SIZES, "max([y.shape[1]] + [2]) == 5"),
    "a size without its sign": (SIZES, "abs(-y.shape[1]) == 5"),
    "a size turned round": (SIZES, "~y.shape[1] == -6"),
    "a dict in another order": ("d = dict(a=1, b=2)\nd = OrderedDict(d)\nd.move_to_end('a')", "list(d) == ['b', 'a']"),
    "a dict that is emptied": ("d = dict(a=1)\nd.clear()", "len(d) == 0"),
    "the last of a dict": ("d = dict(a=1, b=2)\npair = d.popitem()", "pair == ('b', 2) and len(d) == 1"),
    "a dict of keys": ("d = dict.fromkeys('ab', 0)", "d == {'a': 0, 'b': 0}"),
    "parameters by name": ("", "[n for n, _ in self.layer.named_parameters()] == ['weight', 'bias']"),
    "a parameter": ("", "isinstance(self.layer.weight, nn.Parameter)"),
    "the name of a class": ("try:\n    raise KeyError\nexcept KeyError as e:\n    name = type(e).__name__", "name == 'KeyError'"),
    "numbers that are close": ("", "math.isclose(math.pi, 3.14, rel_tol=0.1)"),
    "a tensor without a gradient": ("", "x.grad is None"),
    "gradients that are off": ("with torch.no_grad():\n    on = torch.is_grad_enabled()", "not on"),
    "a default of a function": ("def add(found=[]):\n    found.append(1)\n    return len(found)\nadd()", "add() == 2"),
    "the dtype of a cast": ("", "x.half().dtype == torch.float16"),
    "the very dtype of a cast": ("", "x.to(torch.float64).dtype is torch.float64"),
    "whole numbers": ("", "not x.long().is_floating_point() and x.bool().element_size() == 1"),
    "the dtype of a comparison": ("", "(x > 0).dtype == torch.bool"),
}  # fmt: skip
HEAD = "import math\nfrom collections import OrderedDict\nimport torch\nfrom torch import nn\n"


def _source(name: str, *, is_true: bool) -> str:
    """A module whose trace is right if the claim is as it is said to be here, and wrong if not."""
    setup, claim = CLAIMS[name]
    body = [
        *setup.splitlines(),
        f"if {claim if is_true else f'not ({claim})'}:",
        "    return x * 2",
        "return x * len(x)",
    ]
    lines = "\n".join(f"        {line}" for line in body)
    made = "    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(4, 5)\n"
    return f"class Net(nn.Module):\n{made}\n    def forward(self, x: torch.Tensor):\n{lines}\n"


@pytest.mark.parametrize("name", CLAIMS)
def test_the_judge_decides_as_python_does(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, HEAD + _source(name, is_true=True)) == "safe"
    assert verdict(tmp_path, HEAD + _source(name, is_true=False)) == "hazardous"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLAIMS)
def test_a_trace_goes_the_same_way(name: str) -> None:
    names: dict[str, object] = {}
    exec(HEAD + _source(name, is_true=True), names)
    make = names["Net"]
    assert callable(make)
    net: nn.Module = make()
    traced = torch.jit.trace(net, (torch.ones(2, 4),), check_trace=False)
    assert torch.equal(traced(torch.ones(3, 4)), net(torch.ones(3, 4)))
