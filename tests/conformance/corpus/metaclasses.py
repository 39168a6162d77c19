"""Classes whose metaclass makes their instances in a way of its own."""

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(2, 3),)
class Plain(type):
    def __new__(cls, name, bases, dict):
        return super().__new__(cls, name, bases, dict)
class PrePost(Plain):
    def __call__(cls, *args, **kwargs):
        res = cls.__new__(cls)
        if type(res) == cls:
            if hasattr(res, "__pre_init__"):
                res.__pre_init__(*args, **kwargs)
            res.__init__(*args, **kwargs)
            if hasattr(res, "__post_init__"):
                res.__post_init__(*args, **kwargs)
        return res
class Module(nn.Module, metaclass=PrePost):
    def __pre_init__(self, *args, **kwargs):
        super().__init__()
    def __init__(self):
        pass
class A(Module):
    inputs = X

    def __init__(self, k: int = 3):
        self.fc = nn.Linear(k, 2)
    def forward(self, x: Tensor):
        return self.fc(x)
class Post(type):
    def __call__(cls, *args, **kwargs):
        obj = super().__call__(*args, **kwargs)
        obj.finish()
        return obj
class Base(nn.Module, metaclass=Post):
    def finish(self):
        self.scale = 2.0
class B(Base):
    inputs = X

    def __init__(self, k: int = 3):
        super().__init__()
        self.fc = nn.Linear(k, 2)
    def forward(self, x: Tensor):
        return self.fc(x) * self.scale
class C(Base):
    inputs = X

    def __init__(self, k: int = 3):
        super().__init__()
        self.fc = nn.Linear(k, 2)
    def forward(self, x: Tensor):
        return self.fc(x) * self.shift
class Post2(type):
    def __call__(cls, *args, **kwargs):
        obj = type.__call__(cls, *args, **kwargs)
        obj.finish()
        return obj
class D(nn.Module, metaclass=Post2):
    inputs = X

    def __init__(self, k: int = 3):
        super().__init__()
    def finish(self):
        self.fc = nn.Linear(3,3)
    def forward(self, x: Tensor):
        return self.fc(x)
class E(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.d = D(3)
        self.a = A(3)
    def forward(self, x: Tensor):
        return self.d(x) + self.a(x)
class F(Module):
    inputs = X

    def __init__(self, k: int = 3):
        self.fc = nn.Linear(k, 2)
    def forward(self, x: Tensor):
        return self.fd(x)
