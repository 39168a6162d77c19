"""Layers looked up in objects that the module registers functions and classes with, and chosen by words."""

import re
from collections import namedtuple
from keyword import iskeyword

import torch
from torch import Tensor, nn


class Store:
    _Entry = namedtuple("_Entry", ("description", "value"))
    def __init__(self, name: str):
        self.entries = {}
        self.name = name
        self.__doc__ = f"{name}: "
    def add(self, name, description, value):
        if not name.isidentifier() or iskeyword(name):
            raise ValueError("no name")
        self.entries[name.upper()] = self._Entry(description, value)
        return value
    def factory(self, name):
        def keep(function):
            self.add(name, function.__doc__ or "", function)
            self.__doc__ += f"{', ' if len(self.entries) > 1 else ' '}``{name}``"
            return function
        return keep
    def add_class(self, name, cls):
        self.add(name, "", lambda dim=None: cls)
    def __getattr__(self, key):
        if key in self.entries:
            return key
        return super().__getattribute__(key)
    def __getitem__(self, args):
        if callable(args):
            return args
        if isinstance(args, str):
            name, args = args, ()
        else:
            name, *args = args
        if name.upper() not in self.entries:
            raise KeyError(name)
        return self.entries[name.upper()].value(*args)

Conv = Store("convolutions")
Norm = Store("norms")
Act = Store("activations")
Act.add_class("relu", nn.ReLU)
Act.add_class("prelu", nn.PReLU)

@Conv.factory("conv")
def conv_factory(dim: int):
    """Convolutions."""
    types = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
    return types[dim - 1]

@Norm.factory("batch")
def batch_factory(dim: int):
    return (nn.BatchNorm1d, nn.BatchNorm2d)[dim - 1]

class Block(nn.Module):
    inputs = lambda: (torch.rand(2, 3, 8, 8),)
    def __init__(self):
        super().__init__()
        self.conv = Conv[Conv.CONV, 2](3, 4, 3)
        self.norm = Norm[Norm.BATCH, 2](4)
        self.act = Act[("relu")](inplace=True)
    def forward(self, x: Tensor):
        return self.act(self.norm(self.conv(x)))
class Wrong(nn.Module):
    inputs = lambda: (torch.rand(2, 3, 8, 8),)
    def __init__(self):
        super().__init__()
        self.conv = Conv[Conv.CONV, 2](3, 4, 3)
        self.act = Act["prelu"]
    def forward(self, x: Tensor):
        return self.act(self.conv(x))
class Wrong2(nn.Module):
    inputs = lambda: (torch.rand(2, 3, 8, 8),)
    def __init__(self):
        super().__init__()
        self.conv = Conv[Conv.CONV, 2](3, 4, 3)
    def forward(self, x: Tensor):
        if self.conv.track_running_stats:
            x = x * 2
        return self.conv(x)


X = lambda: (torch.rand(2, 3),)


class NamedInWords(nn.Module):
    inputs = X

    def __init__(self, name: str = "relu_inplace"):
        super().__init__()
        words = re.split(f"[{re.escape('-_')}]", name)
        self.act = nn.ReLU() if words[0] == "relu" else None

    def forward(self, x):
        return self.act(x)
