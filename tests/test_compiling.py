"""mypyc takes the modules that the compiled wheel compiles; `make test-compiled` runs what it makes."""

from __future__ import annotations

import ast
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


def may_do_something(generator: ast.GeneratorExp) -> bool:
    """Whether the elements are calls, which may raise or decide something."""
    return any(isinstance(node, ast.Call) for node in ast.walk(generator.elt))


@pytest.mark.parametrize("path", compiled())
def test_no_property_that_would_not_be_cached_is_compiled(path):
    assert "cached_property\n" not in (ROOT / path).read_text()


@pytest.mark.parametrize("path", compiled())
def test_what_any_and_all_may_leave_out_is_not_evaluated(path):
    """mypyc makes a list of a generator expression unless it is itself the argument."""
    for function in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            named = {
                name.id
                for node in ast.walk(function)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.GeneratorExp)
                for name in node.targets
                if isinstance(name, ast.Name) and may_do_something(node.value)
            }
            asked = {
                argument.id
                for node in ast.walk(function)
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("any", "all")
                for argument in node.args
                if isinstance(argument, ast.Name)
            }
            assert not named & asked


class TestComparisons:
    """mypyc compares by identity what is declared as a base class, if it does not see that derived
    classes compare otherwise; of what the decorator of a dataclass adds it sees nothing."""

    def test_bases_of_dataclasses_say_that_derived_classes_may_compare_otherwise(self):
        definitions = {node.name: node for path in compiled() for node in classes(path)}
        bases = {
            base
            for node in definitions.values()
            if compares_fields(node)
            for base in map(ast.unparse, node.bases)
            if base in definitions and "dataclass" not in decorators(definitions[base])
        }
        assert bases == {"Question", "Term", "Type", "Value", "_Formula"}
        assert all("allow_interpreted_subclasses=True" in decorators(definitions[base]) for base in bases)


def classes(path: str) -> list[ast.ClassDef]:
    return [n for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.ClassDef)]


def decorators(node: ast.ClassDef) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def compares_fields(node: ast.ClassDef) -> bool:
    return "dataclass" in decorators(node) and "eq=False" not in decorators(node)
