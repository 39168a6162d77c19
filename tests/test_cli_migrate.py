"""``tsguard migrate`` on a little project: its table, what is lost, the uses of torch.jit, the order to go in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = """\
import torch
from torch import Tensor, nn
from torch.jit import script as compiled


class Gate(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x * 2
        return x


class Scale(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


@compiled
def doubled(x: Tensor) -> Tensor:
    return x * 2
"""
MODEL = """\
from typing import Optional

import torch
from torch import Tensor, nn

from layers import Gate, Scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.head = Head()
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None, times: int = 2) -> Tensor:
        for _ in range(times):
            x = self.gate(x)
        if mask is not None:
            x = x * mask
        return self.head(self.drop(x))

    @torch.jit.export
    def gated(self, x: Tensor) -> Tensor:
        return self.gate(x)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x: Tensor, flag: bool = True) -> Tensor:
        return self.scale(x) if flag else x


def ship(path):
    torch.jit.save(torch.jit.script(Net().eval()), path)
    torch.jit.script(Net())
    return torch.jit.load(path)
"""


@pytest.fixture
def migrate(tsguard, folder):
    (folder / "layers.py").write_text(LAYERS)
    (folder / "model.py").write_text(MODEL)
    return lambda *arguments: tsguard("migrate", "--isolated", *arguments)


def steps(ran):
    return {step["target"]: step for step in json.loads(ran.out)["migration"]["steps"]}


def test_parts_come_before_what_is_made_of_them(migrate):
    order = list(steps(migrate("--output-format", "json", "model.py", "layers.py")))
    for part, whole in (("layers.py:Gate", "model.py:Net"), ("model.py:Head", "model.py:Net")):
        assert order.index(part) < order.index(whole)
    assert order.index("layers.py:Scale") < order.index("model.py:Head")


def test_each_target_has_its_verdicts_and_parts(migrate):
    found = steps(migrate("--output-format", "json", "."))
    assert found["model.py:Net"]["script"] == "ok"
    assert found["model.py:Net"]["trace"] == "hazardous"
    assert set(found["model.py:Net"]["parts"]) == {"layers.py:Gate", "model.py:Head"}
    assert {"export", "dynamic", "compile"} <= set(found["layers.py:Scale"])


def test_what_is_lost_is_told_of_what_callers_see_only(migrate):
    ran = migrate("--output-format", "json", ".")
    report = json.loads(ran.out)
    lost = {
        (f["code"], f["path"], f["line"])
        for s in steps(ran).values()
        for n in s["lost"]
        for f in [report["findings"][n]]
    }
    assert lost == {
        ("TSG702", "model.py", 24),
        ("TSG703", "model.py", 16),
        ("TSG704", "model.py", 16),
        ("TSG705", "model.py", 9),
    }
    assert ran.status == 1


def test_uses_of_torch_jit_are_found_by_what_names_mean(migrate):
    report = json.loads(migrate("--output-format", "json", ".").out)
    uses = {use["name"]: use for use in report["migration"]["uses"]}
    assert set(uses) == {f"torch.jit.{name}" for name in ("script", "export", "save", "load")}
    places = [report["findings"][n] for n in uses["torch.jit.load"]["findings"]]
    assert [(f["path"], f["line"]) for f in places] == [("model.py", 40)]
    assert "torch.export.load" in uses["torch.jit.load"]["successor"]
    assert "torch.export.save" in uses["torch.jit.save"]["successor"]


def test_a_decorated_function_and_a_module_have_other_successors(migrate):
    report = json.loads(migrate("--output-format", "json", ".").out)
    said = {use["successor"] for use in report["migration"]["uses"] if use["name"] == "torch.jit.script"}
    assert len(said) == 2
    assert any("remove the decorator" in text for text in said)


def test_a_named_target_is_an_entry_of_its_own(migrate):
    found = steps(migrate("--output-format", "json", "model.py", "model.py:Head"))
    report = json.loads(migrate("--output-format", "json", "model.py", "model.py:Head").out)
    assert [report["findings"][n]["code"] for n in found["model.py:Head"]["lost"]] == ["TSG704"]


def test_the_text_tells_the_order_the_reasons_and_the_successors(migrate):
    ran = migrate(".")
    head, *rows = ran.out.splitlines()
    assert head.split() == ["target", "script", "trace", "export", "open", "sizes", "compile"]
    assert rows[0].startswith("1  layers.py:")
    assert "lost" in ran.out
    assert "uses of torch.jit, and their replacements" in ran.out
    assert "4 things lost, 6 uses of torch.jit" in ran.err
    assert all(len(line) <= 100 for line in ran.out.splitlines())


def test_the_page_holds_the_same(migrate, folder):
    ran = migrate("--output-format", "html", "-o", "way.html", ".")
    page = (folder / "way.html").read_text()
    assert ran.out == ""
    assert page.index("layers.py:Gate") < page.index("model.py:Net")
    assert 'id="uses"' in page


def test_other_formats_and_baselines_are_refused(migrate):
    assert migrate("--output-format", "sarif", ".").status == 2
    assert migrate("--update-baseline", "--baseline", "b.json", ".").status == 2


def test_the_exit_status_is_that_of_what_is_in_the_way(migrate):
    assert migrate("layers.py:Scale").status == 0
    assert migrate("--exit-zero", ".").status == 0
    assert migrate("gone.py").status == 2


@pytest.mark.parametrize("format", ["text", "html", "json"])
def test_what_cannot_be_read_is_told_of(migrate, folder, format):
    (folder / "broken.py").write_text("class Net(:\n")
    ran = migrate("--output-format", format, "layers.py:Scale", "broken.py")
    assert ran.status == 1
    assert "this file is not valid Python" in ran.out
    assert "TSG001" in ran.out


def test_rules_can_be_left_out(migrate):
    every, fewer = (
        migrate("--output-format", "json", *options, ".") for options in ((), ("--ignore", "TSG7"))
    )
    assert any(step["lost"] for step in steps(every).values())
    assert not any(step["lost"] for step in steps(fewer).values())
    assert json.loads(every.out)["migration"]["uses"] != []
    assert json.loads(fewer.out)["migration"]["uses"] == []


def test_lint_says_nothing_of_it(tsguard, migrate):
    report = tsguard("lint", "--isolated", "--output-format", "json", ".").report
    assert report["migration"] is None
    assert not [f for f in report["findings"] if f["family"] == "migration"]


def test_neither_torch_nor_the_code_is_imported(migrate, folder: Path):
    (folder / "model.py").write_text(MODEL + "\nraise SystemExit('imported')\n")
    code = (
        "import sys\nfrom tsguard.cli import main\nsys.argv = ['tsguard', 'migrate', '--isolated', '.']\n"
        "try:\n    main()\nfinally:\n    assert 'torch' not in sys.modules\n    print('not imported', file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "not imported" in ran.stderr
    assert ran.returncode == 1, ran.stderr


def test_what_holds_an_open_size_stands_beside_that_column(tsguard, folder):
    (folder / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        return torch.stack([x[i] for i in range(x.shape[0])])\n"
    )
    lines = tsguard("migrate", "net.py").out.splitlines()
    assert next(line.split()[-3:-1] for line in lines if "net.py:Net " in line) == ["specialised", "(1)"]
    assert next(line.split()[:2] for line in lines if "the number of iterations" in line) == ["open", "sizes"]


def test_what_is_random_in_both_modes_loses_none(tsguard, folder):
    (folder / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        return x + torch.rand_like(x)\n"
    )
    assert "TSG705" not in tsguard("migrate", "net.py").out
