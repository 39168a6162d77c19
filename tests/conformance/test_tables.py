"""The shipped tables are those that the installed torch gives."""

from __future__ import annotations

import re
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
    assert _lines(tmp_path / f"{name}.json") ^ _lines(SHIPPED / f"{name}.json") == set()


def _lines(table: Path) -> set[str]:
    """What a table says, but for what hangs on torch's build (CUDA's operators) and on the release of
    Python (which of a dataclass's methods comes first).
    """
    lines = table.read_text(encoding="utf-8").splitlines()
    return {
        re.sub(r"<function (\w+)\.__\w+__>", r"<a method of \1>", line)
        for line in lines
        if not line.startswith('"cuda::')
    }
