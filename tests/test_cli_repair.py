"""``tsguard fix``: what torch refuses is mended on a copy, and torch has the last word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REFUSED = '''\
"""A block."""
import torch
from torch import nn  # layers


class Block(nn.Module):
    def __init__(self, reduced=False):
        super().__init__()
        self.reduced = reduced
        if reduced:
            self.reduce = nn.Linear(8, 8)
        self.act = lambda x: torch.relu(x)

    def forward(self, x):
        if self.reduced:
            x = self.reduce(x)
        return scaled(self.act(x), 2)


def scaled(x, times):
    return x.repeat(1, times)
'''
HOPELESS = """\
from torch import nn


class Called(nn.Module):
    def forward(self, x):
        return [f(x) for f in (lambda y: y + 1, lambda y: y * 2)][0]
"""
DIFFERENT = """\
import torch
from torch import nn


class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, **options):
        return self.fc(x) + len(options)
"""


@pytest.fixture
def fix(tmp_path: Path):
    """Runs the command in a folder of its own."""

    def fix(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tsguard", "fix", "--isolated", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return fix


def test_a_diff_shows_what_torch_takes_and_nothing_is_written(tmp_path, fix):
    (tmp_path / "block.py").write_text(REFUSED)
    done = fix("block.py:Block")
    assert done.returncode == 0, done.stderr
    assert "torch.jit.script takes it after" in done.stderr
    assert '+        if hasattr(self, "reduce") and self.reduced:' in done.stdout
    assert "+def scaled(x, times: int):" in done.stdout
    assert (tmp_path / "block.py").read_text() == REFUSED


def test_the_users_files_are_not_taken_for_those_of_python(tmp_path, fix):
    (tmp_path / "block.py").write_text(REFUSED)
    (tmp_path / "statistics.py").write_text("raise ImportError('the wrong one')\n")
    done = fix("block.py:Block")
    assert done.returncode == 0, done.stderr


def test_what_is_written_scripts_and_a_second_run_changes_nothing(tmp_path, fix):
    path = tmp_path / "block.py"
    path.write_bytes(REFUSED.replace("\n", "\r\n").encode())
    (tmp_path / "beside.py").write_text("x = ( 1 )\n")
    assert fix("block.py:Block(reduced=True)", "--input", "torch.randn(2, 8)", "--write").returncode == 0
    once = path.read_bytes()
    assert b"# layers\r\n" in once
    assert once.count(b"\r\n") == once.count(b"\n")
    assert (tmp_path / "beside.py").read_text() == "x = ( 1 )\n"
    again = fix("block.py:Block(reduced=True)", "--input", "torch.randn(2, 8)", "--write")
    assert again.returncode == 0
    assert "takes it as it is" in again.stderr
    assert path.read_bytes() == once
    script = "import torch, block; torch.jit.script(block.Block(True))"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


@pytest.mark.parametrize("text", [HOPELESS, DIFFERENT], ids=["no-fix", "other-use"])
def test_what_cannot_be_repaired_stays_and_is_told(tmp_path, fix, text):
    (tmp_path / "net.py").write_text(text)
    done = fix("net.py", "--write")
    assert done.returncode == 1
    assert "torch.jit.script refuses it still" in done.stderr
    assert "left to do by hand, in this order" in done.stderr
    assert "  1. net.py:" in done.stderr
    assert "help:" in done.stderr
    assert (tmp_path / "net.py").read_text() == text


VARIADIC = """\
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, mask=None, scale=1):
        x = self.fc(x) * scale
        return x if mask is None else x * mask


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.fn = Scaled()

    def forward(self, x, **options):
        return self.fn(self.norm(x), **options)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.normed = Normed()

    def forward(self, *inputs):
        return self.normed(*inputs, scale=2)
