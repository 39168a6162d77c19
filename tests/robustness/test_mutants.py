"""No source makes the analysis fail or run on: mutated sources, judged as files are."""

from __future__ import annotations

import itertools
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.robustness.mutations import mutants
from tsguard.analysis.python import Program
from tsguard.inspection.inspecting import inspect
from tsguard.project import Project
from tsguard.settings.requests import Job

ROOT = Path(__file__).resolve().parents[2]
# Far more than the largest network of a library takes.
_CPU_SECONDS = 60


def sources() -> list[str]:
    """The fixtures, and the examples of the rule pages."""
    found = [path.read_text() for path in sorted((ROOT / "fixtures").rglob("*.py"))]
    for page in sorted((ROOT / "rules").glob("*.md")):
        blocks = page.read_text().split("```python\n")[1:]
        found += [block.partition("```")[0] for block in blocks]
    return [text for text in found if text.strip() and parses(text)]


def parses(text: str) -> bool:
    try:
        compile(text, "", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


@contextmanager
def limited() -> Iterator[None]:
    """Fail where the CPU time of a call shows that it does not end."""
    if sys.platform == "win32":
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def failures(text: str) -> list[str]:
    """The internal errors that judging a text meets."""
    job = Job(Path("/mutant.py"), "mutant.py", text=text)
    with limited():
        found = inspect(Program(Project(())), job)
    findings = [*found.findings, *(f for target in found.targets for f in target.findings)]
    return [finding.message for finding in findings if finding.code == "TSG004"]


def first_failure(seed: int, count: int) -> tuple[list[str], str] | None:
    for text in itertools.islice(mutants(sources(), seed), count):
        messages = failures(text)
        if messages:
            return messages, text
    return None


def test_a_sample_of_mutants():
    assert first_failure(seed=0, count=150) is None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
def test_many_mutants(seed):
    assert first_failure(seed, count=1000) is None


class TestBoundedTime:
    """Programs whose naive analysis would not end; each must come to a verdict."""

    @pytest.mark.parametrize(
        "body",
        [
            "def __init__(self, n):\n        super().__init__()\n        self.a = Net(n - 1)",
            "def __init__(self, n=3):\n        super().__init__()\n        self.a = Net(n)",
            "def __init__(self, f):\n        super().__init__()\n"
            "        self.a = [fork(f[i]) for i in range(3)]",
            "def __init__(self):\n        super().__init__()\n        self.a = self\n        self.b = [self]",
            "def __init__(self):\n        super().__init__()\n        x = []\n        x.append(x)\n        self.a = x",
            "def __init__(self):\n        super().__init__()\n        self.inner = self",
            "def __init__(self, n):\n        super().__init__()\n        while n:\n            n = fork(n)",
            "a: 'List[Net.a]'\n    def __init__(self):\n        super().__init__()",
            "def forward(self, x):\n        return self.forward(x) + self(x)",
            "def __init__(self):\n        super().__init__()\n        self.inner = self\n\n"
            "    def forward(self, x):\n        return x if x.sum() > 0 else -x",
            "def __init__(self):\n        super().__init__()\n        self.part = Net()\n"
            "        self.part.part = self.part\n\n    def forward(self, x, **kwargs):\n"
            "        return x if x.sum() > 0 else self.part(-x, **kwargs)",
            "def __init__(self):\n        super().__init__()\n        self.part = self\n\n"
            "    def forward(self, x):\n        for part in self.modules():\n            x = x + 1\n        return x",
            "raise RuntimeError('at home')",
        ],
    )
    def test_recursion(self, body):
        text = (
            "import torch\n\n\ndef fork(x):\n    return [fork(x[0]), fork(x[1]), fork(x)]\n\n\n"
            f"class Net(torch.nn.Module):\n    {body}\n"
        )
        if "def forward" not in body:
            text += "\n    def forward(self, x):\n        return x\n"
        assert failures(text) == []

    @pytest.mark.parametrize("depth", [50, 90])  # Python parses no more than 100
    def test_nested_blocks_and_expressions(self, depth):
        loops = "".join(f"{'    ' * (i + 2)}if x.sum() > {i}:\n" for i in range(depth))
        text = (
            "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
            f"{loops}{'    ' * (depth + 2)}x = x + 1\n        y = {'(' * depth}x{')' * depth}\n"
            f"        return {' + '.join(['x'] * 900)}\n"
        )
        assert failures(text) == []

    def test_huge_literals_in_a_model(self):
        text = (
            "import torch\n\nTABLE = [" + "1.5, " * 200_000 + "]\n\n\nclass Net(torch.nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.table = TABLE\n\n"
            "    def forward(self, x):\n        return x * self.table[0]\n"
        )
        assert failures(text) == []
