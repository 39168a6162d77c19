"""mypyc takes the modules that the compiled wheel compiles; `make test-compiled` runs what it makes."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from tools.written_dataclasses import compiled_files, tomllib, write_out

ROOT = Path(__file__).parent.parent
LAZY = frozenset({"accumulate", "chain", "enumerate", "filter", "islice", "map", "takewhile", "zip"})
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
    return [path.relative_to(ROOT).as_posix() for path in compiled_files(ROOT)]


def test_mypyc_takes_the_modules_with_their_dataclasses_written_out(tmp_path):
    pytest.importorskip("mypyc")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "tsguard", copy / "tsguard")
    shutil.copy(ROOT / "pyproject.toml", copy)
    assert write_out(copy) > 100
    command = [sys.executable, "-c", TAKE, str(tmp_path), *hook()["mypy-args"], *compiled()]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


class TestWrittenDataclasses:
    """What the decorator would add is written out, and does the same."""

    FILES: ClassVar = {
        "pyproject.toml": "[tool.hatch.build.targets.wheel.hooks.mypyc]\ninclude = ['tsguard']\nexclude = []\n",
        "tsguard/__init__.py": "",
        "tsguard/bases.py": """\
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


class Kept:
    __slots__ = ("_hash",)
    _hash: int


@dataclass(frozen=True)
class Place(Kept):
    path: Path
    line: int = 1
    note: str = field(default="", compare=False)
""",
        "tsguard/derived.py": """\
from __future__ import annotations

from dataclasses import dataclass, field

from tsguard import bases


@dataclass(frozen=True)
class Span(bases.Place):
    end: float = 2.0


@dataclass(eq=False)
class Listing:
    items: list[int] = field(default_factory=list)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = len(self.items)


@dataclass()
class Nothing:
    pass
