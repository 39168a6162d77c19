"""The VS Code extension, checked and bundled by its own tools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "editors" / "vscode"


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
@pytest.mark.skipif(not (FOLDER / "node_modules").is_dir(), reason="needs `npm ci` in editors/vscode")
def test_the_extension_compiles_and_is_bundled():
    ran = subprocess.run(["npm", "test"], cwd=FOLDER, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (FOLDER / "dist" / "extension.js").stat().st_size
