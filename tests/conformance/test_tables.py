"""The shipped tables are those that the installed torch gives."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RELEASE = ".".join(version("torch").split(".")[:2])
SHIPPED = ROOT / "tsguard" / "language" / "tables" / RELEASE

pytestmark = pytest.mark.skipif(not SHIPPED.is_dir(), reason=f"no tables of torch {RELEASE} are shipped")


@pytest.mark.parametrize(
    "name", ["operators", "tensor", "modules", pytest.param("names", marks=pytest.mark.slow)]
)
def test_a_table_equals_the_installed_torch(name: str, tmp_path: Path):
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "torch_tables.py"), str(tmp_path), "--only", name], check=True
    )
    written = (tmp_path / f"{name}.json").read_text(encoding="utf-8").splitlines()
    shipped = (SHIPPED / f"{name}.json").read_text(encoding="utf-8").splitlines()
    assert set(written) ^ set(shipped) == set()
