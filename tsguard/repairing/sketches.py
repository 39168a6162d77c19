"""How what a finding is about is written instead: the page's own example that is nearest to the line, bad and good."""

from __future__ import annotations

import ast
import difflib
import re

from tsguard.report import Finding
from tsguard.rules import code_blocks, rule, sections, split_page

_MARK = re.compile(r"\s*# TSG\d+.*$")
_INPUTS = ("example_inputs", "other_inputs", "constructor_arguments")
# A sketch of more lines tells no more.
_MOST_LINES = 8
# An example of something else misleads: its line has to look like the one that is to change.
_ALIKE = 0.4


def sketch(finding: Finding, text: str) -> tuple[str, ...]:
    """The lines that part the bad example from the good one, with "-" and "+" before them.

    () where they are many, where no example is like the line, or where it is not that line which goes.

    Args:
        text: the line of the finding.
    """
    _, body = split_page(rule(finding.code).page.read_text(encoding="utf-8"))
    parts = sections(body)
    bad, good = (
        [block.text for block in code_blocks(parts.get(name, "")) if block.language == "python"]
        for name in ("Bad", "Good")
    )
    if not bad or not good:
        return ()
    alike = [_likeness(example, finding.code, text) for example in bad]
    nearest = max(range(len(bad)), key=alike.__getitem__)
    if alike[nearest] < _ALIKE:
        return ()
    here = _lines(bad[nearest])
    others = [good[nearest]] if len(bad) == len(good) else good
    best = max(others, key=lambda one: difflib.SequenceMatcher(None, here, _lines(one)).ratio())
    if difflib.SequenceMatcher(None, here, _lines(best)).ratio() < _ALIKE:
        return ()
    found = _difference(bad[nearest], best)
    gone = {line[1:].strip() for line in found if line[0] == "-"}
    marked = gone & set(_marked(bad[nearest], finding.code)) and any(line[0] == "+" for line in found)
    return found if marked and len(found) <= _MOST_LINES else ()


def _marked(example: str, code: str) -> list[str]:
    """The lines of an example that break a rule."""
    return [_MARK.sub("", line).strip() for line in example.splitlines() if f"# {code}" in line]


def _likeness(example: str, code: str, text: str) -> float:
    ratios = [difflib.SequenceMatcher(None, line, text).ratio() for line in _marked(example, code)]
    return max(ratios, default=0.0)


def _difference(bad: str, good: str) -> tuple[str, ...]:
    lines = list(difflib.unified_diff(_lines(bad), _lines(good), n=0, lineterm=""))[2:]
    return tuple(f"{line[0]} {line[1:]}" for line in lines if line[0] in "-+" and line[1:].strip())


def _lines(example: str) -> list[str]:
    """The lines of an example without its inputs and imports, written as one writes them."""
    plain = "\n".join(_MARK.sub("", line) for line in example.splitlines())
    tree = ast.parse(plain)
    left_out: set[int] = set()
    for node in tree.body:
        inputs = isinstance(node, ast.FunctionDef) and node.name in _INPUTS
        if inputs or isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return [line for number, line in enumerate(plain.splitlines(), 1) if number not in left_out]
