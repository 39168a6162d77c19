"""libcst, loaded when the first edit is written: that costs more than judging a small file, and most
places that have a fix in general turn out to have none.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["cst"]

if TYPE_CHECKING:
    import libcst as cst
else:

    class _Libcst:
        """Stands for the package: what is asked of it is kept."""

        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("libcst"), name)
            setattr(self, name, value)
            return value

    cst = _Libcst()
