"""What the mode may decide besides a branch: an item, a method's argument, a function, how often a loop runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges.mode import judge_mode
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("done", torch.tensor(True))
        self.register_buffer("begun", torch.tensor(False))

    def forward(self, x):
        {forward}
"""
DEPENDENT = {
    "a sign": "return x if self.training else -x",
    "an item": "return (x, -x)[self.training]",
    "an item by a text": 'return {"train": x, "eval": -x}["train" if self.training else "eval"]',
    "the item of a tensor": "return x[:, int(self.training)]",
    "a piece of a tensor": "return x[:, : 2 if self.training else 3]",
    "a dimension": "return x.sum(1 if self.training else 0)",
    "a dtype": "return x.to(torch.float64 if self.training else torch.float32)",
    "a function": "return (F.relu, torch.abs)[self.training](x)",
    "the name of a function": 'return getattr(torch, "relu" if self.training else "abs")(x)',
    "the name of a layer": 'return getattr(self, "one" if self.training else "other")(x)',
    "how often a loop runs": "y = x\n        for _ in range(1 + self.training):\n            y = y + 1\n        return y",
    "whether a loop runs": "y = x\n        while self.training:\n            y = y + 1\n            break\n        return y",
    "a case": "match self.training:\n            case True:\n                return x\n            case _:\n                return -x",
    "which rows are written": "y = x.clone()\n        y[: int(self.training)] = 0\n        return y",
    "what is not set up yet": "return x if self.begun else x * torch.rand(4)",
    "what is written": "y = x.clone()\n        y[0] = float(self.training)\n        return y",
    "what a comprehension leaves out": "return torch.cat([c for i, c in enumerate(x.chunk(2, 1)) if self.training or i])",
    "how much a comprehension makes": "return torch.stack([x * i for i in range(2 + self.training)])",
    "what a sum is over": "return sum(x * i for i in range(3 if self.training else 2))",
    "the key of a comprehension": 'kept = {("a" if self.training else "b"): 2.0 for _ in range(1)}\n'
    '        return x * kept.get("a", 1.0)',
    "how long a list is": "kept = [x]\n        kept += [x] * self.training\n        return kept",
    "any of the layers": "return x * (2 if any(layer.training for layer in self.modules()) else 1)",
    "how many layers": "return x * len([layer for layer in self.modules() if layer.training])",
    "a key with a default": 'return {"a": x}.get("a" if self.training else "b", x * 2)',
    "a text": 'return x * float(f"{int(self.training)}")',
    "what a statement does": "kept = [x, x * 2]\n        kept.reverse() if self.training else None\n        return kept[0]",
    "what is raised and caught": "try:\n            if self.training:\n                raise ValueError\n"
    "            y = x\n        except ValueError:\n            y = -x\n        return y",
    "what is asserted and caught": "try:\n            assert self.training\n            y = x\n"
    "        except AssertionError:\n            y = -x\n        return y",
    "whether it raises": 'if self.training:\n            raise RuntimeError("for inference only")\n        return x',
    "whether it passes a check": "assert not self.training\n        return x",
    "whether a clone is written into": "y = x.clone() if self.training else x\n        y += 1\n        return x + y",
    "whether the input is cloned first": "z = y = x * 1\n        if self.training:\n            y = y.clone()\n"
    "        y += 1\n        return y + z",
    "what nobody has written": "return torch.empty(30, 40)",
    "numbers of torch's own generator": "return x + torch.rand(4, generator=torch.default_generator)",
    "numbers of a generator that is given a seed that changes": "g = torch.Generator()\n        g.seed()\n"
    "        return x + torch.rand(4, generator=g)",
    "dropout after a seed that changes": "torch.manual_seed(3)\n        torch.seed()\n        return torch.dropout(x, 0.5, True)",
    "dropout before a seed": "y = torch.dropout(x, 0.5, True)\n        torch.manual_seed(3)\n        return y",
    "what a name holds that nobody has written": "y = torch.empty(30, 40)\n        return y",
}
INDEPENDENT = {
    "the same item twice": "return (x, x)[self.training]",
    "whether gradients are wanted": "return (x * 2).requires_grad_(self.training)",
    "what is set up": "return x if self.done else x * torch.rand(4)",
    "what is not asked for again": "if not self.done:\n            x = x * torch.rand(4)\n        return x",
    "a check of an argument": 'if self.training and x.dim() == 7:\n            raise ValueError("no")\n        return x',
    "a check that is raised again": "try:\n            if self.training and x.dim() == 7:\n                raise ValueError\n"
    "        except ValueError as error:\n            raise RuntimeError from error\n        return x",
    "a check of few inputs": "if x.dim() == 7:\n            if self.training:\n                raise ValueError\n        return x",
    "whether gradients are recorded": "with torch.no_grad() if not self.training else torch.enable_grad():\n"
    "            return self.one(x)",
    "memory that is filled": "y = torch.empty(30, 40)\n        y[:] = 1\n        return y",
    "the same of each layer": "return sum(layer(x) for layer in (self.one, self.other) if self.training or True)",
    "dropout after a seed": "torch.manual_seed(3)\n        return torch.dropout(x, 0.5, True)",
    "numbers of a generator that the call makes": "g = torch.Generator().manual_seed(3)\n"
    "        return x + torch.rand(4, generator=g)",
    "numbers of a new generator": "return x + torch.rand(4, generator=torch.Generator())",
    "nothing": "kept = (x, -x)\n        return kept[0]",
}
CASES = {**DEPENDENT, **INDEPENDENT}
# What memory holds may be the same twice: torch promises nothing of it (the documentation of torch.empty).
UNDEFINED = frozenset({"what nobody has written", "what a name holds that nobody has written"})


@pytest.mark.parametrize("name", CASES)
def test_the_judge_says_as_torch_does(tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(NET.format(forward=CASES[name]), encoding="utf-8")
    project = Project((tmp_path,))
    outcome = judge_mode(Program(project), find_target(project.module(path), "Net"))
    assert outcome.verdict == ("dependent" if name in DEPENDENT else "independent")

    module = load(str(path))
    torch.manual_seed(0)
    net, x = module.Net(), torch.randn(4, 4)
    trained, evaluated = _result(net.train(), x), _result(net.eval(), x)
    if name not in UNDEFINED:
        assert _are_alike(trained, evaluated) == (name in INDEPENDENT)


def _result(net: Any, x: torch.Tensor) -> torch.Tensor | None:
    """What a call gives, None where it raises."""
    try:
        result = net(x)
    except (AssertionError, RuntimeError):
        return None
    return torch.cat(result) if isinstance(result, list) else result


def _are_alike(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def test_what_is_written_is_told_where_it_is_written(tmp_path: Path) -> None:
    forward = "y = x.clone()\n        y[: int(self.training)] = helper(x)\n        return y\n\n\ndef helper(x):\n    z = x[0] * 2\n    return z"
    path = tmp_path / "model.py"
    path.write_text(NET.format(forward=forward), encoding="utf-8")
    project = Project((tmp_path,))
    outcome = judge_mode(Program(project), find_target(project.module(path), "Net"))
    [(event, _)] = outcome.events
    written = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if "helper(x)" in line)
    assert event.span.line == written
