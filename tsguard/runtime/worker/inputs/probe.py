"""One trial call, watched: how far it came, what failed, and which inputs were involved."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary

from tsguard.runtime.worker.errors import message_of
from tsguard.runtime.worker.running import Call, asks_for_gradients
from tsguard.runtime.worker.values import leaves


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that an operation was given: its shape, and the inputs that it was made from."""

    origins: frozenset[str]
    shape: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a trial failed.

    ``operation`` is the torch function that raised ("" where plain Python did) with its
    ``operands``; ``last`` are the operands of the last operation that was begun; ``blamed``
    the inputs behind the Python object that the error is about, where it tells; ``frame``
    and ``line`` where in the Python code outside torch it was raised.
    """

    error: Exception
    message: str
    operation: str
    operands: tuple[Operand, ...]
    last: tuple[Operand, ...]
    blamed: frozenset[str]
    survived: int
    frame: FrameType | None
    line: int

    @property
    def suspects(self) -> frozenset[str]:
        """The inputs most probably at fault, maybe none."""
        for operands in (self.operands, self.last):
            found = frozenset().union(*(o.origins for o in operands)) - {""}
            if self.blamed or found:
                return self.blamed or found
        return frozenset()


class TooSlow(Exception):
    """A trial took too long for a guess; smaller inputs may do."""


class _Watch(TorchFunctionMode):
    def __init__(self, origins: WeakIdKeyDictionary, deadline: float) -> None:
        super().__init__()
        self.deadline = deadline
        self.origins = origins
        self.count = 0
        self.last: tuple[Operand, ...] = ()
        self.failed: tuple[Exception, str, tuple[Operand, ...]] | None = None

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if time.monotonic() > self.deadline:
            raise TooSlow("the call takes too long")
        self.count += 1
        self.last = tuple(self._operands(args, kwargs))
        operands = self.last
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if self.failed is None or self.failed[0] is not error:
                self.failed = (error, _name_of(func), operands)
            raise
        origins = frozenset().union(*(o.origins for o in operands))
        if origins:
            for _, leaf in leaves(result):
                if isinstance(leaf, Tensor):
                    self.origins[leaf] = origins | self.origins_of(leaf)
        return result

    def origins_of(self, tensor: Tensor) -> frozenset[str]:
        found: frozenset[str] = self.origins.get(tensor, frozenset())
        return found

    def _operands(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Operand]:
        for _, leaf in leaves((args, tuple(kwargs.values()))):
            if isinstance(leaf, Tensor) and not is_lazy(leaf):
                yield Operand(self.origins_of(leaf), tuple(leaf.shape), leaf.dtype)


def _name_of(func: Any) -> str:
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return str(getattr(getattr(func, "__self__", None), "__name__", ""))
    return str(name)


def attempt(callee: Any, call: Call, names: dict[int, str], seconds: float) -> Trouble | None:
    """Call once without gradients, watching; None when the call came through.

    Args:
        names: the parameter's name for each tensor of the call, by ``id``.
        seconds: after how long to give up, at the next operation.
    """
    origins = WeakIdKeyDictionary()
    for _, leaf in leaves((call.args, call.kwargs)):
        if isinstance(leaf, Tensor):
            origins[leaf] = frozenset({names.get(id(leaf), "")})
    watch = _Watch(origins, time.monotonic() + seconds)
    try:
        try:
            with call.in_mode(backward=False), watch:
                call.on(callee)
        except Exception as error:
            if not call.gradients and asks_for_gradients(error):
                return attempt(callee, replace(call, gradients=True), names, seconds)
            if not _compiles_for_itself(error):
                raise
            # What the model compiles for itself cannot be watched.
            with call.in_mode(backward=False):
                call.on(callee)
    except Exception as error:
        return _trouble(error, watch)
    return None


def _compiles_for_itself(error: Exception) -> bool:
    frames = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(re.search(r"torch[/\\]_(dynamo|higher_order_ops)[/\\]", file) for file in frames)


def _trouble(error: Exception, watch: _Watch) -> Trouble:
    operation, operands = "", watch.last
    if watch.failed is not None and watch.failed[0] is error:
        _, operation, operands = watch.failed
    blamed: frozenset[str] = frozenset()
    about = getattr(error, "obj", None)
    if isinstance(about, Tensor):
        blamed = watch.origins_of(about)
    frame, line = _outside_torch(error.__traceback__)
    return Trouble(
        error, message_of(error), operation, operands, watch.last, blamed, watch.count, frame, line
    )


def _outside_torch(trace: TracebackType | None) -> tuple[FrameType | None, int]:
    found: tuple[FrameType | None, int] = (None, 0)
    while trace is not None:
        if not trace.tb_frame.f_globals.get("__name__", "").startswith(("torch.", "tsguard.")):
            found = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    return found
