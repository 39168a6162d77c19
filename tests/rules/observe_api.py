"""The experiments on API pages: run an example, then ask torch whether what the rule warns of is so.

Most of what these rules report makes the example itself fail.  Where it does not, a claim
takes the example's module and tells whether it holds: it must for the Bad examples of a
page and must not for the Good ones.
"""

from __future__ import annotations

import ast
import io
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.rules.comparison import same
from tests.rules.on_torch import load

Claim = Callable[[ModuleType], bool]

# What torch says of a deprecated form, beside what it says of every function of torch.jit.
_DEPRECATED = re.compile(r"`optimize` is deprecated|ignore\(|script_method|[Ll]ite [Ii]nterpreter")
_CPU, _LAST_GPU = b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:7"


def observe_file(path: str, code: str) -> dict[str, Any]:
    """Import an example of the rule ``code``.

    Returns:
        ``error`` what the import raised or None, ``shown`` whether what the rule warns of happened.
    """
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module = load(path)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}", "shown": True}
    if code == "TSG415":
        said = [str(warning.message) for warning in caught]
        return {"error": None, "shown": any(map(_DEPRECATED.search, said))}
    claim = CLAIMS.get(code)
    return {"error": None, "shown": claim is not None and claim(module)}


def eval_comes_too_late(module: ModuleType) -> bool:
    """The trace is random although it is in eval mode, or differs from the module in eval mode."""
    results = [module.traced(module.x) for _ in range(4)]
    return any(not same(result, module.model.eval()(module.x)) for result in results)


def left_in_eval(module: ModuleType) -> bool:
    return not module.model.training


def branch_is_frozen(module: ModuleType) -> bool:
    return not same(module.traced(module.other), module.module(module.other))


def noise_is_frozen(module: ModuleType) -> bool:
    """The function returns another result each time, the trace always the same."""
    x = torch.ones(2)
    varies = any(not same(module.jitter(x), module.jitter(x)) for _ in range(3))
    return varies and all(same(module.traced(x), module.traced(x)) for _ in range(3))


def keys_are_frozen(module: ModuleType) -> bool:
    eager = module.detector(module.other)
    try:
        return not same(module.traced(module.other), eager)
    except RuntimeError:
        return True


def loads_in_training_mode(module: ModuleType) -> bool:
    module.file.seek(0)
    return bool(torch.jit.load(module.file, map_location="cpu").training)


def needs_its_device(module: ModuleType) -> bool:
    """The example's last statement, which loads, fails for a file from a machine with eight GPUs."""
    module.file = _from_the_last_gpu(module.file)
    *_, last = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body
    try:
        exec(ast.unparse(last), vars(module))
    except (RuntimeError, NotImplementedError):
        return True
    return bool(module.model.weight.device.type != "cpu")


def _from_the_last_gpu(archive: io.BytesIO) -> io.BytesIO:
    """The same archive with its tensors' device changed, as the machine that saved it had another."""
    changed = io.BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, old.read(entry).replace(_CPU, _LAST_GPU))
    changed.seek(0)
    return changed


CLAIMS: dict[str, Claim] = {
    "TSG402": eval_comes_too_late,
    "TSG404": left_in_eval,
    "TSG409": branch_is_frozen,
    "TSG411": noise_is_frozen,
    "TSG412": keys_are_frozen,
    "TSG413": loads_in_training_mode,
    "TSG414": needs_its_device,
}
