"""Random numbers with one outcome only: ``random.randrange(shift + 1)`` where nothing is to be shifted."""

from __future__ import annotations

from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.operations import default_of
from tsguard.analysis.values import Const, ListValue, TupleValue, Value, constant

_WHOLE = frozenset({"random.randrange", "numpy.random.randint"})
_BETWEEN = frozenset({"random.randint", "random.uniform", "numpy.random.uniform"})
_AMONG = frozenset({"random.choice"})


def only_outcome(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """What a function that draws gives in every call, by default; None where that may be another each time."""
    if kwargs:
        return None
    args = [default_of(interp.settled(value)) or value for value in args]
    if name in _AMONG and len(args) == 1 and isinstance(args[0], (ListValue, TupleValue)):
        return args[0].items[0] if len(args[0].items) == 1 and not args[0].open else None
    numbers = [n for n in map(constant, args) if isinstance(n, (int, float))]
    if len(numbers) < len(args):
        return None
    if name in _WHOLE and len(numbers) in (1, 2):
        first, last = (0, numbers[0]) if len(numbers) == 1 else numbers
        return Const(first) if last == first + 1 else None
    is_one = name in _BETWEEN and len(numbers) == 2 and numbers[0] == numbers[1]
    if not is_one:
        return None
    return Const(float(numbers[0]) if name.endswith("uniform") else numbers[0])
