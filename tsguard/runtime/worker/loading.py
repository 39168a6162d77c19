"""The user's file imported, and names and expressions evaluated in it."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import PartsImported
from tsguard.runtime.subject import Subject


def import_file(subject: Subject) -> ModuleType:
    """Import the target's file as the user would: as part of its package, or alone.

    Raises:
        BaseException: whatever the file raises when it is imported.
    """
    sys.argv[:] = [subject.file]
    sys.path[:0] = [subject.root, *subject.search_paths]
    if "." in subject.module or Path(subject.file).name == "__init__.py":
        return importlib.import_module(subject.module)
    name = subject.module if subject.module not in sys.modules else f"{subject.module}_under_test"
    spec = importlib.util.spec_from_file_location(name, subject.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{subject.file} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def parts_told(channel: Channel) -> Iterator[None]:
    """Tell which parts of torch are imported meanwhile: the warm process can have them for the tasks to come."""
    before = set(sys.modules)
    try:
        yield
    finally:
        parts = (name for name in list(sys.modules) if name.startswith("torch.") and name not in before)
        channel.send(PartsImported(tuple(parts)))


def look_up(module: ModuleType, qualname: str) -> Any:
    """The object that a dotted name in the file means.

    Raises:
        AttributeError: the file does not define it, at least not when it is imported.
    """
    found: Any = module
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def evaluate(module: ModuleType, expression: str) -> Any:
    """The value of an expression in the file's namespace.

    torch, nn, F, math, SimpleNamespace and the file's own package are known there too.

    Raises:
        BaseException: whatever the expression raises.
    """
    known = {"torch": torch, "nn": nn, "F": nn.functional, "math": math, "SimpleNamespace": SimpleNamespace}
    package = module.__name__.partition(".")[0]
    known |= {package: sys.modules.get(package, module)}
    return eval(compile(expression.strip(), "<expression>", "eval"), {**known, **vars(module)})