"""


def test_arguments_of_any_number_are_named_by_what_eager_passes(tmp_path, fix):
    (tmp_path / "net.py").write_text(VARIADIC)
    done = fix("net.py:Net()", "--input", "torch.randn(2, 4)", "--write")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "net.py").read_text()
    assert "def forward(self, input):" in text
    assert "return self.normed(input, scale=2)" in text
    assert "def forward(self, x, scale: int):" in text
    assert "return self.fn(self.norm(x), scale=scale)" in text


def test_changes_that_git_does_not_hold_are_not_mixed_with(tmp_path, fix):
    path = tmp_path / "block.py"
    path.write_text(REFUSED)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    refused = fix("block.py:Block", "--write")
    assert refused.returncode == 2
    assert "--allow-dirty" in refused.stderr
    assert path.read_text() == REFUSED
    assert fix("block.py:Block", "--write", "--allow-dirty").returncode == 0
    assert path.read_text() != REFUSED


def test_check_repairs_first_where_it_is_asked_to(tmp_path):
    path = tmp_path / "block.py"
    path.write_text(REFUSED)
    asked = ["check", "--isolated", "--fix", "block.py:Block", "--backend", "script", "--mode", "eval"]
    command = [sys.executable, "-m", "tsguard", *asked, "--time-budget", "0", "--select", "TSG1,TSG9"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "torch.jit.script takes it after" in done.stderr
    assert done.returncode == 0, done.stdout
    assert "def scaled(x, times: int):" in path.read_text()


def test_a_target_that_is_not_there_is_wrong_usage(fix):
    assert fix("nowhere.py").returncode == 2


ANY_WITHIN = """\
from torch import nn


class Inner(nn.Module):
    def forward(self, x, need_square=False):
        if need_square:
            return x, x * x
        return x,


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        y, *_ = self.inner(x)
        return y
"""


def test_what_a_call_gives_is_told_where_it_may_give_several_types(tmp_path, fix):
    (tmp_path / "net.py").write_text(ANY_WITHIN)
    done = fix("net.py:Net", "--input", "torch.randn(2, 3)")
    assert done.returncode == 0, done.stderr
    assert "assert torch.jit.isinstance(out, Tuple[Tensor])" in done.stdout


SPOILED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = lambda x: torch.relu(x)

    def forward(self, pair):
        one, two = pair
        return scaled(self.act(one) + two, 2)


def scaled(x, times):
    return x.repeat(1, times)
"""


def test_types_that_eager_passes_come_before_guesses(tmp_path, fix):
    (tmp_path / "net.py").write_text(SPOILED)
    done = fix("net.py:Net", "--input", "(torch.randn(2, 3), torch.randn(2, 3))")
    assert done.returncode == 0, done.stderr
    assert "+    def forward(self, pair: Tuple[torch.Tensor, torch.Tensor]):" in done.stdout
    assert "unbind" not in done.stdout


def test_what_is_unpacked_is_what_eager_passes(tmp_path, fix):
    text = SPOILED.replace("one, two = pair", "one, two = pair  # of two rows")
    (tmp_path / "net.py").write_text(text)
    done = fix("net.py:Net", "--input", "torch.randn(2, 2, 3)")
    assert done.returncode == 0, done.stderr
    assert "+    def forward(self, pair: torch.Tensor):" in done.stdout
    assert "+        one, two = pair.unbind(0)  # of two rows" in done.stdout


GENERIC = """\
from typing import Sequence, TypeVar

import torch
from torch import nn

T = TypeVar("T", bound=torch.Tensor)


def scaled(x: T, sizes: Sequence[int]) -> T:
    for size in sizes:
        x = x * size
    return x


class Net(nn.Module):
    def forward(self, x):
        return scaled(x, [1, 2])
"""


def test_types_that_torchscript_lacks_are_those_that_eager_passes(tmp_path, fix):
    (tmp_path / "net.py").write_text(GENERIC)
    done = fix("net.py:Net()", "--input", "torch.randn(2, 3)")
    assert done.returncode == 0, done.stderr
    assert "+def scaled(x: torch.Tensor, sizes: List[int]):" in done.stdout


