"""What the help texts advise is tried: each repair is accepted by torch, and eager does as before.

The pages show a repair for every rule; here are those that a help text offers beside it, and code
whose right repair hangs on how a value is used.  Each is the code as found, the words of the help
that say what to do, and the code with that done.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rules.on_torch import TorchProcess
from tests.rules.pages import Example, linted

IMPORTS = """\
from typing import Dict, Final, List, Optional, Tuple, Union

import torch
from torch import Tensor, nn


"""


@dataclass(frozen=True)
class Advice:
    """Code that breaks a rule, the advice, and the code that follows it; ``inputs`` are what both take."""

    code: str
    found: str
    advice: str
    repaired: str
    inputs: str

    def before(self) -> Example:
        return Example(self.code, "bad", 1, self._program(self.found))

    def after(self) -> Example:
        return Example(self.code, "good", 1, self._program(self.repaired))

    def _program(self, text: str) -> str:
        return f"{IMPORTS}{text.strip()}\n\n\ndef example_inputs():\n    return {self.inputs}\n"


ADVICE = {
    "an Optional handed to a callee that may get None": Advice(
        "TSG120",
        """
def masked(x: Tensor, mask: Tensor) -> Tensor:
    return x if mask is None else x * mask


def target(x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
    return masked(x, mask)
""",
        'annotate "mask" as Optional[Tensor] in the def of masked',
        """
def masked(x: Tensor, mask: Optional[Tensor]) -> Tensor:
    return x if mask is None else x * mask


def target(x: Tensor, mask: Optional[Tensor] = None) -> Tensor:
    return masked(x, mask)
""",
        "(torch.ones(2),)",
    ),
    "an Optional handed to a callee that needs it": Advice(
        "TSG120",
        """
def weighted(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight


def target(x: Tensor, weight: Optional[Tensor]) -> Tensor:
    return weighted(x, weight)
""",
        'test it here: "if weight is not None:"',
        """
def weighted(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight


def target(x: Tensor, weight: Optional[Tensor]) -> Tensor:
    if weight is not None:
        x = weighted(x, weight)
    return x
""",
        "(torch.ones(2), torch.ones(2))",
    ),
    "an Optional in an operator": Advice(
        "TSG120",
        """
def target(x: Tensor, shift: Optional[Tensor]) -> Tensor:
    return x + shift
""",
        '"assert shift is not None"',
        """
def target(x: Tensor, shift: Optional[Tensor]) -> Tensor:
    assert shift is not None
    return x + shift
""",
        "(torch.ones(2), torch.ones(2))",
    ),
    "a Tensor of two rows": Advice(
        "TSG101",
        """
def target(x: Tensor, edge_index) -> Tensor:
    source, target = edge_index
    return x[source] + x[target]
""",
        "write edge_index.unbind(0) if it is a Tensor",
        """
def target(x: Tensor, edge_index) -> Tensor:
    source, target = edge_index.unbind(0)
    return x[source] + x[target]
""",
        "(torch.ones(3), torch.tensor([[0, 1], [1, 2]]))",
    ),
    "a pair": Advice(
        "TSG101",
        """
def target(x: Tensor, pair) -> Tensor:
    low, high = pair
    return x.clamp(low, high)
""",
        'else annotate it in the def, such as "pair: Tuple[Tensor, Tensor]"',
        """
def target(x: Tensor, pair: Tuple[Tensor, Tensor]) -> Tensor:
    low, high = pair
    return x.clamp(low, high)
""",
        "(torch.ones(3), (torch.zeros(3), torch.ones(3)))",
    ),
    "a pair or None": Advice(
        "TSG101",
        """
def target(x: Tensor, past=None) -> Tensor:
    if past is not None:
        key, value = past
        x = x + key * value
    return x
""",
        '"past: Optional[Tuple[Tensor, Tensor]] = None"',
        """
def target(x: Tensor, past: Optional[Tuple[Tensor, Tensor]] = None) -> Tensor:
    if past is not None:
        key, value = past
        x = x + key * value
    return x
""",
        "(torch.ones(2), (torch.ones(2), torch.ones(2)))",
    ),
    "a list or None": Advice(
        "TSG101",
        """
def target(x: Tensor, more=None) -> Tensor:
    if more is not None:
        more.append(x)
        x = torch.cat(more)
    return x
""",
        '"more: Optional[List[Tensor]] = None"',
        """
def target(x: Tensor, more: Optional[List[Tensor]] = None) -> Tensor:
    if more is not None:
        more.append(x)
        x = torch.cat(more)
    return x
""",
        "(torch.ones(2), [torch.ones(2)])",
    ),
    "a count or None": Advice(
        "TSG101",
        """
def target(x: Tensor, count=None) -> Tensor:
    if count is not None:
        for i in range(count):
            x = x + i
    return x
""",
        '"count: Optional[int] = None"',
        """
def target(x: Tensor, count: Optional[int] = None) -> Tensor:
    if count is not None:
        for i in range(count):
            x = x + i
    return x
""",
        "(torch.ones(2), 3)",
    ),
    "an int or None that torch reads a Tensor as": Advice(
        "TSG185",
        """
def target(x: Tensor, top_k=None) -> Tensor:
    if top_k is not None:
        x, _ = torch.topk(x, top_k)
    return x
""",
        '"top_k: Optional[int] = None"',
        """
def target(x: Tensor, top_k: Optional[int] = None) -> Tensor:
    if top_k is not None:
        x, _ = torch.topk(x, top_k)
    return x
""",
        "(torch.ones(3), 2)",
    ),
    "a Tensor or None": Advice(
        "TSG185",
        """
def target(x: Tensor, shift=None) -> Tensor:
    if shift is not None:
        x = x + shift
    return x
""",
        '"shift: Optional[Tensor] = None"',
        """
def target(x: Tensor, shift: Optional[Tensor] = None) -> Tensor:
    if shift is not None:
        x = x + shift
    return x
""",
        "(torch.ones(3),)",
    ),
    "a base class asked for": Advice(
        "TSG143",
        """
class Block(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Wide(Block):
    pass


class Target(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Wide()

    def forward(self, x: Tensor) -> Tensor:
        if isinstance(self.block, Block):
            x = 2 * x
        return self.block(x)
""",
        "decide in __init__ and store the result in an attribute that the class body declares Final[bool]",
        """
class Block(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Wide(Block):
    pass


class Target(nn.Module):
    doubles: Final[bool]

    def __init__(self):
        super().__init__()
        self.block = Wide()
        self.doubles = isinstance(self.block, Block)

    def forward(self, x: Tensor) -> Tensor:
        if self.doubles:
            x = 2 * x
        return self.block(x)
""",
        "(torch.ones(3),)",
    ),
    "numbers of Tensors in a list": Advice(
        "TSG109",
        """
def target(x: Tensor) -> Tensor:
    sums = []
    for row in x.unbind(0):
        sums.append(row.sum().item())
    return x * sums[0]
""",
        '"sums: List[float] = []"',
        """
def target(x: Tensor) -> Tensor:
    sums: List[float] = []
    for row in x.unbind(0):
        sums.append(row.sum().item())
    return x * sums[0]
""",
        "(torch.ones(2, 3),)",
    ),
    "the second of two that are true": Advice(
        "TSG186",
        """
def target(x: Tensor, size: int, least: int) -> Tensor:
    return x * (size and least)
""",
        "least if size else size",
        """
def target(x: Tensor, size: int, least: int) -> Tensor:
    return x * (least if size else size)
""",
        "(torch.ones(2), 2, 3)",
    ),
    "a number or a default": Advice(
        "TSG186",
        """
def target(x: Tensor, size: Optional[int] = None) -> Tensor:
    return x * (size or 3)
""",
        "size if size is not None and size != 0 else 3",
        """
def target(x: Tensor, size: Optional[int] = None) -> Tensor:
    return x * (size if size is not None and size != 0 else 3)
""",
        "(torch.ones(2), 2)",
    ),
    "a number minus a Tensor": Advice(
        "TSG187",
        """
def target(x: Tensor, peak: Tensor) -> Tensor:
    return peak.item() - x
""",
        "torch.tensor(peak.item()) - x",
        """
def target(x: Tensor, peak: Tensor) -> Tensor:
    return torch.tensor(peak.item()) - x
""",
        "(torch.ones(2), torch.tensor(2.0))",
    ),
    "the rest before the last": Advice(
        "TSG140",
        """
def target(x: Tensor) -> Tensor:
    *rest, last = x.shape
    return x.reshape(last, rest[0])
""",
        "rest = x.shape[:-1]",
        """
def target(x: Tensor) -> Tensor:
    rest = x.shape[:-1]
    return x.reshape(x.shape[-1], rest[0])
""",
        "(torch.ones(2, 3),)",
    ),
    "a dict among others": Advice(
        "TSG143",
        """
def target(x: Union[Tensor, Dict[str, Tensor]]) -> Tensor:
    if isinstance(x, dict):
        return x["a"]
    else:
        return x
""",
        "torch.jit.isinstance(x, Dict[str, Tensor])",
        """
def target(x: Union[Tensor, Dict[str, Tensor]]) -> Tensor:
    if torch.jit.isinstance(x, Dict[str, Tensor]):
        return x["a"]
    else:
        return x
""",
        '({"a": torch.ones(2)},)',
    ),
}

every = pytest.mark.parametrize(
    "advice", list(ADVICE.values()), ids=[name.replace(" ", "-") for name in ADVICE]
)


@every
def test_the_help_says_so(advice: Advice):
    said = [f.help or "" for f in linted(advice.before()).findings("script") if f.code == advice.code]
    assert any(advice.advice in text for text in said)


@every
def test_nothing_is_found_in_what_follows_it(advice: Advice):
    assert linted(advice.after()).target.script.verdict == "ok"


@every
def test_torch_takes_it_and_it_equals_eager(advice: Advice, tmp_path: Path, torch_process: TorchProcess):
    path = advice.after().write(tmp_path)
    seen = torch_process.observe("script", path, advice.after().target)
    assert seen["error"] is None
    assert list(seen["calls"].values()) == [{"eager": None, "scripted": None, "equal": True}]


@every
def test_eager_does_as_before(advice: Advice, tmp_path: Path, torch_process: TorchProcess):
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text(advice.before().text)
    after.write_text(advice.after().text)
    seen = torch_process.observe("eager", before, f"{after}:{advice.after().target}")
    assert seen == {"calls": 1, "errors": [], "equal": True}
