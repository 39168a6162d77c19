"""What findings on sizes say is of the very expression, and what they advise gives eager's results when traced."""

from __future__ import annotations

import pytest
import torch

SOURCE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        y = x[:, 1:].flatten()
        return {result}
"""


@pytest.mark.parametrize(
    ("result", "says", "advises"),
    [
        ("x * len(y)", "the first size of y to a constant", "use y.size(0), which stays symbolic"),
        ("x * len(x)", "the first size of x to a constant", "use x.size(0), which stays symbolic"),
        ("x[: min(x.size(0), 4)]", "compares sizes of x", "slice instead: "),
        (
            "x / max(x.size(0) - 1, 1)",
            "compares sizes of x",
            "compute what needs it in a function under @torch.jit.script_if_tracing that takes the tensor",
        ),
    ],
)
def test_what_is_said_of_a_size(lint, folder, result: str, says: str, advises: str) -> None:
    (folder / "net.py").write_text(SOURCE.format(result=result))
    (finding,) = (f for f in lint("net.py").report["findings"] if f["code"] == "TSG208")
    assert says in finding["message"]
    assert finding["help"].startswith(advises)


@torch.jit.script_if_tracing
def _scaled(x: torch.Tensor) -> torch.Tensor:
    return x / max(x.size(0) - 1, 1)


@pytest.mark.parametrize(
    "advised", [_scaled, lambda x: x * x[:, 1:].flatten().size(0), lambda x: x[:4]], ids=["max", "len", "min"]
)
def test_what_is_advised_is_right_for_other_sizes(advised) -> None:
    traced = torch.jit.trace(advised, torch.rand(3, 2), check_trace=False)
    for size in (1, 2, 7):
        x = torch.rand(size, 2)
        assert torch.equal(traced(x), advised(x))
