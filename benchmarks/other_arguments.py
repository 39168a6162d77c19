"""What a class is promised to be, beside what is said of it with other arguments than its defaults.

    python benchmarks/other_arguments.py drawn.jsonl [--most N] [--seed N] [--list]

``drawn.jsonl`` is what ``draw.py`` writes.  Each class is linted by its name alone, then with its constructor call
and with each call that differs from it in one argument: a bool turned, a text that the file compares with,
another number, a module for None.  A promise (``ok``, ``safe``, ``independent``, ``exports``) is broken where one of these is
called worse.  Nothing runs: calls are judged as ``lint`` judges them, whatever eager would say of them.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from score import linted

PROMISES = {
    "script": ("ok", ("blocked", "broken")),
    "trace": ("safe", ("hazardous",)),
    "mode": ("independent", ("dependent",)),
    "export": ("exports", ("refused", "specialised")),
}
AT_ONCE = 200
Call = dict[str, str]


@dataclass(frozen=True)
class Drawn:
    """A class of a file, with a constructor call that can be made."""

    line: dict[str, Any]
    call: Call

    @property
    def bare(self) -> str:
        return f"{self.line['file']}:{self.line['class']}"

    def target(self, call: Call) -> str:
        return f"{self.bare}({', '.join(f'{name}={value}' for name, value in call.items())})"


def drawn(lines: list[dict[str, Any]]) -> Iterator[Drawn]:
    for line in lines:
        call = ast.parse(line["constructor"], mode="eval").body
        if isinstance(call, ast.Call) and not call.args:
            yield Drawn(line, {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg})


def variants(one: Drawn) -> Iterator[Call]:
    """The call, and those that differ from it in one argument."""
    tree = ast.parse(Path(one.line["folder"], one.line["file"]).read_text())
    compared = _compared(tree)
    yield one.call
    for name, default in _parameters(tree, one.line["class"]):
        for value in _others(default, compared[name]):
            if one.call.get(name) != value:
                yield {**one.call, name: value}


def _compared(tree: ast.Module) -> dict[str, set[str]]:
    """The texts that the file compares names with."""
    found: dict[str, set[str]] = defaultdict(set)
    for test in (node for node in ast.walk(tree) if isinstance(node, ast.Compare)):
        parts = list(ast.walk(test))
        texts = {p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)}
        for part in parts:
            if isinstance(part, (ast.Name, ast.Attribute)):
                found[part.id if isinstance(part, ast.Name) else part.attr] |= texts
    return found


def _parameters(tree: ast.Module, name: str) -> Iterator[tuple[str, object]]:
    """The parameters of a class's constructor whose default is written out, with it."""
    cls = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    body = cls.body if cls is not None else []
    init = next((n for n in body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    if init is None:
        return
    spec = init.args
    places = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(places[len(places) - len(spec.defaults) :], spec.defaults, strict=True)]
    pairs += [(p, d) for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    for parameter, default in pairs:
        if isinstance(default, ast.Constant):
            yield parameter.arg, default.value


def _others(default: object, texts: set[str]) -> list[str]:
    if isinstance(default, bool):
        return [repr(not default)]
    if default is None:
        return ["torch.nn.ReLU()"]
    if isinstance(default, (int, float)):
        return [repr(default + 1), "0"] if isinstance(default, int) else ["0.5", "0.0"]
    return sorted(map(repr, texts)) if isinstance(default, str) else []


def judged(targets: dict[str, list[str]], line: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """The reports of targets by folder and name."""
    found = {}
    for folder, names in targets.items():
        for at in range(0, len(names), AT_ONCE):
            part = [{**line[folder], "target": name} for name in names[at : at + AT_ONCE]]
            found.update({(folder, name): report for name, report in linted(part, []).items()})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("drawn", type=Path)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.drawn.read_text().splitlines()]
    every = list({(one.line["folder"], one.bare): one for one in drawn(lines)}.values())
    random.Random(options.seed).shuffle(every)
    calls = {(one.line["folder"], one.bare): (one, list(variants(one))) for one in every[: options.most]}
    targets: dict[str, list[str]] = defaultdict(list)
    for (folder, bare), (one, some) in calls.items():
        targets[folder] += [bare, *map(one.target, some)]
    folders = {one.line["folder"]: one.line for one, _ in calls.values()}
    reports = judged(targets, folders)
    broken: dict[str, Counter[str]] = defaultdict(Counter)
    for (folder, bare), (one, some) in calls.items():
        alone = reports.get((folder, bare))
        given = [(t, reports[folder, t]) for t in map(one.target, some) if (folder, t) in reports]
        for family, (promise, worse) in PROMISES.items() if alone is not None else ():
            said = alone[family]["verdict"]
            bad = [target for target, report in given if report[family]["verdict"] in worse]
            broken[family][said] += 1
            if said == promise and bad:
                broken[family]["broken"] += 1
                if options.list:
                    print(f"{family}: {folder} {bad[0]}")
    for family, count in broken.items():
        promise, _ = PROMISES[family]
        rest = ", ".join(f"{said} {n}" for said, n in count.most_common() if said not in (promise, "broken"))
        print(f"{family:7} {promise} of {count[promise]} classes, broken for {count['broken']}; {rest}")


if __name__ == "__main__":
    main()
