"""Files that are written whole or not at all, beside others that write the same."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, and the folder that it is to lie in; one that cannot be written is left as it was."""
    scratch = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(data)
        scratch.replace(path)
    except OSError:
        return