""",
    }

    @pytest.fixture
    def written(self, tmp_path, monkeypatch):
        for name, text in self.FILES.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert write_out(tmp_path) == 4
        (tmp_path / "tsguard").rename(tmp_path / "written")
        derived = tmp_path / "written" / "derived.py"
        derived.write_text(derived.read_text().replace("from tsguard", "from written"))
        monkeypatch.syspath_prepend(tmp_path)
        yield importlib.import_module("written.derived")
        for name in ("written.derived", "written.bases", "written"):
            sys.modules.pop(name, None)

    def test_fields_of_bases_come_first_and_defaults_count(self, written):
        span = written.Span(Path("a"), end=3.0)
        assert (span.path, span.line, span.note, span.end) == (Path("a"), 1, "", 3.0)
        assert [f.name for f in dataclasses.fields(span)] == ["path", "line", "note", "end"]
        assert dataclasses.replace(span, line=7).line == 7

    def test_equal_are_those_whose_compared_fields_are(self, written):
        span = written.Span(Path("a"), note="one")
        assert span == written.Span(Path("a"), note="another")
        assert hash(span) == hash(written.Span(Path("a"), note="another"))
        assert span != written.Span(Path("b"))
        assert span != written.bases.Place(Path("a"))

    def test_what_is_identical_is_equal_as_in_a_tuple(self, written):
        not_a_number = float("nan")
        assert written.Span(not_a_number) == written.Span(not_a_number)

    def test_each_has_a_list_of_its_own(self, written):
        one, other = written.Listing(), written.Listing([1, 2])
        one.items.append(1)
        assert (one.items, one.size, other.size, written.Listing().items) == ([1], 0, 2, [])
        assert written.Listing() != written.Listing()

    def test_it_is_done_once(self, written):
        folder = Path(written.__file__).parent
        texts = {path: path.read_text() for path in folder.glob("*.py")}
        folder.rename(folder.parent / "tsguard")
        assert write_out(folder.parent) == 0
        assert {folder / p.name: p.read_text() for p in (folder.parent / "tsguard").glob("*.py")} == texts


def may_do_something(generator: ast.GeneratorExp) -> bool:
    """Whether the elements are calls, which may raise or decide something."""
    return any(isinstance(node, ast.Call) for node in ast.walk(generator.elt))


@pytest.mark.parametrize("path", compiled())
def test_no_property_that_would_not_be_cached_is_compiled(path):
    tree = ast.parse((ROOT / path).read_text())
    decorated = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert "cached_property" not in {
        ast.unparse(d).rpartition(".")[2] for f in decorated for d in f.decorator_list
    }


@pytest.mark.parametrize("path", compiled())
def test_what_is_read_one_by_one_is_no_list(path):
    """mypyc makes a list of a generator expression that is returned: what reads the first item reads them all."""
    nodes = ast.walk(ast.parse((ROOT / path).read_text()))
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    assert not [ast.unparse(value) for value in returned if isinstance(value, ast.GeneratorExp)]


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


@pytest.mark.parametrize("path", compiled())
def test_what_is_taken_one_by_one_is_no_list(path):
    """mypyc stops at the first element that decides only in the calls of next, any and all that it knows as such."""
    calls = [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.Call)]
    lazily = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] in LAZY]
    given = [argument for call in lazily for argument in call.args if isinstance(argument, ast.GeneratorExp)]
    assert not [ast.unparse(generator) for generator in given if may_do_something(generator)]


@pytest.mark.parametrize("path", compiled())
def test_any_and_all_are_called_by_their_names(path):
    """mypyc makes a list of a generator expression for what another name stands for."""
    nodes = [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.IfExp)]
    sides = [ast.unparse(side) for node in nodes for side in (node.body, node.orelse)]
    assert not {"any", "all"}.intersection(sides)


@pytest.mark.parametrize("path", compiled())
def test_exceptions_have_no_attributes_by_default(path):
    """mypyc sets those of a class of its own as one is made, which of an exception Python makes."""
    fields = [
        field
        for node in classes(path)
        if node.name in exceptions()
        for field in node.body
        if isinstance(field, (ast.Assign, ast.AnnAssign)) and field.value is not None
    ]
    annotations = [ast.unparse(f.annotation) if isinstance(f, ast.AnnAssign) else "" for f in fields]
    assert all(annotation.startswith("ClassVar[") for annotation in annotations)


@pytest.mark.parametrize("path", compiled())
def test_what_is_declared_a_float_is_not_asked_for_its_class(path):
    """mypyc makes a float of an int that it is given for one."""
    functions = [n for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.FunctionDef)]
    for function in functions:
        given = [*function.args.args, *function.args.kwonlyargs, *filter(None, [function.args.vararg])]
        floats = {
            arg.arg for arg in given if arg.annotation is not None and ast.unparse(arg.annotation) == "float"
        }
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        asked = [ast.unparse(c.args[0]) for c in calls if ast.unparse(c.func) in ("type", "isinstance")]
        assert floats.isdisjoint(asked)


@pytest.mark.parametrize("path", compiled())
def test_no_field_is_declared_an_object(path):
    """mypyc looks for the name among those of the module, and the module cannot be imported."""
    declared = [
        node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.ClassDef)
    ]
    fields = [node for class_ in declared for node in class_.body if isinstance(node, ast.AnnAssign)]
    assert "object" not in {ast.unparse(field.annotation) for field in fields}


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


@functools.cache
def exceptions() -> frozenset[str]:
    """The exceptions that the compiled modules define."""
    bases = {node.name: set(map(ast.unparse, node.bases)) for path in compiled() for node in classes(path)}
    found = {
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    while more := {name for name, parts in bases.items() if parts & found} - found:
        found |= more
    return frozenset(found)


def classes(path: str) -> list[ast.ClassDef]:
    return [n for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.ClassDef)]


def decorators(node: ast.ClassDef) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def compares_fields(node: ast.ClassDef) -> bool:
    return "dataclass" in decorators(node) and "eq=False" not in decorators(node)
