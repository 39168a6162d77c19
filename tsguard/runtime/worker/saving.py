"""The forms in which attempts are saved, and how each is loaded where the user's code is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of file: how a program is written to it, how what is called is read from it, for a device."""

    suffix: str
    write: Callable[[Any, str], Any]
    read: Callable[[str, str], Any]


def _load_exported(path: str, device: str) -> Any:
    # It stays on the device that it was exported on.
    return torch.export.load(path).module()


def _load_archived(path: str, device: str) -> Any:
    import torch._inductor

    return torch._inductor.aoti_load_package(path)


def _load_scripted(path: str, device: str) -> Any:
    return torch.jit.load(path, map_location=device)


FORMS = {
    "script": Form(".pt", torch.jit.save, _load_scripted),
    "export": Form(".pt2", torch.export.save, _load_exported),
    # What AOTInductor compiles lies in a file from the beginning.
    "archive": Form(".pt2", lambda path, to: shutil.copyfile(path, to), _load_archived),
}
