"""From a target's expression to a DataLoader: found, called for, or made around a dataset."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

from torch.utils.data import DataLoader, Dataset

from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.worker.loading import evaluate

# This module, the one that evaluates, and the expression itself.
_OWN_FRAMES = 3


class NoLoader(Exception):
    """The target is no DataLoader; the message says what it is and what to write."""


def obtain(task: LoaderTask, module: ModuleType) -> DataLoader[Any]:
    """The DataLoader that the target names, or that it comes to.

    Raises:
        NoLoader: it comes to something else.
        BaseException: whatever the user's code raises on the way.
    """
    value = _value(task.expression, module)
    if callable(value) and not isinstance(value, (DataLoader, Dataset)):
        value = _called(value, task)
    if isinstance(value, DataLoader):
        return value
    if task.is_dataset or isinstance(value, Dataset):
        return _around(value, task, module)
    kind = f"{type(value).__name__}"
    raise NoLoader(
        f"{task.expression} is a {kind}: name a DataLoader, a function that returns one,"
        " or a dataset with --dataset --batch-size N"
    )


def _value(expression: str, module: ModuleType) -> Any:
    try:
        return evaluate(module, expression)
    except NameError as error:
        inside = error.__traceback__ is not None and _depth(error.__traceback__) > _OWN_FRAMES
        if inside or error.name is None or error.name in vars(module):
            raise
        near = difflib.get_close_matches(error.name, vars(module), 1, 0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise NoLoader(f"the file defines no {error.name!r}{hint}") from None
    except SyntaxError as error:
        raise NoLoader(f"{expression!r} is not an expression: {error.msg}") from None


def _depth(trace: TracebackType | None) -> int:
    depth = 0
    while trace is not None:
        depth, trace = depth + 1, trace.tb_next
    return depth


def _called(function: Callable[[], Any], task: LoaderTask) -> Any:
    try:
        return function()
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            # Raised by the call itself, not inside the function.
            raise NoLoader(f"{error}: give the arguments, as in FILE:{task.expression}(...)") from None
        raise


def _around(dataset: Any, task: LoaderTask, module: ModuleType) -> DataLoader[Any]:
    if task.batch_size is None:
        raise NoLoader(f"{task.expression} is a dataset: say how it is batched with --batch-size N")
    collate = evaluate(module, task.collate) if task.collate is not None else None
    return DataLoader(dataset, task.batch_size, collate_fn=collate)
