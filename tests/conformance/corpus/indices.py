"""Ellipses, written and named, and what an object's own index takes."""

from torch import nn


class A(nn.Module):
    def forward(self, x):
        return x[Ellipsis, 0] + x[..., 1]


class A2(nn.Module):
    def forward(self, x):
        return x[Ellipsis]


class B(nn.Module):
    def forward(self, x):
        return x[...,]


class C(nn.Module):
    def forward(self, x):
        x[...] = 0
        x[Ellipsis, 0] = 1
        x[...] += 1
        return x


class D(nn.Module):
    def forward(self, x):
        return (x, ...)


class D2(nn.Module):
    def forward(self, x):
        rest = Ellipsis
        return x


class Row:
    def __getitem__(self, i: int):
        return i


class E(nn.Module):
    def __init__(self):
        super().__init__()
        self.row = Row()

    def forward(self, x):
        return x + self.row["a"]
