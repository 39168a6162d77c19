"""docs/architecture.md shows the code as it is, and no import goes in a circle: of files, or of stages."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import tsguard
from tools import architecture

PACKAGE = Path(tsguard.__file__).parent


def test_the_tables_are_those_of_the_code():
    assert architecture.PAGE.read_text(encoding="utf-8") == architecture.page(), "run make architecture"


def imported(path: Path) -> set[str]:
    """What a file imports of the package, by dotted names: at run time, in functions or for its types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == PACKAGE.name}


def stages() -> dict[str, set[str]]:
    """What each folder and module at the top imports of the others; the package's own face is one of them."""
    tops = {path.stem for path in PACKAGE.iterdir()} - {"__init__"}

    def stage(parts: list[str]) -> str:
        return parts[1] if len(parts) > 1 and parts[1] in tops else PACKAGE.name

    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        own = stage(list(path.relative_to(PACKAGE.parent).with_suffix("").parts))
        found[own] |= {stage(name.split(".")) for name in imported(path)} - {own}
    return found


def modules() -> dict[str, Path]:
    """The package's modules by name, but for faces: an ``__init__`` only hands names on."""
    files = (path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    return {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files}


def imports() -> dict[str, set[str]]:
    """What each module imports of the others."""
    known = modules()
    wanted = {name: imported(path) for name, path in known.items()}
    whole = {name: {*names, *(part.rpartition(".")[0] for part in names)} for name, names in wanted.items()}
    return {name: (names & set(known)) - {name} for name, names in whole.items()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module."""
    reached = {name: below(graph, name) for name in graph}
    together = {name: sorted({o for o in reached[name] if name in reached.get(o, ())}) for name in graph}
    return [list(group) for group in {tuple(group) for group in together.values() if len(group) > 1}]


def below(graph: dict[str, set[str]], name: str) -> set[str]:
    seen: set[str] = set()
    pending = [name]
    while pending:
        for other in graph.get(pending.pop(), set()) - seen:
            seen.add(other)
            pending.append(other)
    return seen


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_no_stage_imports_one_that_imports_it():
    assert circles(stages()) == []


def test_no_import_goes_in_a_circle():
    assert circles(imports()) == []


def test_a_file_that_is_written_by_hand_has_at_most_400_lines():
    made = PACKAGE / "language" / "rule_names.py"
    lines = {
        path: path.read_text(encoding="utf-8").count("\n") for path in PACKAGE.rglob("*.py") if path != made
    }
    assert {path.name: count for path, count in lines.items() if count > 400} == {}
