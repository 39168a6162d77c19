"""Judging a file again after an edit gives what judging it for the first time gives."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.incremental import Judge
from tsguard.incremental import judge as judge_module
from tsguard.inspection.inspecting import inspect
from tsguard.language.tables import RELEASES
from tsguard.project import Project
from tsguard.settings.requests import Job

ROOT = Path(__file__).parent.parent.parent
FILES = [
    *sorted((ROOT / "fixtures").glob("*.py")),
    *(
        ROOT / "tests" / "conformance" / "corpus" / name
        for name in ("modules.py", "overloads.py", "wrappers.py")
    ),
]
NETS = """\
import torch
from torch import nn

RATE = 2


def scaled(x, **more):
    return x * RATE


class One(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return scaled(x)


class Two(nn.Module):
    def forward(self, x: torch.Tensor, mask=None) -> torch.Tensor:
        if mask is not None:
            x = x * mask
        return x
"""


EDITS = [
    ("x = x * mask", "x = x + mask", ["Two"]),
    ("return x * RATE", "return x + RATE", ["One"]),
    ("RATE = 2", "RATE = 3", ["One"]),
    ("\n\nclass Two", "\n\n\n\nclass Two", []),
    ("import torch\n", "import math\nimport torch\n", ["One", "Two"]),
    ("\n\nclass Two", "\n# moved\n\n\nclass Two", []),
    ("class Two", "One.scale = 1\n\n\nclass Two", ["One"]),
]
edits = pytest.mark.parametrize(("old", "new", "expected"), EDITS)


def anew(path: Path, text: str):
    program = Program(Project((path.parent,)), RELEASES[-1])
    return inspect(program, Job(path, str(path), text=text))


def edited(text: str, chance: random.Random, number: int) -> str:
    """A text as a person might leave it between two keys."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines[at]
    indented = re.match(r"\s*", line)[0]
    kind = chance.randrange(5)
    if kind == 0:
        lines.insert(at, "")
    elif kind == 1 and line.strip().startswith("return"):
        lines.insert(at, f"{indented}added_{number} = x.size(0)")
    elif kind == 2 and re.search(r"[A-Za-z_]\w*", line):
        name = chance.choice(re.findall(r"[A-Za-z_]\w*", line))
        lines[at] = re.sub(rf"\b{name}\b", f"{name}_", line)
    elif kind == 3 and not indented and line.startswith(("class ", "def ")):
        lines[at:at] = [f"def added_{number}(x):", "    return x", "", ""]
    else:
        del lines[at]
    return "\n".join(lines)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_edits_one_after_the_other(file):
    chance = random.Random(file.name)
    judge = Judge((file.parent,), True, RELEASES[-1])
    original = text = file.read_text()
    for number in range(12):
        assert judge.inspect(Job(file, str(file), text=text)) == anew(file, text), f"after edit {number}"
        judge.rest()
        text = original if chance.random() < 0.2 else edited(text, chance, number)


@edits
def test_only_what_an_edit_concerns_is_judged(tmp_path, judged, old, new, expected):
    path = tmp_path / "nets.py"
    judge = Judge((tmp_path,), True, RELEASES[-1])
    judge.inspect(Job(path, str(path), text=NETS))
    judged.clear()
    text = NETS.replace(old, new)
    found = judge.inspect(Job(path, str(path), text=text))
    assert judged == expected
    assert found == anew(path, text)


def test_a_text_that_was_judged_is_not_judged_again(tmp_path, judged):
    path = tmp_path / "nets.py"
    judge = Judge((tmp_path,), True, RELEASES[-1])
    first = judge.inspect(Job(path, str(path), text=NETS))
    judged.clear()
    assert judge.inspect(Job(path, str(path), text=NETS)) is first
    assert judged == []


def test_what_rests_on_a_file_that_changes_is_judged_again(tmp_path):
    helper, user = tmp_path / "helper.py", tmp_path / "user.py"
    helper.write_text("def help(x, **more):\n    return x\n")
    text = (
        "from torch import nn\nfrom helper import help\n\n\n"
        "class User(nn.Module):\n    def forward(self, x):\n        return help(x)\n"
    )
    judge = Judge((tmp_path,), True, RELEASES[-1])
    job = Job(user, str(user), text=text)
    assert judge.inspect(job).targets[0].report.script.verdict == "blocked"
    # An edit in between carries the verdict over, and with it what it rests on.
    judge.inspect(Job(user, str(user), text=f"{text}\n"))
    helper.write_text("def help(x):\n    return x\n")
    assert judge.refresh()
    assert judge.inspect(job).targets[0].report.script.verdict == "ok"


def test_a_file_that_appears_is_found(tmp_path):
    user = tmp_path / "user.py"
    text = (
        "from torch import nn\nfrom helper import help\n\n\n"
        "class User(nn.Module):\n    def forward(self, x):\n        return help(x)\n"
    )
    judge = Judge((tmp_path,), True, RELEASES[-1])
    assert judge.inspect(Job(user, str(user), text=text)).targets[0].report.script.verdict == "unknown"
    (tmp_path / "helper.py").write_text("def help(x):\n    return x\n")
    assert judge.refresh([tmp_path / "helper.py"])
    assert judge.inspect(Job(user, str(user), text=text)).targets[0].report.script.verdict == "ok"


def test_it_is_begun_anew_after_much_source(tmp_path, monkeypatch):
    monkeypatch.setattr(judge_module, "_MOST_BYTES", 3 * len(NETS))
    path = tmp_path / "nets.py"
    judge = Judge((tmp_path,), True, RELEASES[-1])
    programs = set()
    for number in range(6):
        text = f"{NETS}# {number}\n"
        assert judge.inspect(Job(path, str(path), text=text)) == anew(path, text)
        programs.add(id(judge.program))
    assert len(programs) > 1
