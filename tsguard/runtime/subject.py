"""What is to be attempted: one target as a worker needs to know it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Subject:
    """One target.

    ``file`` is absolute, ``shown`` as reports write it, ``module`` the name it is imported by from the folder ``root``.
    ``constructor`` is the expression to evaluate in the file (``Net(64)``), None to find
    one. ``inputs`` are expressions for the arguments of ``forward``, ``name=EXPR`` for
    keywords, None to find them. Both are what the user gave or an earlier worker found;
    ``guessed`` tells that the inputs are a worker's guess.
    """

    spec: str
    file: str
    shown: str
    root: str
    module: str
    qualname: str
    kind: Literal["module", "function"]
    constructor: str | None = None
    inputs: tuple[str, ...] | None = None
    search_paths: tuple[str, ...] = ()
    guessed: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Subject:
        inputs = value["inputs"]
        return cls(
            **{
                **value,
                "inputs": None if inputs is None else tuple(inputs),
                "search_paths": tuple(value["search_paths"]),
            }
        )
