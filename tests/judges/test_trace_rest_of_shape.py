"""The rest of a shape from an index on, of a tensor of which nobody knows how many dimensions it has."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import verdict

MODULE = """\
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        {body}
"""
WRONG = {
    "unpacked and compared": "h, w = x.shape[2:]\n        return x * 2 if h > w else x",
    "the greatest of what is unpacked": "h, w = x.shape[2:]\n        return x * max(w, h)",
    "the rest of the rest": "h, w = x.shape[1:][1:]\n        return x * max(w, h)",
    "items of the rest": "s = x.shape[2:]\n        return x * max(s[1], s[0])",
    "the last of the rest": "s = x.shape[2:]\n        return x * max(s[-1], s[0])",
    "the rest the other way round": "w, h = reversed(x.shape[2:])\n        return x * max(w, h)",
    "a list of sizes that is changed": "s = list(x.shape)\n        s[0] = 1\n        return x * 2 if s[0] == x.shape[0] else x",
    "the last of such a list": "s = list(x.shape)\n        return x * int(s.pop())",
    "such a list that is sorted": "s = list(x.shape)\n        s.sort()\n        return x * s[-1]",
    "an item of such a list": "s = list(x.shape)\n        return x * 2 if s[1] == x.shape[0] else x",
    "how many different sizes there are": "return x * len(set(x.shape))",
    "a number put into several places": "s = list(x.shape)\n        s[1:] = [int(x.shape[1])] * (len(s) - 1)\n        return torch.zeros(s)",
    "numbers of all sizes": "n, m = [int(s) for s in x.shape[2:]]\n        return x.new_ones(n, m) + 0 * x.mean()",
    "numbers of sizes of which nobody knows how many": (
        "a, b, n, m = [int(s) for s in x.shape]\n        return torch.ones(n, m) + 0 * x.mean()"
    ),
    "such numbers one by one": "a, b, n, m = (int(s) for s in x.shape)\n        return torch.ones(n, m) + 0 * x.mean()",
    "such numbers that are mapped": "a, b, n, m = map(int, x.shape)\n        return torch.ones(n, m) + 0 * x.mean()",
    "steps": "b, h = x.shape[::2]\n        return x * max(b, h)",
}
ROWS = """\
idx = torch.zeros(x.shape[0], 4, dtype=torch.long)
        sizes, repeats = list(idx.shape), list(idx.shape)
        sizes[1:] = [1] * (len(sizes) - 1)
        repeats[0] = 1
        rows = torch.arange(x.shape[0], dtype=torch.long).to(x.device).view(sizes).repeat(repeats)
        y = x.permute(0, 2, 3, 1)[rows, idx, :]
        return y * 2 if y.shape[1] == 4 else y"""
RIGHT = {
    "several sizes changed at once": (
        "s = list(x.shape[:2])\n        s[1:] = [1] * (len(s) - 1)\n"
        "        b = torch.arange(x.shape[0]).view(s)\n        return x * 2 if b.shape[1] == 1 else x"
    ),
    "rows by indices of as many dimensions": ROWS,
    "steps of a list of sizes": "s = list(x[:1].shape)\n        s[::4] = [-1]\n        return x[:1].reshape(s)",
    "sizes of which nobody knows how many": "a, b, n, m = [s for s in x.shape]\n        return torch.ones(n, m) + 0 * x.mean()",
    "a product of what is unpacked": "b, c = x.shape[:2]\n        h, w = x.shape[2:]\n        return x.reshape(b, c, h * w)",
    "a list of sizes of which one is changed": (
        "s = list(x.shape)\n        s[-1] = 1\n        return x + x.new_ones(s)"
    ),
    "the last dimension under two names": (
        "h, w = x.shape[2:]\n        return x * 2 if w == x.shape[3] and x.dim() == 4 else x"
    ),
}


def is_wrong(body: str) -> bool:
    names: dict[str, type[torch.nn.Module]] = {}
    exec(MODULE.format(body=body), names)
    net = names["Net"]()
    traced = torch.jit.trace(net, (torch.ones(1, 1, 2, 3),), check_trace=False)
    for sizes in ((1, 1, 5, 2), (1, 2, 2, 2), (9, 1, 2, 3)):
        x = torch.ones(sizes)
        if traced(x).shape != net(x).shape or not torch.equal(traced(x), net(x)):
            return True
    return False


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_its_sizes_are_not_one_size(tmp_path: Path, body: str) -> None:
    assert is_wrong(body)
    assert verdict(tmp_path, MODULE.format(body=body)) == "hazardous"


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_each_is_the_size_of_its_dimension(tmp_path: Path, body: str) -> None:
    assert not is_wrong(body)
    assert verdict(tmp_path, MODULE.format(body=body)) == "safe"
