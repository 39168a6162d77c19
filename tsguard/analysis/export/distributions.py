"""``torch.distributions``: arguments and values are validated by their data.

Source: torch/distributions/distribution.py, and each class made and asked while exporting.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import report
from tsguard.analysis.trace.values import Number, Traced

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

Args = list[py.Value]
Kwargs = dict[str, py.Value]

# Those that make tensors of their own of the numbers that they are given.
_COMPUTING = frozenset({"Beta", "Dirichlet", "LKJCholesky"})
# What checks the value that it is given.
_CHECKING = frozenset({"log_prob", "cdf"})
# What draws random numbers.
_DRAWING = frozenset({"rsample", "sample", "sample_n"})
_PREFIX = "torch.distributions."
_FLAG = "_validate_args"


def made(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A distribution is made: of Python's own numbers torch.export knows that they are right."""
    given = [*args, *(value for key, value in kwargs.items() if key != "validate_args")]
    is_wrapper = name == "Independent"
    is_known = name not in _COMPUTING and all(_is_number(tracer.settled(value)) for value in given)
    if not (is_known or is_wrapper) and validates(kwargs):
        report(tracer, "data-call/distribution", node, function=name)


def _is_number(value: py.Value) -> bool:
    if isinstance(value, py.Const):
        return isinstance(value.value, (int, float))
    return isinstance(value, py.Unknown) and not isinstance(value, Number) and value.hint in ("int", "float")


def validates(kwargs: Kwargs) -> bool:
    """Whether a distribution checks what it is given, as far as its own arguments tell."""
    return py.constant(kwargs.get("validate_args", py.NONE)) is not False


def method(owner: py.Value, name: str) -> py.BoundMethod | None:
    """A method of a distribution that draws numbers, or checks the value that it is given."""
    cls = owner.cls.name if isinstance(owner, py.ObjectValue) and isinstance(owner.cls, py.External) else ""
    if name not in _CHECKING | _DRAWING or not cls.startswith(_PREFIX):
        return None
    return py.BoundMethod(py.External(f"{cls}.{name}"), owner)


def draws(name: str) -> bool:
    """Whether a method of a distribution makes random numbers."""
    return name.rpartition(".")[2] in _DRAWING


def asked(tracer: Tracer, receiver: py.Value, args: Args, node: ast.AST) -> None:
    """A method of a distribution is called, mostly for the probability of a value."""
    flag = receiver.attributes.get(_FLAG, py.NONE) if isinstance(receiver, py.ObjectValue) else py.NONE
    value = next((arg for arg in args if isinstance(arg, Traced)), None)
    if py.constant(flag) is not False and value is not None and isinstance(receiver, py.ObjectValue):
        name = getattr(receiver.cls, "name", "").rpartition(".")[2]
        report(tracer, "data-call/distribution", node, value.origin, function=name)
