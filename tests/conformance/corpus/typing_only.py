"""Names that only type checkers see, where annotations are not evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    import elsewhere as other
    import somewhere.else_
    from collections import OrderedDict as Data
    from typing import List, Optional

    from somewhere.parts import Part
    from somewhere.parts import Thing as Three
    from torch import Tensor

X = lambda: (torch.rand(2, 3),)


class A(nn.Module):
    inputs = X

    def forward(self, g: Tensor) -> Tensor:
        return g
class B(nn.Module):
    inputs = lambda: ([torch.rand(2, 3)],)

    def forward(self, g: List[Tensor]) -> Tensor:
        return g[0]
class C(nn.Module):
    inputs = X

    def forward(self, g: Optional[Tensor]):
        return g
class D(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor) -> Part:
        return g
class E(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor, s: Three):
        return g
class F(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor, s: somewhere.else_.Baz):
        return g
class G(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor, s: other.Baz):
        return g
class H(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor, s: int | Part):
        return g
class I(nn.Module):
    inputs = X

    def forward(self, g: torch.Tensor):
        s: Part = g
        return g
class J(nn.Module):
    inputs = X

    k: Part
    def forward(self, g: torch.Tensor):
        return g
class K(nn.Module):
    inputs = X

    k: Part
    def __init__(self):
        super().__init__()
        self.k = 3
    def forward(self, g: torch.Tensor):
        return g
