"""mypyc takes the modules that the compiled wheel compiles; `make test-compiled` runs what it makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pathspec
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
TAKE = """\
import sys
from mypyc.build import mypyc_build
from mypyc.options import CompilerOptions

target, *arguments = sys.argv[1:]
mypyc_build(arguments, CompilerOptions(multi_file=True, target_dir=target), separate=False)
"""


def hook() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    table: dict[str, list[str]] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    return table


def compiled() -> list[str]:
    """The modules that are compiled, by their paths in the project."""
    included, excluded = (
        pathspec.PathSpec.from_lines("gitignore", hook()[key]) for key in ("include", "exclude")
    )
    paths = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tsguard").rglob("*.py")))
    return [path for path in paths if included.match_file(path) and not excluded.match_file(path)]


def test_mypyc_takes_the_modules(tmp_path):
    pytest.importorskip("mypyc")
    command = [sys.executable, "-c", TAKE, str(tmp_path), *hook()["mypy-args"], *compiled()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", compiled())
def test_no_property_that_would_not_be_cached_is_compiled(path):
    assert "cached_property\n" not in (ROOT / path).read_text()
