"""The shipped tables are those that the installed torch gives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tools.table_changes import hangs_on_the_build
from tsguard.language.tables import RELEASES, tables

ROOT = Path(__file__).parent.parent.parent
RELEASE = ".".join(version("torch").split(".")[:2])

pytestmark = pytest.mark.skipif(RELEASE not in RELEASES, reason=f"no tables of torch {RELEASE} are shipped")


@pytest.mark.parametrize(
    "name", ["operators", "tensor", "modules", pytest.param("names", marks=pytest.mark.slow)]
)
def test_a_table_equals_the_installed_torch(name: str, tmp_path: Path):
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "torch_tables.py"), str(tmp_path), "--only", name], check=True
    )
    asked = json.loads((tmp_path / RELEASE / f"{name}.json").read_text(encoding="utf-8"))
    assert _lines(asked) ^ _lines(tables(RELEASE).table(name)) == set()


def _lines(table: dict[str, object]) -> set[str]:
    """What a table says, but for what hangs on torch's build, and on the release of Python: which of a
    dataclass's methods comes first.
    """
    return {
        re.sub(r"<function (\w+)\.__\w+__>", r"<a method of \1>", f"{key}: {json.dumps(value)}")
        for key, value in table.items()
        if not hangs_on_the_build(key)
    }
