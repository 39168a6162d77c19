"""Help of the families beside script is done as it says: the code runs, gives what it gave, and the finding is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.linting.run import lint
from tsguard.report import Finding
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

torch = pytest.importorskip("torch")

HEAD = (
    "import numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    "from torch.utils.data import DataLoader\n\n\n"
)
METHOD = """\
class Net(nn.Module):
    @torch.jit.unused
    def clip(self, x):
        if x.max() > 1:
            return x / x.max()
        return x

    def forward(self, x):
        return self.clip(x)


traced = torch.jit.trace(Net(), torch.ones(2))
result = Net()(torch.ones(2) * 4)
"""
FUNCTION = """\
@torch.jit.script_if_tracing
def clip(x):
    if x.max() > 1:
        return x / x.max()
    return x


class Net(nn.Module):
    def forward(self, x):
        return clip(x)


traced = torch.jit.trace(Net(), torch.ones(2))
result = traced(torch.ones(2) * 4)
"""
RAGGED = """\
def collate(batch):
    return torch.cat([torch.tensor(row) for row in batch])


loader = DataLoader([[1, 2], [3]], collate_fn=collate)
result = collate([[1, 2], [3]])
"""
FLAT = RAGGED.replace(
    "torch.cat([torch.tensor(row) for row in batch])",
    "torch.tensor([number for row in batch for number in row])",
)
ITEMS = """\
def collate(batch):
    return [value.item() for value in batch]


loader = DataLoader([torch.tensor(1.0)], collate_fn=collate)
result = collate([torch.tensor(1.0), torch.tensor(2.0)])
"""
SEEDED = """\
def seeded(worker):
    np.random.seed(3)


loader = DataLoader(list(range(4)), num_workers=2, worker_init_fn=seeded)
result = seeded(0)
"""
DROPPED = """\
def dropped(x, rate=0.5{parameter}):
    return F.dropout(x, rate{flag})


class Net(nn.Module):
    def forward(self, x):
        return dropped(x{passed})


torch.manual_seed(0)
result = Net()(torch.ones(8))
"""
# The code as found, the words of the help, and the code with that done.
ADVICE = {
    "TSG409": (METHOD, "move what branches to a function outside of the class", FUNCTION),
    "TSG502": (RAGGED, "torch.tensor(all_numbers_in_one_list)", FLAT),
    "TSG504": (
        ITEMS,
        ".tolist(), of torch.stack(...)",
        ITEMS.replace("[value.item() for value in batch]", "torch.stack(batch).tolist()"),
    ),
    "TSG513": (
        SEEDED,
        "torch.initial_seed() % 2**32",
        SEEDED.replace("seed(3)", "seed(torch.initial_seed() % 2**32)"),
    ),
    "TSG304": (
        DROPPED.format(parameter="", flag="", passed=""),
        "a function outside of the class takes it as an argument",
        DROPPED.format(
            parameter=", training=True", flag=", training=training", passed=", training=self.training"
        ),
    ),
}


def _findings(folder: Path, text: str) -> list[Finding]:
    path = folder / "net.py"
    path.write_text(HEAD + text, encoding="utf-8")
    settings = Settings(root=folder, jobs=1, cache=False)
    report, _ = lint(plan([parse(str(path), settings)], settings), settings)
    return list(report.findings)


def _result(folder: Path, text: str):
    path = folder / "run.py"
    path.write_text(HEAD + text, encoding="utf-8")
    scope: dict = {"__name__": "run"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), scope)
    return scope["result"]


@pytest.mark.parametrize("code", ADVICE)
def test_help_is_true(tmp_path, code):
    found, words, mended = ADVICE[code]
    told = [finding.help or "" for finding in _findings(tmp_path, found) if finding.code == code]
    assert told
    assert all(words in help_ for help_ in told)
    assert code not in {finding.code for finding in _findings(tmp_path, mended)}
    before, after = _result(tmp_path, found), _result(tmp_path, mended)
    assert torch.equal(before, after) if isinstance(before, torch.Tensor) else before == after


def test_a_size_goes_into_a_tensor_without_numpy():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x * torch.full((), x.shape[0]).log() / x.shape[0] ** 0.5

    batch = ({0: torch.export.Dim.DYNAMIC},)
    program = torch.export.export(Net(), (torch.ones(4, 3),), dynamic_shapes=batch).module()
    torch.testing.assert_close(program(torch.ones(7, 3)), Net()(torch.ones(7, 3)))
