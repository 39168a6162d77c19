"""Small files that several tests lint."""

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Other(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x
"""
BROKEN = "def forward(self, x:\n"
STALE = "x = 1  # tsguard: ignore[TSG999]\n"
