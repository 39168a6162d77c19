"""An input without an annotation is what its use tells: torch.jit.trace refuses what is no tensor."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import torch

from tests.judges.test_trace_consequences import is_traced_right, verdict

REFUSED = {
    "a size": "def f(x, H, W):\n    return x.view(x.shape[0], H, W)",
    "a size after some arithmetic": "def f(x, h, w):\n    return x.transpose(1, 2).reshape(-1, 2 * h * w)",
    "sizes in a tuple": "def f(x, size):\n    H, W = size\n    return x.view(-1, H, W)",
    "a size of what is made": "def f(x, n):\n    return x + torch.zeros(3, n)",
    "a size that is handed on": """
        class Inner(nn.Module):
            def forward(self, x, n):
                return x.expand(n, -1)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x, n):
                return self.inner(x, n + 1)
    """,
    "a size where the image is reduced, which it is not by default": """
        class Net(nn.Module):
            def __init__(self, ratio=1):
                super().__init__()
                self.ratio = ratio

            def forward(self, x, H, W):
                b, n, c = x.shape
                if self.ratio > 1:
                    x = x.transpose(1, 2).reshape(b, c, H, W).flatten(2).transpose(1, 2)
                return x * 2
    """,
    "a function": "def f(x, activation):\n    return x + activation(x)",
    "an object": "def f(batch):\n    return batch.nodes + 1",
}

TAKEN = {
    "a tensor of which a size is taken": "def f(x, y):\n    return x.view(y.shape[0], -1)",
    "a name that is a size later": """
        class Net(nn.Module):
            def forward(self, x, y):
                x, y = x + y, x.shape[0]
                return x.view(y, -1)
    """,
    "an index": "def f(x, index):\n    return x[index]",
    "what is calculated of a tensor": "def f(x, y):\n    return x * y + y.mean()",
    "a tensor by its annotation": "def f(x, n: torch.Tensor):\n    return x.view(2, n)",
    "an attribute that is looked for": "def f(x, y):\n    return y.decode(x) if hasattr(y, 'decode') else x + y.mean()",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_tensor_cannot_be_traced(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, REFUSED[case]) == "hazardous"


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_one_can(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, TAKEN[case]) == "safe"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("Nested", "hazardous"),
        ("Callable[[torch.Tensor], torch.Tensor]", "hazardous"),
        ("torch.device", "hazardous"),
        ("Named", "safe"),
        ("Mine", "safe"),
    ],
)
def test_an_input_annotated_with_a_class_is_an_object_of_it(
    tmp_path: Path, annotation: str, expected: str
) -> None:
    """Dicts and tensors of a class of their own are taken; other objects are not."""
    source = f"""
    from collections.abc import Callable

    class Nested:
        def __init__(self, tensors):
            self.tensors = tensors

    class Named(dict):
        pass

    class Mine(torch.Tensor):
        pass

    def f(x, other: {annotation}):
        return x + 1
    """
    assert verdict(tmp_path, source) == expected


def test_a_check_that_raises_itself_tells_no_kind(tmp_path: Path) -> None:
    assert verdict(tmp_path, "def f(x):\n    assert isinstance(x)\n    return x + 1") == "unknown"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("typing.Iterable", "hazardous"),
        ("abc.Collection", "hazardous"),
        ("abc.Reversible", "hazardous"),
        ("typing.SupportsFloat", "hazardous"),
        ("(list, abc.Sized)", "hazardous"),
        ("object", "hazardous"),
        ("abc.Sequence", "safe"),
        ("(abc.Mapping, list)", "safe"),
        ("abc.Callable", "safe"),
        ("typing.SupportsBytes", "safe"),
    ],
)
def test_a_tensor_is_of_the_abstract_classes_whose_methods_it_has(
    tmp_path: Path, asked: str, expected: str
) -> None:
    """Rows that are taken one by one are those of the example; a tensor in a list is all of it."""
    source = f"""
    import typing
    from collections import abc

    def f(x):
        rows = x if isinstance(x, {asked}) else [x, x]
        return sum(row * n for row, n in zip(rows, (1, 2, 3)))
    """
    assert verdict(tmp_path, source) == expected
    x, other = torch.ones(2, 3), torch.ones(3, 3)
    assert is_traced_right(tmp_path, textwrap.dedent(source), x, other) == (expected == "safe")
