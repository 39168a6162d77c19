"""What methods of a text give by default: ``kind.lower().startswith("fast")`` of a ``kind="avg"``."""

from __future__ import annotations

from tsguard.analysis.python import operations, sizes
from tsguard.analysis.python.folding import folded_default
from tsguard.analysis.values import BoundMethod, Const, External, Unknown, Value, constant


def method(owner: Unknown, name: str) -> BoundMethod | None:
    """A method of what is a text by default."""
    usual = owner.default
    is_text = isinstance(usual, Const) and isinstance(usual.value, str) and hasattr(str, name)
    return BoundMethod(External(f"method.{name}"), usual) if is_text and usual is not None else None


def result(called: Value | None, args: list[Value]) -> Value | None:
    """What such a method gives where its arguments, too, have a value by default."""
    if not (isinstance(called, BoundMethod) and isinstance(called.function, External)):
        return None
    receiver = constant(called.receiver)
    defaults = [operations.default_of(arg) for arg in args]
    given = [constant(default) for default in defaults if default is not None]
    if not isinstance(receiver, str) or len(given) < len(args) or any(isinstance(v, Value) for v in given):
        return None
    function = getattr(receiver, called.function.name.removeprefix("method."), None)
    return None if function is None else folded_default(sizes.method, (function, receiver, given, {}))
