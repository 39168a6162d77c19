"""What is known of the modules that a file makes, from statement to statement."""

from __future__ import annotations

import ast
from typing import Literal

from tsguard.analysis.api.usage import Usage
from tsguard.report.records import dataclass

Kind = Literal["eager", "scripted", "traced", "frozen"]
Mode = Literal["fresh", "train", "eval", "unknown"]


@dataclass(frozen=True, slots=True)
class Tracked:
    """A module that the file makes by the expression ``made``, in the mode that it is in now."""

    kind: Kind
    made: ast.expr
    mode: Mode = "fresh"


Env = dict[str, Tracked]


class Flow:
    """The modules of one scope by the expressions that name them, and those that were traced."""

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.env: Env = {}
        self.traced: list[Tracked] = []
