"""Packages that may be installed or not: what is bound where an import fails."""

import importlib.util

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(3, 3),)

try:
    import absent_package

    HAS_PACKAGE = True
except ImportError:
    absent_package = object
    HAS_PACKAGE = False

kernel = None
try:
    from absent_package.kernels import kernel
except Exception:
    pass

try:
    from absent_package import Norm
except (ImportError, ModuleNotFoundError):

    class Norm(nn.Module):
        def forward(self, x: Tensor):
            return x / x.norm()


FOUND = importlib.util.find_spec("absent_package") is not None


class FallsBack(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.has_kernel = kernel is not None
        if not HAS_PACKAGE and not FOUND:
            self.act = nn.ReLU()

    def forward(self, x: Tensor):
        return self.act(self.norm(x))


class NeedsThePackage(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        if HAS_PACKAGE:
            self.act = nn.ReLU()

    def forward(self, x: Tensor):
        return self.act(x)


class ReadsFallback(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return absent_package.relu(x)


class ImportsInConstructor(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        try:
            from absent_package import Act

            self.act = Act()
        except ModuleNotFoundError:
            self.act = nn.GELU()

    def forward(self, x: Tensor):
        return self.act(x)
