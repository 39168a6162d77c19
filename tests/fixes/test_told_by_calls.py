"""What help and fixes say of a parameter holds for all of its calls, and for what is done with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.linting.run import lint
from tsguard.repairing.fixing import fix
from tsguard.report import Finding
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

HEAD = "import torch\nfrom torch import Tensor, nn\n\n\n"
SCALED = """\
def scaled(x: Tensor, scale=1):
    return x * scale


class Net(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return scaled(x, {first}) + scaled(x) + scaled(x, scale={second})
"""
COUNTED = """\
class Net(nn.Module):
    def __init__(self, turns: int = 3):
        super().__init__()
        self.turns = turns

    def forward(self, x: Tensor, turns: int = 0) -> Tensor:
        for _ in range(turns or self.turns):
            x = x + 1
        return x
"""
SUMMED = """\
class Net(nn.Module):
    def forward(self, x):
        parts = []
        for _ in range(3):
            parts.append(x * 2)
        return sum(parts)
"""
SLOPE = """\
class Net(nn.Module):
    def forward(self, x):
        x.requires_grad_(True)
        return torch.autograd.grad([(x * x).sum()], x)[0]
"""
DECAY = """\
class Net(nn.Module):
    def forward(self, x, rate):
        return x * torch.exp(torch.tensor(-rate))
"""


def _findings(folder: Path, text: str) -> list[Finding]:
    path = folder / "net.py"
    path.write_text(HEAD + text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    report, _ = lint(plan([parse(str(path), settings)], settings), settings)
    return [finding for finding in report.findings if finding.family == "script"]


def _fixed(folder: Path, text: str, *, unsafe: bool = False) -> str:
    path = folder / "net.py"
    path.write_text(HEAD + text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    fix(plan([parse(str(path), settings)], settings), settings, unsafe=unsafe)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("first", "second"), [("0.5", "2"), ("2", "-0.5")])
def test_a_parameter_is_one_type_for_all_calls_that_pass_it(tmp_path, first, second):
    text = SCALED.format(first=first, second=second)
    told = [f.help for f in _findings(tmp_path, text) if f.help and "annotate it" in f.help]
    assert told
    assert all("scale: float" in help_ for help_ in told)
    assert "scale: float = 1)" in _fixed(tmp_path, text)


def test_whole_numbers_alone_are_ints(tmp_path):
    assert "scale: int = 1)" in _fixed(tmp_path, SCALED.format(first="2", second="3"))


def test_what_or_gives_is_no_number_to_convert(tmp_path):
    # int(turns or self.turns) would compile, and count to 1.
    findings = [f for f in _findings(tmp_path, COUNTED) if f.code == "TSG124"]
    assert [f.help for f in findings] == ["write a conditional expression: turns if turns else self.turns"]
    assert "int(turns or" not in _fixed(tmp_path, COUNTED)
    mended = COUNTED.replace("turns or self.turns", "turns if turns else self.turns")
    scope: dict = {"__name__": "net"}
    path = tmp_path / "mended.py"
    path.write_text(HEAD + mended, encoding="utf-8")
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    net, x = scope["Net"](), torch.zeros(2)
    torch.testing.assert_close(torch.jit.script(net)(x), net(x))


def test_a_list_that_holds_tensors_is_not_declared_to_hold_numbers(tmp_path):
    assert {f.code for f in _findings(tmp_path, SUMMED)} == {"TSG124"}
    assert "int" not in _fixed(tmp_path, SUMMED)


def test_a_parameter_that_is_used_as_a_tensor_is_not_declared_a_list(tmp_path):
    assert {f.code for f in _findings(tmp_path, SLOPE)} == {"TSG124"}
    assert "List" not in _fixed(tmp_path, SLOPE)


def test_a_number_of_eager_is_made_a_tensor_before_it_is_copied(tmp_path):
    text = _fixed(tmp_path, DECAY, unsafe=True)
    scopes: list[dict] = [{}, {}]
    exec(HEAD + DECAY, scopes[0])
    exec(text, scopes[1])
    x = torch.arange(3.0)
    for rate in (0.5, torch.tensor(0.5)):
        torch.testing.assert_close(scopes[1]["Net"]()(x, rate), scopes[0]["Net"]()(x, rate))


def test_a_dtype_is_no_int_to_who_reads_it(tmp_path):
    text = """\
def grid(n: int, kind=torch.float32):
    return torch.zeros(n, dtype=kind)


class Net(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + grid(3, x.dtype)
"""
    mended = _fixed(tmp_path, text)
    assert "kind: torch.dtype = torch.float32" in mended
    path = tmp_path / "net.py"
    scope: dict = {"__name__": "net"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    net, x = scope["Net"](), torch.ones(3, dtype=torch.float64)
    torch.testing.assert_close(torch.jit.script(net)(x), net(x))
