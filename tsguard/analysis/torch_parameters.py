"""The parameters of functions of torch, by the first schema of each."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tsguard.analysis.values import Const, Value
from tsguard.language import schemas

if TYPE_CHECKING:
    from tsguard.language.tables import Tables


def of_function(tables: Tables, name: str) -> tuple[schemas.Argument, ...]:
    """The parameters of a function of torch, in order; none where it has no schema."""
    described = tables.entry(name)
    if isinstance(described, str):
        overloads = schemas.operators(tables.release).overloads(described)
        return overloads[0].arguments if overloads else ()
    if isinstance(described, dict) and described.get("schemas"):
        return _parsed(described["schemas"][0])
    return ()


def bound(tables: Tables, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments of a call of a function of torch by name, with the defaults of those not given."""
    arguments = of_function(tables, name)
    values: dict[str, Value] = {a.name: Const(a.default) for a in arguments if a.has_default}
    values.update(zip((a.name for a in arguments), args, strict=False))
    return {**values, **kwargs}


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[schemas.Argument, ...]:
    return schemas.parse(text).arguments
