"""Paths as those take them who show a report beside a repository's code: from its root, which a CI job names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

Variable = Literal["GITHUB_WORKSPACE", "CI_PROJECT_DIR"]


def from_root(path: str, variable: Variable) -> str:
    """A path of a report, which is relative to the working folder, from the root that the environment names.

    Without a root, or outside it, it is left as it is.
    """
    root = os.environ.get(variable)
    if not root:
        return path
    try:
        inside = os.path.relpath(path, root)
    except ValueError:
        return path  # another drive of Windows
    return path if inside.startswith("..") else Path(inside).as_posix()
