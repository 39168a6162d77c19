from __future__ import annotations
from typing import NamedTuple, Optional, List, Dict
import torch
from torch import Tensor


class Simple(NamedTuple):
    a: Tensor
    n: int


class Opt(NamedTuple):
    a: Tensor
    b: Optional[Tensor]


class Dot(NamedTuple):
    a: torch.Tensor


class Pipe(NamedTuple):
    a: Tensor | None


class Low(NamedTuple):
    a: list[Tensor]
