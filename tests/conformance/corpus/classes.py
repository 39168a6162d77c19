"""Classes that are no modules: autograd functions, subclasses of Tensor, script classes, constants."""

import functools
import inspect
import typing
from dataclasses import dataclass
from typing import Final, Optional

import torch
from torch import Tensor, nn

X = lambda: (torch.rand(3, 3),)


class Twice(torch.autograd.Function):
    factor = 2

    @staticmethod
    def forward(ctx, x):
        if not torch.jit.is_scripting():
            ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

    @staticmethod
    def either(x):
        if torch.jit.is_scripting():
            return Twice.forward(torch.empty(0), x)
        return Twice.apply(x)


class Tagged(Tensor):
    pass


@dataclass(init=False)
class Selected:
    index: Tensor
    weight: Optional[Tensor] = None

    def __init__(self, index: Tensor, weight: Optional[Tensor] = None):
        self.index = index
        self.weight = weight


Selected = torch.jit.script(Selected)


class StaticOfFunction(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return Twice.either(x)


twice = Twice.apply


class AppliesByItsName(nn.Module):
    inputs = X

    def forward(self, x):
        return twice(x, 1)


class AppliesToKeyword(nn.Module):
    inputs = X

    def forward(self, x):
        return twice(x=x)


class AppliesToNothing(nn.Module):
    inputs = X

    def forward(self, x):
        return Twice.apply() + x


class ValueOfFunction(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        return x * Twice.factor


class TestsForTensorSubclass(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        if not torch.jit.is_scripting() and isinstance(x, Tagged):
            return x.tag
        return x


class TakesTensorSubclass(nn.Module):
    inputs = X

    def forward(self, x: Tagged):
        return x + 1


class MakesScriptedDataclass(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        chosen = Selected(x.argmax(dim=0))
        weight = chosen.weight
        return chosen.index if weight is None else weight


class SetConstant(nn.Module):
    inputs = X
    names: Final = {"a", "b"}

    def forward(self, x: Tensor):
        return x


class FunctionConstant(nn.Module):
    inputs = X
    __constants__ = ["act"]

    def __init__(self):
        super().__init__()
        self.act = torch.nn.functional.relu

    def forward(self, x: Tensor):
        return self.act(x)


class ListConstant(nn.Module):
    inputs = X
    __constants__ = ["sizes", "layer"]

    def __init__(self):
        super().__init__()
        self.sizes = [1, 2]
        self.layer = nn.ReLU()

    def forward(self, x: Tensor):
        return self.layer(x) * self.sizes[1]


class TypeChecking(nn.Module):
    inputs = X

    def forward(self, x: Tensor):
        if not typing.TYPE_CHECKING and torch.jit.is_scripting():
            layout: Optional[int] = None
        else:
            layout: Optional[torch.layout] = None
        return x


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def wrapping_with(names):
    def decorator(function):
        known = inspect.getfullargspec(function).args
        if any(name not in known for name in names):
            raise ValueError(names)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    return decorator


class Wrapped(nn.Module):
    inputs = X

    @wrapping
    def forward(self, x: Tensor):
        return x + 1


class WrappedByArguments(nn.Module):
    inputs = X

    @wrapping_with(["x"])
    def forward(self, x: Tensor):
        return torch.relu(x)


class WrappedBadly(nn.Module):
    inputs = X

    @wrapping
    def forward(self, x: Tensor):
        return x.nothing()


class TwoInputs(nn.Module):
    def forward(self, x: Tensor, batch: Tensor):
        return x + batch


class AsksForSignature(nn.Module):
    inputs = X
    takes_batch: Final[bool]

    def __init__(self, layer: Optional[nn.Module] = None):
        super().__init__()
        self.layer = nn.BatchNorm1d(3) if layer is None else layer
        self.takes_batch = "batch" in inspect.signature(self.layer.forward).parameters

    def forward(self, x: Tensor):
        return self.layer(x, x) if self.takes_batch else self.layer(x)


class AsksForSignatureOfItsOwn(AsksForSignature):
    def __init__(self):
        super().__init__(TwoInputs())


class RegisteredByName(nn.Module):
    inputs = X

    def __init__(self, name: str = "gelu"):
        super().__init__()
        known = {
            key.lower(): value
            for key, value in vars(torch.nn.modules.activation).items()
            if inspect.isclass(value) and issubclass(value, nn.Module)
        }
        self.act = known[name]()

    def forward(self, x: Tensor):
        return self.act(x)


class ReplacesItsMethod(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        if not self.run.__module__.startswith("made"):
            self.__class__.run = run

    def run(self, x):
        raise NotImplementedError

    def forward(self, x: Tensor):
        return self.run(x)


def run(self, x):
    return x + 1


class ForwardOfSlice(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x: Tensor):
        for layer in self.layers[1:]:
            x = layer.forward(x)
        return x
