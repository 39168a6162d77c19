"""Code close to the pages' examples: tsguard judges it as torch does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, linted

IMPORTS = """\
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize, prune, remove_weight_norm, weight_norm


class Doubled(nn.Module):
    def forward(self, weight):
        double = lambda w: 2 * w
        return double(weight)
"""

EARLY_EXITS = {
    "the with block's value is returned": """
        if n > 2:
            return x
        with torch.no_grad():
            y = x * 2
        return y""",
    "the value is not used": """
        if n > 2:
            return x
        with torch.no_grad():
            y = x * 2
        return x""",
    "the with block returns what it computes": """
        if n > 2:
            return x
        with torch.no_grad():
            return x * 2""",
    "the with block comes first": """
        with torch.no_grad():
            y = x * 2
        if n > 2:
            return y
        return y + 1""",
    "the rest is an else branch": """
        if n > 2:
            return x
        else:
            with torch.no_grad():
                y = x * 2
            return y""",
    "the exit is in a nested if": """
        if n > 2:
            if n > 4:
                return x
        with torch.no_grad():
            y = x * 2
        return y""",
    "the exit is in a loop": """
        for i in range(n):
            if i > 3:
                return x
        with torch.no_grad():
            x = x * 2
        return x""",
    "both are in a loop": """
        for i in range(n):
            if i > 3:
                break
            with torch.no_grad():
                x = x * 2
        return x""",
    "the exit raises": """
        if n > 200:
            raise ValueError("too many")
        with torch.no_grad():
            y = x * 2
        return y""",
    "the exit is in the with block": """
        with torch.no_grad():
            if n > 2:
                return x
            y = x * 2
        return y""",
    "the exit is in the with block that returns": """
        with torch.no_grad():
            if n > 2:
                return x
            return x * 2""",
    "the with block is in a later branch": """
        if n > 2:
            return x
        if n > 1:
            with torch.no_grad():
                x = x * 2
        return x""",
}

FUNCTIONS = {
    "del of a variable of the function": """
        y = x * 2
        if n > 1:
            del y
        return x""",
    "del of a variable of a branch": """
        if n > 1:
            y = x * 2
            del y
        return x""",
    "an exception as a value": """
        print(ValueError("no"))
        return x""",
    "an exception in a variable": """
        error = ValueError("no")
        if n > 4:
            raise error
        return x""",
    "a Tensor of a size": """
        return x * torch.tensor([n, x.size(0)])""",
    "a Tensor of an item": """
        return x * torch.tensor([x.sum().item()])""",
    "a bool and a mask": """
        return (n > 1) & (x > 0)""",
    "an int before a Tensor": """
        return n * x + (1 - x)""",
    "max of sizes": """
        return x[: max(1, x.size(0) // n)]""",
    "max of one Tensor": """
        return max(x)""",
}

MODULES = {
    "a parent's constructor called by name": """
        def __init__(self):
            nn.Module.__init__(self)
            self.scale = 2.0

        def forward(self, x: Tensor, n: int) -> Tensor:
            return x * self.scale""",
    "a submodule assigned another of its kind": """
        def __init__(self):
            super().__init__()
            self.first = nn.ReLU()
            self.second = nn.ReLU()

        def forward(self, x: Tensor, n: int) -> Tensor:
            self.first = self.second
            return self.first(x)""",
    "a submodule assigned a Tensor": """
        def __init__(self):
            super().__init__()
            self.first = nn.ReLU()

        def forward(self, x: Tensor, n: int) -> Tensor:
            self.first = x
            return x""",
    "weight_norm that is removed": """
        def __init__(self):
            super().__init__()
            self.fc = weight_norm(nn.Linear(2, 2))
            remove_weight_norm(self.fc)

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.fc(x)""",
    "pruning that is made permanent": """
        def __init__(self):
            super().__init__()
            self.fc = prune.l1_unstructured(nn.Linear(2, 2), "weight", 0.5)
            prune.remove(self.fc, "weight")

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.fc(x)""",
    "a parametrized layer that is not used": """
        def __init__(self):
            super().__init__()
            self.fc = parametrizations.weight_norm(nn.Linear(2, 2))

        def forward(self, x: Tensor, n: int) -> Tensor:
            return x""",
    "a parametrization that does not compile": """
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            parametrize.register_parametrization(self.fc, "weight", Doubled())

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.fc(x)""",
    "parameters unpacked": """
        def __init__(self):
            super().__init__()
            self.scales = nn.ParameterList([torch.ones(2), torch.ones(2)])

        def forward(self, x: Tensor, n: int) -> Tensor:
            first, second = self.scales
            return x * first * second""",
    "a ModuleList that grows": """
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(2, 2)])

        def forward(self, x: Tensor, n: int) -> Tensor:
            self.layers.append(self.layers[0])
            return x""",
    "a None default that raises": """
        def forward(self, x: Tensor, n: int, mask=None) -> Tensor:
            if n > 100 and mask is None:
                raise ValueError("a mask is needed")
            return x""",
    "a None default of which only the test matters": """
        def forward(self, x: Tensor, n: int, weighted=None) -> Tensor:
            if weighted is not None:
                return 2 * x
            return x""",
}

INPUTS = """

def example_inputs():
    return (torch.tensor([[0.5, 1.5], [2.5, 4.5]]), 3)
"""


def _dedented(body: str, spaces: int) -> str:
    return "\n".join(line[8 - spaces :] for line in body.strip("\n").splitlines())


def _cases() -> list[object]:
    functions = EARLY_EXITS | FUNCTIONS
    headed = {name: f"def target(x: Tensor, n: int):\n{_dedented(b, 4)}" for name, b in functions.items()}
    modules = {name: f"class Target(nn.Module):\n{_dedented(b, 4)}" for name, b in MODULES.items()}
    sources = {name: f"{IMPORTS}\n\n{text}\n{INPUTS}" for name, text in (headed | modules).items()}
    return [
        pytest.param(Example("TSG100", "good", number, text), id=name.replace(" ", "-"))
        for number, (name, text) in enumerate(sources.items())
    ]


@pytest.mark.parametrize("example", _cases())
def test_tsguard_judges_as_torch_does(example: Example, tmp_path: Path, torch_process: TorchProcess):
    seen = torch_process.observe("script", example.write(tmp_path), example.target)
    broken = not all(call["equal"] for call in seen["calls"].values())
    truth = "blocked" if seen["error"] is not None else "broken" if broken else "ok"
    assert linted(example).target.script.verdict == truth
