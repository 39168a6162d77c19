"""Put the rooms of the house into docs/architecture.md, as the code has them.

    python -m tools.architecture

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` stand tables made from the docstrings of folders
and files, and from the rules that each file names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tsguard import rules

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "tsguard"
_MADE = re.compile(r"<!-- (?P<name>[A-Z]+) -->\n(?:.*\n)*?<!-- /(?P=name) -->")


def summary(file: Path) -> str:
    """The first sentence of a file's docstring."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def stages() -> Iterator[str]:
    """A row for each folder of the package."""
    yield "| folder | what it is |\n| --- | --- |"
    for face in sorted(PACKAGE.glob("*/__init__.py")):
        yield f"| `{face.parent.name}/` | {summary(face)} |"


def walks() -> Iterator[str]:
    """A row for each folder of the analysis."""
    yield "| folder | what it is |\n| --- | --- |"
    for face in sorted((PACKAGE / "analysis").glob("*/__init__.py")):
        yield f"| `analysis/{face.parent.name}/` | {summary(face)} |"


def reporters() -> Iterator[str]:
    """A row for each file that knows a fact which a rule reports."""
    codes = {rule.name: rule.code for rule in map(rules.rule, rules.pages())}
    yield "| file | what it reads | rules |\n| --- | --- | --- |"
    for folder in ("analysis", "language"):
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            found = sorted({codes[name] for name in _named(file) if name in codes}, key=_in_order)
            if found and file.name != "rule_names.py":
                place = file.relative_to(PACKAGE).as_posix()
                yield f"| `{place}` | {summary(file)} | {', '.join(found)} |"


def _named(file: Path) -> Iterator[str]:
    """The rules that a file names."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.partition("/")[0]


def _in_order(code: str) -> tuple[int, str]:
    return len(code), code


_TABLES = {"STAGES": stages, "WALKS": walks, "REPORTERS": reporters}


def page() -> str:
    """The page with its tables made anew."""

    def made(place: re.Match[str]) -> str:
        name = place["name"]
        return f"<!-- {name} -->\n" + "".join(f"{row}\n" for row in _TABLES[name]()) + f"<!-- /{name} -->"

    return _MADE.sub(made, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
