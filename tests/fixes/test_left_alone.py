"""Places where a repair that fits elsewhere would break eager or compiled code: it is not offered, or made at the right one."""

from __future__ import annotations

import pytest

from tests.fixes.test_edits import fixed, method

__all__ = ["fixed"]

HEAD = "from typing import List, Optional, Tuple\n"
LEFT_ALONE = {
    "the variable of a comprehension exists in it alone": method(
        "self, x, masks: List[Optional[torch.Tensor]]", "return torch.stack([m + x for m in masks])"
    ),
    "what a comprehension unpacks is not the comprehension": method(
        "self, x, pairs: List[torch.Tensor]", "return torch.stack([a - b for a, b in pairs])"
    ),
    "what a loop unpacks is not what it goes through": method(
        "self, x, pair: Tuple[torch.Tensor, torch.Tensor]",
        "for a, b in pair:\n            x = x + a - b\n        return x",
    ),
    "an attribute that is set and read": f"""\
{HEAD}
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        setattr(self, "scale", 2)
        return x * self.scale
""",
    "a result that is declared to be a tuple": method(
        "self, x", "return tuple([y * 2 for y in (x, x)])"
    ).replace("(self, x):", "(self, x) -> Tuple[torch.Tensor, torch.Tensor]:"),
    "a variable that is declared to be a tuple": method(
        "self, x", "size: Tuple[int, int] = tuple(x.shape)\n        return x * size[0]"
    ),
    "a range that cannot be indexed": """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])

    def forward(self, x):
        for layer, i in zip(self.layers, range(x.size(0))):
            x = layer(x) * i
        return x
""",
    "a count that may be None": method(
        "self, x, n: Optional[int] = None", "for i in range(n):\n            x = x + i\n        return x"
    ),
    "a list that is no count": method(
        "self, x", "for i in range(x.shape):\n            x = x + i\n        return x"
    ),
}


@pytest.mark.parametrize("text", list(LEFT_ALONE.values()), ids=[n.replace(" ", "-") for n in LEFT_ALONE])
def test_nothing_is_changed(fixed, text):
    text = text if text.startswith(HEAD) else HEAD + text
    assert fixed(text) == text


def test_the_part_of_a_literal_is_unbound_and_not_the_whole(fixed):
    text = method("self, x", "(a, b), scale = (x, 2)\n        return (a - b) * scale")
    assert fixed(text) == text.replace("(x, 2)", "(x.unbind(0), 2)")


DECLARED = """\
from typing import Optional

from torch import Tensor, nn


class Kept(nn.Module):
    width: int

    def __init__(self):
        super().__init__()
        self.width = 1
        self.last = None

    def forward(self, x: Tensor) -> Tensor:
        self.last = x
        return x


class Net(Kept):
    depth: int

    def __init__(self):
        super().__init__()
        self.depth = 2
"""
OF_SUBMODULE = """\
from typing import Optional

from torch import Tensor, nn


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x: Tensor) -> Tensor:
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = Kept()

    def forward(self, x: Tensor) -> Tensor:
        self.kept.last = x
        return x
"""


def test_an_attribute_is_declared_in_the_class_whose_annotations_torch_reads(fixed):
    declared = fixed(DECLARED, unsafe=False)
    assert declared.count("    last: Optional[Tensor]\n") == 2
    assert "class Net(Kept):\n    last: Optional[Tensor]\n" in declared


def test_an_attribute_of_a_submodule_is_declared_in_its_class(fixed):
    assert "class Kept(nn.Module):\n    last: Optional[Tensor]\n" in fixed(OF_SUBMODULE, unsafe=False)


def test_a_tensor_and_a_part_of_it_are_not_chosen_from_as_if_they_were_of_one_shape(fixed):
    text = method("self, x", "if x.sum() > 0:\n            return x[:2]\n        return x")
    assert "torch.where" not in fixed(text)
