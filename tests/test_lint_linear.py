"""What lint does for a file grows as the file grows: calls are counted, not seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

from tsguard.fixes.places import functions_around, nodes_around
from tsguard.linting.run import lint
from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan
from tsguard.source import SourceFile, Span

HEAD = "import torch\nfrom torch import nn\n"
# A fix that needs an import, one that needs none, a finding without a fix, a suppression.
CLASS = """

class Net{i}(nn.Module):
    def forward(self, x, mask=None, scale=2.0):
        if mask:
            x = x * mask
        y = [lambda: 1]  # tsguard: ignore[TSG148]
        return x * scale
"""


def source(classes: int) -> str:
    return HEAD + "".join(CLASS.format(i=i) for i in range(classes))


def calls(work: Callable[[], object]) -> int:
    """The calls that a piece of work makes, on all threads that it starts."""
    count = 0

    def counted(frame: object, event: str, what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    threading.setprofile(counted)
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return count


def derived(classes: int) -> str:
    """Classes of which each derives from the one before."""
    first = f"{HEAD}\n\nclass Net0(nn.Module):\n    def forward(self, x: torch.Tensor):\n        return x\n"
    return first + "".join(f"\n\nclass Net{i}(Net{i - 1}):\n    pass\n" for i in range(1, classes))


def branching(branches: int) -> str:
    """One forward with assignments behind conditions, and one that keeps something."""
    branch = "        if x.dim() == {i}:\n            y = x + {i}\n        self.last = y\n"
    return f"""{HEAD}

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        y = x
{"".join(branch.format(i=i) for i in range(branches))}        return y
"""


def of_classes(
    folder: Path, work: Callable[..., object], source: Callable[[int], str] = source
) -> Callable[[int], int]:
    def count(classes: int) -> int:
        file = folder / f"net{classes}.py"
        file.write_text(source(classes))
        settings = Settings(root=folder, jobs=1, cache=False)
        planned = plan([parse(str(file), settings)], settings)
        return calls(lambda: work(planned, settings))

    return count


def test_lint_is_linear_in_classes_and_their_findings(folder: Path) -> None:
    count = of_classes(folder, lint)
    count(1)  # what is imported and cached once
    few, many = count(20), count(80)
    assert many < 4.2 * few


def test_lint_is_all_but_linear_in_the_depth_of_inheritance(folder: Path) -> None:
    """Each class has as many bases as there are before it: they are listed, no more."""
    count = of_classes(folder, lint, derived)
    count(1)
    few, many = count(20), count(80)
    assert many < 5.5 * few


def test_lint_is_linear_in_assignments_behind_conditions(folder: Path) -> None:
    count = of_classes(folder, lint, branching)
    count(1)
    few, many = count(40), count(160)
    assert many < 4.2 * few


def test_fixing_is_linear_in_classes_and_their_findings(folder: Path) -> None:
    count = of_classes(folder, lambda planned, settings: fix(planned, settings, unsafe=True))
    count(1)
    few, many = count(10), count(40)
    assert many < 4.4 * few


def test_a_place_is_found_without_a_look_at_the_rest_of_the_file() -> None:
    looked = {n: len(list(nodes_around(SourceFile("m.py", source(n)), 5))) for n in (2, 200)}
    assert looked[2] == looked[200]


def test_the_functions_around_a_place_are_those_that_ast_knows() -> None:
    text = (
        "@wrap(\n    1)\ndef outer(a=(\n        1)):\n    def inner():\n        return 1\n    return inner\n"
    )
    file = SourceFile("m.py", text)
    names = {line: [f.name for f in functions_around(file, Span(line, 1, line, 2))] for line in range(1, 8)}
    assert names == {
        1: [],
        2: [],
        3: ["outer"],
        4: ["outer"],
        5: ["inner", "outer"],
        6: ["inner", "outer"],
        7: ["outer"],
    }