LEFT_OUT = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, steps=0):
        super().__init__()
        self.logged = steps > 0
        self.layers = nn.ModuleList([nn.Linear(3, 3)])

    @property
    def sizes(self):
        return {layer.out_features for layer in self.__dict__.get("layers", ())}

    def forward(self, x):
        if self.logged:
            x = next(iter([x]))
        for layer in self.layers:
            x = layer(x)
        return x
"""


def test_what_need_not_be_compiled_is_left_out(tmp_path, fix):
    (tmp_path / "net.py").write_text(LEFT_OUT)
    done = fix("net.py:Net()", "--input", "torch.randn(2, 3)", "--write")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "net.py").read_text()
    assert "    @torch.jit.unused\n    @property\n    def sizes" in text
    assert "    logged: Final" in text
    script = "import torch, net; torch.jit.script(net.Net()); net.Net().sizes"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_helpers_of_other_files_of_a_package_are_mended_too(tmp_path, fix):
    package = tmp_path / "package"
    (package / "blocks").mkdir(parents=True)
    for folder in (package, package / "blocks"):
        (folder / "__init__.py").write_text("")
    (package / "helpers.py").write_text("# shared\n\n\ndef tiled(x, times):\n    return x.repeat(1, times)\n")
    (package / "blocks" / "net.py").write_text(
        "from torch import nn\n\nfrom ..helpers import tiled\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return tiled(x, 2)\n"
    )
    done = fix("package/blocks/net.py:Net()", "--input", "torch.randn(2, 4)", "--write")
    assert done.returncode == 0, done.stderr
    assert "def tiled(x, times: int):" in (package / "helpers.py").read_text()
    script = "import torch, package.blocks.net as net; torch.jit.script(net.Net())"
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)


def test_a_copy_below_the_working_folder_is_mended_by_one_name(tmp_path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "block.py").write_text(
        "from torch import nn\n\nfrom helpers import tiled\n\n\n"
        "class Block(nn.Module):\n    def forward(self, x):\n        return tiled(x, 2)\n"
    )
    (tmp_path / "project" / "helpers.py").write_text(
        "def tiled(x, times, /):\n    return x.repeat(1, times)\n"
    )
    command = [sys.executable, "-m", "tsguard", "fix", "--isolated", "project/block.py:Block"]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    changed = [line for line in done.stdout.splitlines() if line.startswith(("+", "-"))]
    assert changed == [
        "--- project/helpers.py",
        "+++ project/helpers.py",
        "-def tiled(x, times, /):",
        "+def tiled(x, times: int):",
    ]


INHERITED = """\
import torch
from torch import nn


class Base(nn.Module):
    def forward(self, x) -> torch.Tensor:
        return self.f(x)

    def f(self, x):
        return x


class Pair(Base):
    def f(self, x) -> torch.Tensor:
        return x, x


class Plain(Base):
    def f(self, x) -> torch.Tensor:
        return x
"""


def test_no_target_is_lost_for_another_in_whatever_order(tmp_path, fix):
    (tmp_path / "net.py").write_text(INHERITED)
    done = fix("net.py:Pair", "net.py:Plain", "--input", "torch.ones(2)", "--write")
    assert "net.py:Plain: torch.jit.script takes it as it is" in done.stderr
    assert "net.py:Plain scripts no more" in done.stderr
    assert "def forward(self, x) -> torch.Tensor:" in (tmp_path / "net.py").read_text()
    assert "net.py:Plain: torch.jit.script takes it as it is" in fix("net.py:Plain").stderr


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("broken.py", "error: broken.py is not valid Python"),
        ("empty.py", "error: empty.py has no module to repair"),
        ("loose.py:scaled", "error: loose.py:scaled is a function: only modules are repaired"),
        (".", "error: . is a folder: name the files that are to be repaired"),
        ("loose.py:Gone", "error: loose.py:Gone: loose.py defines no class or function 'Gone'"),
    ],
)
def test_what_holds_nothing_to_repair_is_told(tmp_path, fix, target, says):
    pytest.importorskip("torch", reason="repairs are tried on torch")
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "loose.py").write_text("def scaled(x):\n    return x * 2\n")
    ran = fix(target)
    assert ran.returncode == 2
    assert says in ran.stderr
