"""The examples of the rule pages, as the tests lint and run them.

A page's *Bad* and *Good* sections hold Python modules in fenced blocks.  The last class
or function of a module is its target; ``example_inputs()`` and ``other_inputs()`` return
the tuple of arguments to call it with, ``constructor_arguments()`` that to make it with.  A line that ends in ``# TSGnnn`` must be found
by that rule.  A ``text`` block quotes what torch says of the Python block before it, in the releases
that its fence names where it names some.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import tsguard
from tests.torch_here import RELEASE
from tsguard import rules
from tsguard.language.releases import allows
from tsguard.linting.run import lint
from tsguard.report import Family, Finding, Purpose, Report, TargetReport
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

INPUTS = ("example_inputs", "other_inputs")
GIVING = (*INPUTS, "constructor_arguments")

_MARK = re.compile(r"# (TSG\d{3,4}(?:, TSG\d{3,4})*)$")


@dataclass(frozen=True, slots=True)
class Example:
    """One Python block of a page.

    ``quotes`` are torch's words as the page gives them, ``torch`` bounds the releases it is about.
    """

    code: str
    kind: Literal["bad", "good"]
    number: int
    text: str
    quotes: tuple[str, ...] = ()
    torch: str = ""

    @property
    def id(self) -> str:
        return f"{self.code}-{self.kind}-{self.number}"

    @property
    def rule(self) -> rules.Rule:
        return rules.rule(self.code)

    @property
    def target(self) -> str:
        """The name of the last class or function that does not make inputs."""
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        names = [node.name for node in ast.parse(self.text).body if isinstance(node, kinds)]
        return [name for name in names if name not in GIVING][-1]

    @property
    def marks(self) -> set[tuple[str, int]]:
        """The codes that the comments announce, each with its line."""
        return {
            (code, number)
            for number, line in enumerate(self.text.splitlines(), 1)
            if (mark := _MARK.search(line))
            for code in mark[1].split(", ")
        }

    @property
    def quoted_lines(self) -> list[str]:
        """What torch's message must hold, piece by piece."""
        return [line.strip() for quote in self.quotes for line in quote.splitlines() if line.strip()]

    def write(self, folder: Path) -> Path:
        """Put the block into a file of its own, and say which."""
        path = folder / f"{self.id.replace('-', '_').lower()}.py"
        path.write_text(self.text, encoding="utf-8")
        return path


def examples(family: str) -> list[Example]:
    """All examples of a family's pages; none of a page whose body is not written."""
    codes = [rule.code for rule in rules.all_rules() if rule.family == family]
    return [example for code in codes for example in examples_of(code)]


def examples_of(code: str) -> Iterator[Example]:
    """A page's examples that are about the installed torch, the bad ones first."""
    return (example for example in examples_of_all_releases(code) if allows(example.torch, RELEASE))


def examples_of_all_releases(code: str) -> Iterator[Example]:
    """A page's examples, the bad ones first."""
    rule = rules.rule(code)
    _, body = rules.split_page(rules.pages()[code].read_text(encoding="utf-8"))
    sections = rules.sections(body)
    for kind, heading in (("bad", "Bad"), ("good", "Good")):
        found: list[Example] = []
        for language, text, torch in rules.code_blocks(sections.get(heading, "")):
            if language == "python":
                found.append(Example(code, kind, len(found) + 1, text, torch=torch or rule.bounds()))
            elif language == "text" and found and (not torch or allows(torch, RELEASE)):
                last = found.pop()
                found.append(replace(last, quotes=(*last.quotes, text.strip())))
        yield from found


@dataclass(frozen=True, slots=True)
class Linted:
    """What ``tsguard lint FILE:TARGET`` says of an example."""

    target: TargetReport
    report: Report
    example: Example

    def findings(self, family: str) -> list[Finding]:
        return [finding for finding in self.report.findings if finding.family == family]

    def places(self, family: str) -> set[tuple[str, int]]:
        """The codes found, each with its line: what marks are held against.

        That a file cannot hold what an example of another rule does is none of its concern.
        """
        return {
            (finding.code, finding.line)
            for finding in self.findings(family)
            if finding.code == self.example.code or rules.rule(finding.code).outcome != "unsaveable"
        }


@functools.cache
def linted(example: Example, purpose: Purpose = "trace", release: str = RELEASE) -> Linted:
    """Lint an example's target, as the command line would."""
    report = _report(example, f":{example.target}", purpose, release)
    assert not report.errors
    [target] = report.targets
    return Linted(target, report, example)


@functools.cache
def found(example: Example, family: Family, purpose: Purpose = "trace") -> list[Finding]:
    """The findings of a family in the whole file of an example."""
    report = _report(example, "", purpose, RELEASE)
    assert not [finding for finding in report.findings if finding.family == "tool"]
    return [finding for finding in report.findings if finding.family == family]


def _report(example: Example, target: str, purpose: Purpose, release: str) -> Report:
    with TemporaryDirectory() as name:
        folder = Path(name)
        settings = Settings(root=folder, torch_version=release, jobs=1, cache=False, purpose=purpose)
        request = parse(f"{example.write(folder)}{target}", settings)
        report, _ = lint(plan([request], settings), settings)
    return report


def is_worded(name: str, shown: Iterable[Example], findings: Callable[[Example], Iterable[Finding]]) -> bool:
    """Whether a bad example shows the wording of a rule, or of a variant (``rule/variant``)."""
    rule, variant = rules.rule(name), name.partition("/")[2]
    bad = (example for example in shown if example.rule == rule and example.kind == "bad")
    messages = (f.message for example in bad for f in findings(example) if f.code == rule.code)
    return any(wording(rule, variant).fullmatch(message) for message in messages)


def wording(rule: rules.Rule, variant: str) -> re.Pattern[str]:
    """Matches the messages that a rule's wording for a variant ("" for none) can give."""
    parts = re.split(r"(?<!\{)\{\w+\}(?!\})", rule.wordings[variant].message)
    return re.compile(".+".join(re.escape(part.format()) for part in parts), re.DOTALL)


@functools.cache
def reported_names() -> frozenset[str]:
    """The rules, and ``rule/variant`` names, that the code reports.

    The code names a rule by a string literal, which nothing else is equal to.
    """
    known = {f"{rule.name}/{variant}".rstrip("/") for rule in rules.all_rules() for variant in rule.wordings}
    return frozenset(known & source_strings())


def names_in(family: str) -> list[str]:
    """What the code reports of a family in the installed torch."""
    names = reported_names()
    return sorted(n for n in names if rules.rule(n).family == family and rules.holds(n, RELEASE))


@functools.cache
def source_strings() -> frozenset[str]:
    """All string literals of what reports rules, so not those of repairs or of the type of all rule names."""
    package = Path(tsguard.__file__).parent
    silent = {
        package / "language" / "rule_names.py",
        *(package / "fixes").iterdir(),
        *(package / "repairing").iterdir(),
    }
    sources = (p for p in package.rglob("*.py") if p not in silent)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return frozenset(node.value for node in nodes if isinstance(node.value, str))
