"""Which handler catches what evaluated code raises."""

from __future__ import annotations

import ast
import builtins
import re

from tsguard.source.unparsing import unparsed


def catches(caught: ast.expr | None, name: str, kin: tuple[str, ...]) -> bool:
    """Whether ``except caught`` takes an exception of this name, whose class derives from ``kin``."""
    classes = [getattr(builtins, base, None) for base in (name, *kin)]
    known = [cls for cls in classes if isinstance(cls, type) and issubclass(cls, BaseException)]
    bases = {cls.__name__ for raised in known for cls in raised.__mro__} | {name, *kin}
    if not known:
        bases.add("Exception")
    text = unparsed(caught) if caught is not None else ""
    return not text or not name or bool(bases & set(re.findall(r"\w+", text)))


def handler(node: ast.Try, name: str, kin: tuple[str, ...]) -> ast.ExceptHandler | None:
    """The handler of a ``try`` that takes it; None for none."""
    return next((handler for handler in node.handlers if catches(handler.type, name, kin)), None)
