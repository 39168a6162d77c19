"""Which files are the user's: errors are reported at their lines, not inside libraries."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from tsguard import version

_LIBRARY = re.compile(
    r"[/\\](site|dist)-packages[/\\]"
    r"|[/\\]lib(64)?[/\\]python3[^/\\]*[/\\]"
    r"|[/\\]torchinductor_"
    r"|[/\\]torch[/\\](nn|jit|fx|utils|autograd|export|overrides|functional|cuda|_\w+)(\.py$|[/\\])"
)
_OURS = str(Path(version.__file__).resolve().parent) + os.sep
_FAULT_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+) in ', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class UserCode:
    """All files that are no library's, and ``own``: the target's file or its package's folder."""

    own: str

    @classmethod
    def around(cls, file: str, module: str) -> UserCode:
        """The user's code around a target's file, given the file's import name."""
        path = Path(file).resolve()
        if "." not in module:
            return cls(str(path))
        depth = module.count(".") + (path.name == "__init__.py")
        return cls(str(path.parents[depth - 1]) + os.sep)

    def owns(self, file: str) -> bool:
        """Whether a file is the user's."""
        if file.startswith("<"):
            return False
        path = os.path.realpath(file)
        if path.startswith(self.own):
            return True
        return not path.startswith(_OURS) and not _LIBRARY.search(path)

    def place_in_fault(self, fault: str) -> tuple[str, int] | None:
        """The user's innermost frame in a stack that faulthandler wrote."""
        for match in _FAULT_FRAME.finditer(fault):
            if self.owns(match["file"]):
                return match["file"], int(match["line"])
        return None
