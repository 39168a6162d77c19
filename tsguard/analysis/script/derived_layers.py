"""Classes derived from a recurrent layer that inherit its ``forward``, and with it no overload of it.

torch finds the overloads of a method by the name of the class that is compiled
(torch/_jit_internal.py, ``_get_overloaded_methods``): a derived class has none, and one that has
the layer's name is taken for a layer that was declared twice.
"""

from __future__ import annotations

from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.values import ClassValue, ModuleValue

# torch/nn/modules/rnn.py: what overloads forward by what it is given for the state.
_OVERLOADED = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def inherited_overloads(interp: Interpreter, instance: ModuleValue) -> str:
    """The layer whose overloaded ``forward`` a derived class inherits, as ``nn.LSTM``; "" for any other."""
    cls = instance.cls
    if not isinstance(cls, ClassValue) or classes.class_member(interp, cls, "forward") is not None:
        return ""
    base = next((name for name in ancestry.kin(interp, cls) if name in _OVERLOADED), "")
    return f"nn.{base.rpartition('.')[2]}" if base else ""


def never_compiles(instance: ModuleValue, base: str) -> bool:
    """Whether it is refused however it is called: without overloads LSTM's state is a Tensor and a tuple."""
    return base == "nn.LSTM" or (isinstance(instance.cls, ClassValue) and f"nn.{instance.cls.name}" == base)
