"""Containers without item types in annotations: where torch takes them."""

from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


class ListOfLists(nn.Module):
    def forward(self, x: Tensor, parts: List[list]):
        return x * len(parts)


class ListOfTuples(nn.Module):
    def forward(self, x: Tensor, parts: "list[tuple]"):
        return x, len(parts)


class ListOrNone(nn.Module):
    inputs = lambda: (torch.rand(2),)

    def forward(self, x: Tensor, parts: list | None = None):
        return x if parts is None else x * 2


class OptionalList(nn.Module):
    def forward(self, x: Tensor, parts: Optional[list] = None):
        return x if parts is None else x * 2


class OptionalOfBareList(nn.Module):
    def forward(self, x: Tensor, parts: Optional[List] = None):
        return x if parts is None else x * 2


class DictOfLists(nn.Module):
    def forward(self, x: Tensor, parts: Dict[str, list]):
        return x * len(parts)


class TupleOfLists(nn.Module):
    def forward(self, x: Tensor, parts: Tuple[list, int]):
        return x


class ReturnsBareTuple(nn.Module):
    def forward(self, x: Tensor) -> Tuple:
        return x, x


class ReturnsTuple(nn.Module):
    inputs = lambda: (torch.rand(2),)

    def forward(self, x: Tensor) -> tuple:
        return x, x


class BareDictInIsinstance(nn.Module):
    def forward(self, x: Dict[str, Tensor]):
        return x["a"] if isinstance(x, Dict) else x["b"]


class ListInIsinstance(nn.Module):
    inputs = lambda: ([torch.rand(2)],)

    def forward(self, x: List[Tensor]):
        return x[0] if isinstance(x, list) else x[1]


class OptionalListInIsinstance(nn.Module):
    def forward(self, x: Any):
        return torch.jit.isinstance(x, Optional[list])


class ListOfListsInIsinstance(nn.Module):
    inputs = lambda: (torch.rand(2),)

    def forward(self, x: Any):
        return torch.jit.isinstance(x, List[list])


class AnnotatedAsBareDict(nn.Module):
    def forward(self, x: Tensor):
        return torch.jit.annotate(Dict, {"a": x})
