"""Decorators of other modules, marks that are set by hand, functions that are only read, torch's version."""

import functools

import torch
import torch.nn.functional as functional
from torch import nn

VERSION = torch.__version__
MAJOR = str(VERSION)


def compiled_while_tracing(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        if not torch.jit.is_tracing():
            return fn(*args, **kwargs)
        return torch.jit.script(wrapper.__original_fn)(*args, **kwargs)

    wrapper.__original_fn = fn
    wrapper.__script_if_tracing_wrapper = True
    return wrapper


@compiled_while_tracing
def scaled(x, n: int = 2):
    return x * n


@compiled_while_tracing
def untyped(x, n=2):
    return x * n


class A(nn.Module):
    def forward(self, x):
        return scaled(x)


class A2(nn.Module):
    def forward(self, x):
        return untyped(x)


class B(nn.Module):
    @torch.compile
    def forward(self, x):
        return functional.relu(x)


class B2(nn.Module):
    @torch.compiler.disable
    def forward(self, x):
        return torch.relu(x)


class C(nn.Module):
    @torch.profiler.record_function("forward")
    def forward(self, x):
        return torch.relu(x)


class C2(nn.Module):
    @torch.cuda.amp.custom_fwd
    def forward(self, x):
        return torch.relu(x)


def starred(x, *, a: int = 1):
    return x


def plain(x):
    return x


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True

    def forward(self, x):
        chosen = starred if self.first else plain
        return chosen(x)


class E(nn.Module):
    def __init__(self):
        super().__init__()
        self.version = torch.__version__
        if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 0):
            self.scale = 2

    def forward(self, x):
        if self.version == "0" or torch.__version__ == "0":
            return x
        return x * self.scale


class E2(nn.Module):
    def forward(self, x):
        if VERSION == "0":
            return x
        return x + 1


class E3(nn.Module):
    def forward(self, x):
        if MAJOR == "0":
            return x
        return x + 1
