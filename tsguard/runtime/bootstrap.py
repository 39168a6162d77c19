"""Starting an interpreter that runs one function of this package and nothing around it.

The interpreter may be another than ours (the user's environment, which has torch), so
the package is loaded from its folder without putting that folder on the path, psutil too
where it is missing there, and the working folder is off the path until a target's file
asks for it.
"""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from tsguard import version

_PROGRAM = """\
import sys
sys.path[:] = [folder for folder in sys.path if folder]
from importlib import import_module, util
spec = util.spec_from_file_location("tsguard", sys.argv[1])
package = sys.modules["tsguard"] = util.module_from_spec(spec)
spec.loader.exec_module(package)
if util.find_spec("psutil") is None:
    spec = util.spec_from_file_location("psutil", sys.argv[2])
    package = sys.modules["psutil"] = util.module_from_spec(spec)
    spec.loader.exec_module(package)
getattr(import_module(sys.argv[3]), sys.argv[4])(*map(int, sys.argv[5:]))
"""

# glibc gives megabyte blocks back to the kernel at once and faults them in again at
# every call, which both slows small loops over big tensors and makes their timing
# depend on what ran before: keep the memory.
_MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(4 << 30),
    "MALLOC_TOP_PAD_": str(64 << 20),
}


def command(python: str, function: str, *descriptors: int) -> list[str]:
    """The command line that calls ``module:name`` with file descriptors."""
    module, _, name = function.partition(":")
    package = str(Path(version.__file__).resolve().with_name("__init__.py"))
    ours = str(psutil.__file__)
    return [python, "-c", _PROGRAM, package, ours, module, name, *map(str, descriptors)]


def environment() -> dict[str, str]:
    """Our environment with what must be set before the interpreter starts."""
    return {"PYTHONHASHSEED": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", **_MALLOC, **os.environ}
